/** Looks at the base before anything is paid for: the gate once, or that it passed before, and in words what fails. */
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
  /** The base. */
  readonly commit: string;
  /** As a run does: a gate that passed on this tree before is not run again. */
  readonly mayReuse?: boolean;
  /** Hears what is begun, in words. */
  readonly onStep?: (doing: string) => void;
};

/** What a run looks at first, without a run: nothing is written but what the next look may reuse. */
export async function lookAtBase(
  request: LookRequest,
  parts: Pick<Parts, "newRunName" | "openTrialHome" | "openWorld">,
  signal: AbortSignal,
): Promise<BaseLooked | Failed> {
  const tried = await tryGate(request, parts, signal);
  if (hasFailed(tried)) return tried;
  const { output: _, ...run } = tried.run; // It was in the trial's own folder, which is gone.
  const look = baseLookOf(run);
  return { ...tried, run, ...(look && { look }) };
}
