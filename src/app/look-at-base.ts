/** Looks at the base before anything is paid for: runs the gate unless it passed before, and describes failures. */
import type { Config } from "../config/schema.ts";
import { type BaseLook, baseLookOf } from "../core/base-look.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { Parts } from "./parts.ts";
import { type GateTried, tryGate } from "./try-gate.ts";

export type BaseLooked = GateTried & {
  /** Undefined if the gate passes, or there is none. */
  readonly look?: BaseLook;
};

type LookRequest = {
  readonly config: Config;
  /** The commit of the base. */
  readonly commit: string;
  /** As in a run: a gate that passed on this tree before is not run again. */
  readonly mayReuse?: boolean;
  /** Called with each step that begins, in words. */
  readonly onStep?: (doing: string) => void;
};

/** Makes a run's first check without a run; writes only what the next check may reuse. */
export async function lookAtBase(
  request: LookRequest,
  parts: Pick<Parts, "newRunName" | "openTrialHome" | "openWorld">,
  signal: AbortSignal,
): Promise<BaseLooked | Failed> {
  const tried = await tryGate(request, parts, signal);
  if (hasFailed(tried)) return tried;
  const { output: _, ...run } = tried.run; // The file was in the trial's own folder, which is gone.
  const look = baseLookOf(run);
  return { ...tried, run, ...(look && { look }) };
}
