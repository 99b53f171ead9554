/** Type of the options with which a run's jobs are opened, on the machine that runs them. */
import type { JobId } from "../core/job.ts";
import type { Clock } from "../ports/clock.ts";
import type { Gate } from "../ports/gate.ts";
import type { Governor } from "../ports/governor.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import type { SharedTarget } from "../ports/shared-target.ts";
import type { Signs } from "../ports/signs.ts";
import type { WorldOptions } from "./parts.ts";

export type JobsOptions = WorldOptions & {
  readonly project: Pick<Project, "located" | "stateFolder">;
  readonly env: Environment;
  /** The variables whose values are removed as secrets: `env`, unless jobs do not get all of it. */
  readonly secretsIn?: Environment;
  readonly home: Pick<RunHome, "record" | "folder">;
  readonly governor: Governor;
  readonly signs: Signs;
  /** The user's checkout differs from what it was before a command of this job. */
  readonly checkoutChanged: (job: JobId, places: readonly string[]) => void;
  /** The folder with the repository's specialists, templates and prompts: the user's checkout. */
  readonly top: string;
  readonly clock: Clock;
  /** In a fleet: the target on the remote, which moves first. */
  readonly shared?: SharedTarget;
  /** In a fleet: the gate that runs on its machines. */
  readonly gateOf?: (own: Gate) => Gate;
};
