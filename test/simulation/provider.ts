/** Simulates model accounts: when they have a shortage, and what a turn costs. */
import type { PlanBrief, WorkBrief } from "../../src/core/brief.ts";
import { type Failure, failure } from "../../src/core/failure.ts";
import type { Job, Spent } from "../../src/core/job.ts";
import type { Accounts } from "../../src/core/rules/policy.ts";

export type Provider = {
  readonly shortages: readonly Shortage[];
  chainOf(brief: PlanBrief | WorkBrief): Accounts;
  /** Whether the job waits for the end of a shortage, as an agent does that asks before each call; other jobs end. */
  waits(job: Job): boolean;
  cost(job: Job): Spent;
  /** The cost of a job that was lost with its engine, if the job left a record of it. */
  cut(job: Job): Spent | undefined;
  /** When a job of this length falls silent, if it does. */
  quietAfter(job: Job, ms: number): number | undefined;
};

/** The span in which an account refuses calls; `says`: its refusals tell until when. */
export type Shortage = {
  readonly account: string;
  readonly from: number;
  readonly until: number;
  readonly kind: "quota" | "authentication";
  readonly says: boolean;
  /** The refusals tell how long the shortage lasts, not when it ends. */
  readonly asLength?: true;
};

export const freeProvider: Provider = {
  shortages: [],
  chainOf: () => ["agent"],
  waits: () => false,
  cost: ({ kind }) => ({ tokens: kind === "plan" || kind === "work" ? 1_000 : 0 }),
  cut: () => undefined,
  quietAfter: () => undefined,
};

/** The refusals that a job reports on its way, and when and how it ends: by itself, or with the last refusal. */
type Course = {
  readonly heard: readonly { readonly at: number; readonly account: string; readonly failure: Failure }[];
  readonly end: number;
  readonly failure?: Failure;
};

/** A job makes its first call at once, and further calls until its end. */
export function courseOf(
  shortages: readonly Shortage[],
  chain: Accounts,
  { now, ms, waits }: { readonly now: number; readonly ms: number; readonly waits: boolean },
): Course {
  const heard: { at: number; account: string; failure: Failure }[] = [];
  let [at, left] = [now, ms];
  for (let turns = 0; turns < MAX_TURNS; turns += 1) {
    const account = chain.find((name) => !shortAt(shortages, name, at)) ?? chain[0];
    const next = nextShortage(shortages, account, at);
    if (!next || next.from >= at + left) break;
    const met = Math.max(at, next.from);
    left -= met - at;
    at = met;
    const why = troubleOf(next, at);
    if (!waits || next.kind === "authentication" || !next.says)
      return { heard, end: at + ANSWER_MS, failure: why };
    heard.push({ at, account, failure: why });
    const here = at;
    const others = chain.map((name) => shortAt(shortages, name, here)?.until ?? here);
    at = Math.min(...others); // At once, if another account has no shortage.
  }
  return { heard, end: at + left };
}

/** A guard against endless loops: one run has fewer shortages. */
const MAX_TURNS = 100;

/** A refusal comes soon after its call. */
const ANSWER_MS = 500;

const shortAt = (shortages: readonly Shortage[], account: string, at: number): Shortage | undefined =>
  shortages.find((one) => one.account === account && one.from <= at && at < one.until);

function nextShortage(shortages: readonly Shortage[], account: string, at: number): Shortage | undefined {
  const ahead = shortages.filter((one) => one.account === account && one.until > at);
  return ahead.reduce<Shortage | undefined>(
    (first, one) => (first && first.from <= one.from ? first : one),
    undefined,
  );
}

const troubleOf = ({ kind, account, until, says, asLength }: Shortage, at: number): Failure => ({
  ...failure(kind, kind === "quota" ? "no more for now" : "the key is wrong"),
  account,
  ...(kind === "quota" && says && (asLength ? { waitMs: until - at } : { until })),
});
