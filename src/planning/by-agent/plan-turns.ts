/**
 * Asks an agent for a plan, up to three times with the reasons against its last answer. A usable plan that left out
 * parts of the request is sent back once, and kept in case nothing better follows.
 */
import type { Failure } from "../../core/failure.ts";
import type { Spent } from "../../core/job.ts";
import type { Said } from "../../ports/agent.ts";
import type { ExecutionPlan } from "../plan.ts";
import type { JudgedPlan, RefusedPlan } from "./judge-plan.ts";

export const MAX_TURNS = 3;

/** `refused`: the last answer, and what is wrong with it. */
export type PlannerTurn = { readonly number: number; readonly refused?: RefusedPlan };

export type TurnsEnd = { readonly turns: number; readonly spent?: Spent } & (
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly warnings: readonly string[] }
  /** No answer could be used; these are the reasons against the last one. */
  | { readonly is: "refused"; readonly reasons: readonly string[] }
  /** The last turn failed, and another turn would fail too. */
  | { readonly is: "failed"; readonly failure: Failure; readonly reasons: readonly string[] }
);

export async function planInTurns(
  ask: (turn: PlannerTurn) => Promise<Said>,
  judge: (text: string) => JudgedPlan,
  told: (refused: RefusedPlan, number: number) => void,
): Promise<TurnsEnd> {
  let spent: { readonly spent?: Spent } = {};
  let refused: RefusedPlan | undefined;
  let kept: GoodPlan | undefined;
  for (let number = 1; number <= MAX_TURNS; number += 1) {
    const said = await ask({ number, ...(refused && { refused }) });
    spent = together(spent, said);
    const end = { turns: number, ...spent };
    if (said.is === "failed" && isOver(said.failure, number)) {
      if (kept && said.failure.kind !== "cancelled") return taken(kept, end);
      return { is: "failed", failure: said.failure, reasons: refused?.reasons ?? [], ...end };
    }
    const judged = said.is === "failed" ? broken(said.failure) : judge(said.text);
    if (judged.is === "plan" && (!judged.gaps || kept || number === MAX_TURNS)) return taken(judged, end);
    if (judged.is === "plan") kept = judged;
    refused = judged.is === "plan" ? judged.gaps! : judged;
    told(refused, number);
  }
  const end = { turns: MAX_TURNS, ...spent };
  return kept ? taken(kept, end) : { is: "refused", reasons: refused?.reasons ?? [], ...end };
}

type GoodPlan = Extract<JudgedPlan, { readonly is: "plan" }>;

const taken = ({ plan, warnings }: GoodPlan, end: Pick<TurnsEnd, "turns" | "spent">): TurnsEnd => ({
  ...{ is: "plan", plan, warnings },
  ...end,
});

/** A mistake of the agent is worth another turn; a rate limit, a refused key or a broken network is not. */
const isOver = ({ kind }: Failure, turn: number): boolean => kind !== "agent-failed" || turn === MAX_TURNS;

const broken = ({ message }: Failure): RefusedPlan => ({ is: "refused", reasons: [message], json: "" });

type Paid = { readonly spent?: Spent };

/** Adds the costs of two turns. If the price of one is unknown, so is the price of both. */
function together({ spent: a }: Paid, { spent: b }: Paid): Paid {
  if (!a || !b) return { ...((a ?? b) && { spent: (a ?? b)! }) };
  const { turn: _of, unaccounted: cutA, ...first } = a;
  const { turn: _its, unaccounted: cutB, ...second } = b;
  const cut = cutA && cutB ? sum(cutA, cutB, { calls: cutA.calls + cutB.calls }) : (cutA ?? cutB);
  return { spent: sum(first, second, cut ? { unaccounted: cut } : {}) };
}

type Amount = { readonly tokens: number; readonly microdollars?: number };

const sum = <More extends object>(a: Amount, b: Amount, more: More): Amount & More => ({
  tokens: a.tokens + b.tokens,
  ...(a.microdollars === undefined || b.microdollars === undefined
    ? {}
    : { microdollars: a.microdollars + b.microdollars }),
  ...more,
});
