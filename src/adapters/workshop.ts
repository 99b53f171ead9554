/** Opens the workspaces, programs and gate of a run, sandboxed, with changes of the user's checkout watched. */
import path from "node:path";
import type { JobId } from "../core/job.ts";
import type { Failed } from "../core/result.ts";
import type { Clock } from "../ports/clock.ts";
import type { GateSetting } from "../ports/gate.ts";
import type { ProgramLimits } from "../ports/programs.ts";
import type { Environment, Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Transcripts } from "../ports/transcripts.ts";
import type { Agrees } from "../ports/trust.ts";
import { GitCheckout, sharedLooks } from "./checkouts.ts";
import { timedGate } from "./gates/gate-times.ts";
import { rememberingGate } from "./gates/gated-trees.ts";
import { provedGatesIn } from "./gates/proved-gates.ts";
import { repositoryGate } from "./gates/repository-gate.ts";
import { gateRules } from "./gates/rules.ts";
import { Shelf } from "./git/shelf.ts";
import { LocalPrograms } from "./programs/local.ts";
import { conflictsOf } from "./repositories/conflicts.ts";
import { heldBy } from "./repositories/names.ts";
import { repositoryPrograms } from "./sandboxes/repository-programs.ts";
import type { Sandbox } from "./sandboxes/sandbox.ts";
import { CloneWorkspaces } from "./workspaces/clones.ts";

type WorkshopSettings = {
  readonly branchPrefix: string;
  readonly network: boolean;
  readonly gate: GateSetting;
  readonly gateSandbox: "auto" | "off";
  readonly gateWorkspace: "reuse" | "fresh";
  readonly workspace: {
    readonly setup?: string | undefined;
    readonly setupTimeout: number;
    readonly copy: readonly string[];
    readonly share: readonly string[];
    readonly pass: readonly string[];
    readonly filters: readonly string[];
    readonly maxFile: number;
    readonly sparse: boolean;
  };
};

type WorkshopParts = {
  readonly project: Pick<Project, "located" | "stateFolder">;
  readonly home: Pick<RunHome, "record" | "folder">;
  readonly env: Environment;
  readonly clock: Clock;
  readonly limits: ProgramLimits;
  readonly sandbox: () => Promise<Sandbox | Failed>;
  readonly transcripts: Transcripts;
  readonly redact: (text: string) => string;
  /** Called if the user's checkout differs from before a command of this job. */
  readonly checkoutChanged: (job: JobId, places: readonly string[]) => void;
  readonly maxGates: number;
  readonly plansAreFull: boolean;
  /** What decides, besides the tree, which programs and packages a gate's commands find. */
  readonly surroundings: string;
  /** Decides whether the user agreed to what files of the checkout ask for. */
  readonly agrees: Agrees;
  /** Other commands that the repository names. */
  readonly alsoRun: readonly string[];
};

export function openWorkshop(settings: WorkshopSettings, parts: WorkshopParts) {
  const { project, home, sandbox, transcripts, redact, limits } = parts;
  const { top, gitDir } = project.located;
  const { run } = home.record;
  const at = (name: string) => path.join(home.folder, name);
  const own = settings.branchPrefix || `${run}/`;
  const checkout = sharedLooks(new GitCheckout({ folder: top, own }));
  const programs = new LocalPrograms({ folder: at("programs") });
  const watched = { programs, checkout, tell: parts.checkoutChanged, sandbox };
  const { gateSandbox, network } = settings;
  const confined = repositoryPrograms({ ...watched, gateSandbox, network });
  const shelf = new Shelf(path.join(gitDir, "objects"), at("shelf"));
  const { setup, setupTimeout, copy, share, pass, filters, maxFile, sparse } = settings.workspace;
  const workspaces = new CloneWorkspaces({
    ...{ repository: top, folder: home.folder, programs, environment: parts.env, shelf },
    ...{ ...(setup !== undefined && { setup }), copy, share, pass, filters, maxFileBytes: maxFile },
    agrees: parts.agrees,
    setupPrograms: confined.setup,
    limits: { ...limits, maxMs: setupTimeout },
    holds: heldBy(run),
    plansAreFull: parts.plansAreFull,
    isSparse: sparse,
  });
  const rules = gateRules(settings.gate, top);
  const looking = repositoryGate({
    ...{ run: confined, repository: top, workspaces, transcripts, redact, limits, network },
    ...{ rules, conflicts: conflictsOf(gitDir) },
    ...{ maxAtOnce: parts.maxGates, proved: provedGatesIn(project.stateFolder) },
    ...{ surroundings: parts.surroundings, alsoRun: parts.alsoRun },
    isAlwaysFresh: settings.gateWorkspace === "fresh",
  });
  const now = () => parts.clock.wall();
  const remembering = rememberingGate(timedGate(looking, at("gates"), now), {
    ...{ repository: top, stateFolder: project.stateFolder, rules, now },
    surroundings: JSON.stringify([parts.surroundings, gateSandbox, network]),
  });
  const gate = { ...remembering, close: looking.close };
  return { checkout, programs, plain: confined.plain, shelf, workspaces, gate };
}
