/** Words the costs of a run: tokens, money, calls, gate runs, failed attempts. */

import { dollars, priceLabel } from "../../../core/view/labels.ts";
import { lossLabel } from "../../../core/view/tally.ts";
import type { RunView } from "../../../core/view/view.ts";
import { harmless, plural, precise } from "../../../text/words.ts";

type Spent = RunView["spent"];

const count = (n: number, one: string) => `${n.toLocaleString("en")} ${n === 1 ? one : `${one}s`}`;

/** Calls that were cut off: only an upper limit of their cost is known. */
export function unaccountedTexts({ unaccounted }: Pick<Spent, "unaccounted">): readonly string[] {
  const { calls, tokens, microdollars } = unaccounted;
  if (calls === 0) return [];
  const most = [count(tokens, "token"), ...(microdollars > 0 ? [dollars(microdollars)] : [])].join(", ");
  return [
    `unaccounted: ${plural(calls, "call")} cut off before reporting usage; at most ${most}, counted against the budget`,
  ];
}

export function callTexts({ calls }: RunView["tally"]): readonly string[] {
  if (calls.turns === 0) return [];
  return [
    `${count(calls.calls, "model call")}: ${count(calls.inputTokens, "token")} in, ` +
      `${calls.outputTokens.toLocaleString("en")} out; ${count(calls.toolCalls, "tool call")}`,
  ];
}

/** One row per task, the most expensive first, including failed attempts. */
export function costRows({ costs }: RunView["tally"], max: number): readonly (readonly string[])[] {
  const rows = costs
    .slice(0, max)
    .map((cost) => [
      harmless(cost.name, 60),
      count(cost.tokens, "token"),
      [
        priceLabel(cost),
        ...(cost.unaccounted.calls > 0
          ? [
              `and ${plural(cost.unaccounted.calls, "call")} unaccounted, at most ${count(cost.unaccounted.tokens, "token")}`,
            ]
          : []),
      ].join(", "),
    ]);
  const more = costs.length - rows.length;
  return [...rows, ...(more > 0 ? [[`and ${plural(more, "more task", "more tasks")}`]] : [])];
}

type Tally = RunView["tally"];

/** Whole sentences, which may be wrapped at blanks. */
export function tookTexts({ agents, prepareMs, gate, red, flaky }: Tally): readonly string[] {
  const { mostAtOnce, share } = agents;
  return [
    ...(mostAtOnce === 0 ? [] : [`${plural(mostAtOnce, "agent")}, ${Math.round(share * 100)} % busy`]),
    ...(prepareMs === 0 ? [] : [`copying and set-up of workspaces: ${precise(prepareMs)} in all`]),
    ...(gate.runs === 0 ? [] : [gateText(gate)]),
    ...redTexts({ red }),
    ...(flaky.tests.length === 0
      ? []
      : [
          `flaky: ${harmless(flaky.tests.join(", "))}; cost ${gateRuns(flaky.gateRuns, flaky.gateMs)}; no task was refused for it`,
        ]),
  ];
}

function gateText({ runs, ms, landings, tasks, largestBatch, perTask }: Tally["gate"]): string {
  const all = gateRuns(runs, ms);
  if (tasks === 0) return `${all}; nothing landed`;
  const batches = `${plural(landings, "batch", "batches")} of up to ${plural(largestBatch, "task")}`;
  return `${all}: ${plural(tasks, "task")} landed in ${batches}, ${perTask.toFixed(1)} gate runs per task`;
}

export const redTexts = ({ red }: Pick<Tally, "red">): readonly string[] => red.spans.map(redText);

function redText({ ms, isOver, failures, by }: Tally["red"]["spans"][number]): string {
  const some = failures.slice(0, MAX_FAILURES).join(", ");
  const more = failures.length > MAX_FAILURES ? ` and ${failures.length - MAX_FAILURES} more` : "";
  const end = !isOver
    ? "and still fails"
    : by.length > 0
      ? `until ${by.map(({ name }) => name).join(" + ")} landed`
      : "until it passed again without a fix";
  return harmless(`the gate failed on the target for ${precise(ms)}, ${end}: ${some}${more}`);
}

const MAX_FAILURES = 3;

const gateRuns = (runs: number, ms: number) => `${plural(runs, "gate run")} (${precise(ms)})`;

/** One row per reason, the most expensive first; gate runs are those that would not have been needed. */
export const lossRows = ({ losses }: Tally): readonly (readonly string[])[] =>
  losses
    .toSorted((a, b) => b.workMs + b.gateMs - (a.workMs + a.gateMs))
    .map(({ reason, count, workMs, gateRuns: runs, gateMs, tokens, microdollars }) => [
      lossLabel(reason),
      plural(count, "time"),
      `${precise(workMs)} of work`,
      [
        ...(runs > 0 ? [gateRuns(runs, gateMs)] : []),
        ...(tokens > 0 ? [`${tokens.toLocaleString("en")} tokens`] : []),
        ...(microdollars > 0 ? [`$${(microdollars / 1_000_000).toFixed(2)}`] : []),
      ].join(", "),
    ]);
