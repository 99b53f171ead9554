/** What are the jobs of one run opened with, on the machine that does them? */
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
  /** Whose secrets are blotted out: `env`, unless jobs do not get all of it. */
  readonly secretsIn?: Environment;
  readonly home: Pick<RunHome, "record" | "folder">;
  readonly governor: Governor;
  readonly signs: Signs;
  /** The user's checkout is not as it was before a command of this job. */
  readonly checkoutChanged: (job: JobId, places: readonly string[]) => void;
  /** Where the roles, templates and prompts of the repository are: the user's checkout. */
  readonly top: string;
  readonly clock: Clock;
  /** Of a fleet: the target moves there first. */
  readonly shared?: SharedTarget;
  /** Of a fleet: who runs the gate. */
  readonly gateOf?: (own: Gate) => Gate;
};
