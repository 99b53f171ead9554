/** How is it said what a run has spent? Tokens, money, calls, what is not known of them, and what is left. */
import type { RunView } from "../../core/view.ts";
import { harmless, plural, table } from "./words.ts";

type Spent = RunView["spent"];

/** A price that is not known is said so, and never shown as nothing. */
export function spentText(
  spent: Pick<Spent, "tokens" | "microdollars" | "unpriced" | "unaccounted">,
): string {
  const { tokens, microdollars, unpriced, unaccounted } = spent;
  if (tokens === 0 && microdollars === 0 && unpriced === 0 && unaccounted.calls === 0)
    return "what it cost was not reported by the agents";
  const money = microdollars === 0 && unpriced > 0 ? [] : [dollars(microdollars)];
  const unknown = unpriced > 0 ? [`price not known: ${plural(unpriced, "job")}`] : [];
  return [count(tokens, "token"), ...money, ...unknown].join(", ");
}

/** What is below a cent is not nothing. */
function dollars(microdollars: number): string {
  const isTiny = microdollars > 0 && microdollars < 10_000;
  return `$${(microdollars / 1_000_000).toFixed(isTiny ? 4 : 2)}`;
}

const count = (n: number, one: string) => `${n.toLocaleString("en")} ${n === 1 ? one : `${one}s`}`;

/** What nobody can know any more: only that it was no more than this. */
export function unaccountedTexts({ unaccounted }: Pick<Spent, "unaccounted">): readonly string[] {
  const { calls, tokens, microdollars } = unaccounted;
  if (calls === 0) return [];
  const most = [count(tokens, "token"), ...(microdollars > 0 ? [dollars(microdollars)] : [])].join(", ");
  const were = calls === 1 ? "was cut off before it said what it" : "were cut off before they said what they";
  return [
    `unaccounted: ${plural(calls, "call")} ${were} cost; ${most} were set aside, and count against the budget`,
  ];
}

/** Of agents that say what they do. */
export function callTexts({ calls }: RunView["tally"]): readonly string[] {
  if (calls.turns === 0) return [];
  return [
    `${count(calls.calls, "call")} of models: ${count(calls.inputTokens, "token")} in, ` +
      `${calls.outputTokens.toLocaleString("en")} out; ${count(calls.toolCalls, "call")} of tools`,
  ];
}

/** As it is configured for the run as a whole. */
export type Budget = { readonly tokens?: number; readonly dollars?: number };

export function budgetTexts({ spent }: Pick<RunView, "spent">, budget: Budget): readonly string[] {
  const { unaccounted } = spent;
  const parts = [
    ...(budget.tokens === undefined
      ? []
      : [`${left(budget.tokens - spent.tokens - unaccounted.tokens)} of ${count(budget.tokens, "token")}`]),
    ...(budget.dollars === undefined
      ? []
      : [
          `${dollars(Math.max(0, budget.dollars * 1e6 - spent.microdollars - unaccounted.microdollars))} of ` +
            dollars(budget.dollars * 1e6),
        ]),
  ];
  return parts.length === 0 ? [] : [`left of the budget: ${parts.join(", ")}`];
}

const left = (n: number) => Math.max(0, n).toLocaleString("en");

/** A row for each task, the dearest first; what it cost with everything that came to nothing. */
export function costRows({ costs }: RunView["tally"], max: number): readonly string[] {
  const rows = costs
    .slice(0, max)
    .map((cost) => [
      harmless(cost.name, 60),
      count(cost.tokens, "token"),
      [
        cost.microdollars === 0 && cost.unpriced > 0 ? "price not known" : dollars(cost.microdollars),
        ...(cost.unaccounted.calls > 0
          ? [
              `and ${plural(cost.unaccounted.calls, "call")} unaccounted, at most ${count(cost.unaccounted.tokens, "token")}`,
            ]
          : []),
      ].join(", "),
    ]);
  const more = costs.length - rows.length;
  return [...table(rows), ...(more > 0 ? [`and ${plural(more, "task")} more`] : [])];
}
