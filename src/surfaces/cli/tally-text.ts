/** How is it said what a run took, and what its setbacks cost? The same for the report and for `skein show`. */
import type { RunView } from "../../core/view.ts";
import { harmless, plural, precise, table } from "./words.ts";

type Tally = RunView["tally"];

/** Whole sentences, which may be broken at blanks. */
export function tookTexts({ agents, gate, red, flaky }: Tally): readonly string[] {
  const { workMs, wallMs, mostAtOnce, share } = agents;
  return [
    ...(mostAtOnce === 0
      ? []
      : [
          `${plural(mostAtOnce, "agent")} at most at once did ${precise(workMs)} of work in ${precise(wallMs)}: ` +
            `${Math.round(share * 100)} % of what ${mostAtOnce} could have done`,
        ]),
    ...(gate.runs === 0 ? [] : [gateText(gate)]),
    ...red.spans.map(redText),
    ...(flaky.tests.length === 0
      ? []
      : [
          `flaky: ${harmless(flaky.tests.join(", "))}; it took ${gateRuns(flaky.gateRuns, flaky.gateMs)}, ` +
            "and nobody was refused for it",
        ]),
  ];
}

function gateText({ runs, ms, landings, tasks, largestBatch, perTask }: Tally["gate"]): string {
  const all = gateRuns(runs, ms);
  if (tasks === 0) return `${all}, and nothing landed`;
  const batches = `${plural(landings, "batch", "batches")} of at most ${largestBatch}`;
  return `${all} for ${plural(tasks, "task")} that landed in ${batches}: ${perTask.toFixed(1)} a task`;
}

function redText({ ms, isOver, failures, by }: Tally["red"]["spans"][number]): string {
  const some = failures.slice(0, MAX_FAILURES).join(", ");
  const more = failures.length > MAX_FAILURES ? ` and ${failures.length - MAX_FAILURES} more` : "";
  const end = !isOver
    ? "and still is"
    : by.length > 0
      ? `until ${by.map(({ name }) => name).join(" + ")} landed`
      : "until it was green again by itself";
  return harmless(`the target was red for ${precise(ms)}, ${end}: ${some}${more}`);
}

const MAX_FAILURES = 3;

const gateRuns = (runs: number, ms: number) => `${plural(runs, "gate run")} (${precise(ms)})`;

/** A row for each reason, the dearest first; times of the gate are of runs that would not have been needed. */
export function lossRows({ losses }: Tally): readonly string[] {
  const rows = losses
    .toSorted((a, b) => b.workMs + b.gateMs - (a.workMs + a.gateMs))
    .map(({ reason, count, workMs, gateRuns: runs, gateMs, tokens, microdollars }) => [
      reason,
      plural(count, "time"),
      `${precise(workMs)} of work`,
      [
        ...(runs > 0 ? [gateRuns(runs, gateMs)] : []),
        ...(tokens > 0 ? [`${tokens.toLocaleString("en")} tokens`] : []),
        ...(microdollars > 0 ? [`$${(microdollars / 1_000_000).toFixed(2)}`] : []),
      ].join(", "),
    ]);
  return table(rows);
}
