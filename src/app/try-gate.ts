/** Runs the gate once on a commit, in a fresh workspace, and probes whether it looks at the tree at all. */
import type { Config } from "../config/schema.ts";
import { failure, messageOf } from "../core/failure.ts";
import { isGreen, type Probed } from "../core/gate.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import { NOBODY } from "../ports/agent.ts";
import type { Gate, GateRun } from "../ports/gate.ts";
import { giveBackAll } from "./leftovers.ts";
import type { Parts } from "./parts.ts";

export type GateTried = {
  readonly run: GateRun;
  readonly tookMs: number;
  /** Only for a green gate. */
  readonly probed?: Probed;
};

type Hearing = Pick<TryGateRequest, "onStep">;

type TryGateRequest = {
  readonly config: Config;
  readonly commit: string;
  /** A gate that passed on this tree before is not run again. */
  readonly mayReuse?: boolean;
  /** Called with each step that begins, in words: set-up and gate may take many minutes. */
  readonly onStep?: (doing: string) => void;
};

/** Uses a temporary home beside the runs; no run is made. */
export async function tryGate(
  { config, commit, mayReuse = false, onStep = () => {} }: TryGateRequest,
  { newRunName, openTrialHome, openWorld }: Pick<Parts, "newRunName" | "openTrialHome" | "openWorld">,
  signal: AbortSignal,
): Promise<GateTried | Failed> {
  try {
    const record = { run: newRunName(), goal: "", base: commit, createdAt: Date.now(), settings: {} };
    const trial = await openTrialHome(record);
    if (hasFailed(trial)) return trial;
    await using stack = new AsyncDisposableStack();
    stack.use(trial);
    const world = openWorld(trial.home, { config, agents: { worker: NOBODY, planner: "none" } });
    stack.defer(() => world.close());
    stack.defer(async () => void (await giveBackAll(world)));
    stack.defer(() => world.settle());
    const asked = { commit, onStep, ...(mayReuse && { mayReuse }) };
    return await runAndProbe(world.jobs.gate, asked, signal);
  } catch (error) {
    return { failure: failure("repository", `the gate could not be tried: ${messageOf(error)}`) };
  }
}

async function runAndProbe(
  gate: Gate,
  { onStep, ...asked }: { readonly commit: string; readonly mayReuse?: true } & Required<Hearing>,
  signal: AbortSignal,
): Promise<GateTried | Failed> {
  const tree = { job: "doctor" as JobId, ...asked, rules: asked.commit, isBase: true } as const;
  const start = performance.now();
  const heard = {
    onStep: (doing: string | undefined) => doing !== undefined && onStep(doing),
    onCommand: (name: string) => onStep(`running ${name}`),
  };
  const run = await gate.run({ ...tree, ...heard }, signal);
  if (hasFailed(run)) return run;
  const tookMs = performance.now() - start;
  if (run.setup || !isGreen(run.report)) return { run, tookMs };
  onStep("running it without your sources, to see whether it fails then");
  const probed = await gate.probe(tree, run.report, signal);
  return hasFailed(probed) ? probed : { run, tookMs, probed };
}
