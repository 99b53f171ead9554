/** Reads from a fleet job's rows in Postgres how it ended, and what it used. */
import type { Spent } from "../../core/job.ts";
import type { JobOffer, JobResult } from "../../ports/fleet-jobs.ts";
import { fields } from "../../text/json.ts";
import { readResult } from "./job-result.ts";

/**
 * `tries`: how often it was begun before. `lost`: what machines used that lost it; `used`: what all machines used
 * that had it.
 */
export type JobEnding = { readonly tries: number; readonly lost?: Spent; readonly used?: Spent } & (
  | Answered
  /** `begun`: a machine had it, and may still report its cost. */
  | { readonly is: "cancelled"; readonly begun: boolean }
  /** No machine finished it. */
  | { readonly is: "given-up" }
  /** A worker returned something that is not a valid answer. */
  | { readonly is: "unusable" }
);

/** `offered`: the offer as the coordinator wrote it. */
type Answered = { readonly is: "answered"; readonly result: JobResult; readonly offered: JobOffer };

export type JobRow = {
  readonly id: string;
  readonly name: string;
  readonly state: "created" | "retry" | "active" | "completed" | "cancelled" | "failed";
  readonly output: unknown;
  readonly begun: boolean;
  readonly tries: number;
  /** The following fields are null if the log has had the end of the job already. */
  readonly offer: string | null;
  readonly permit: string | null;
  readonly worker: string | null;
  readonly agoMs: number | null;
  readonly lost: UsedBy | null;
  readonly used: UsedBy | null;
};

/** Includes the calls whose cost was not reported. */
type UsedBy = Readonly<
  Record<"tokens" | "microdollars" | "cutCalls" | "cutTokens" | "cutMicrodollars", number>
>;

/** Undefined while the job has not ended. */
export function endingOf({ state, output, tries, offer, begun, lost, used }: JobRow): JobEnding | undefined {
  const sure = { tries, ...(lost && { lost: spentOf(lost) }), ...(used && { used: spentOf(used) }) };
  if (state === "cancelled") return { ...sure, is: "cancelled", begun };
  if (state === "failed") return { ...sure, is: "given-up" };
  if (state !== "completed") return undefined;
  const result = readResult(fields(output)["result"]);
  return result && offer !== null
    ? { ...sure, is: "answered", result, offered: JSON.parse(offer) as JobOffer }
    : { ...sure, is: "unusable" };
}

/** If Postgres has counted no money, the amount is unknown and left out. */
function spentOf({ tokens, microdollars, cutCalls, cutTokens, cutMicrodollars }: UsedBy): Spent {
  const priced = (amount: number) => (microdollars === 0 ? {} : { microdollars: amount });
  return {
    tokens: tokens - cutTokens,
    ...priced(microdollars - cutMicrodollars),
    ...(cutCalls > 0 && { unaccounted: { calls: cutCalls, tokens: cutTokens, ...priced(cutMicrodollars) } }),
  };
}
