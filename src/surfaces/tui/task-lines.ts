/** Writes the pages of one task as lines of plain text. */
import { taskOf } from "../../core/log/state.ts";
import type { TaskId } from "../../core/task.ts";
import type { JobSpan } from "../../core/view/job-spans.ts";
import {
  onLabel,
  openJobLabel,
  proofLabel,
  type RunWord,
  spentLabel,
  stateLabel,
} from "../../core/view/labels.ts";
import { placeOf } from "../../core/view/rows.ts";
import { changeOf, failedAttemptsOf, jobsOf, landingOf, scopeLabel } from "../../core/view/task-facts.ts";
import { gatingIn, type LandingView, rowOf, type Seen } from "../../core/view/view.ts";
import { clockTime, duration, harmless, harmlessLines, plural, short } from "../../text/words.ts";

export const PAGES = ["Overview", "Transcript", "Diff", "Handoff", "Evidence", "Gate"] as const;
export type TaskPage = (typeof PAGES)[number];

type LookedAt = { readonly seen: Seen; readonly word: RunWord };

/** The task's brief and its progress. */
export function overview({ seen, word: run }: LookedAt, id: TaskId): readonly string[] {
  const { state } = seen;
  const { spec, state: now, used } = taskOf(state, id);
  const row = rowOf(state, id, { depth: 0, gating: gatingIn(state) });
  const fact = (name: string, text: string) => (text === "" ? [] : [`${name}: ${harmless(text)}`]);
  return [
    `${stateLabel(row, run)} · ${spentLabel(used)}`,
    ...(now.is === "failed" ? fact("failed", now.failure.message) : []),
    ...(now.is === "cancelled" ? fact("cancelled", now.reason) : []),
    ...failedLines(seen, id),
    ...harmlessLines(spec.description.trimEnd()),
    ...fact("accepted if", spec.acceptance),
    ...fact("may change", scopeLabel(spec)),
    ...fact("after", spec.after.map((other) => taskOf(state, other).spec.key).join(", ")),
    ...fact("specialist", spec.agent ?? ""),
  ];
}

/** What its worker reported, or the summary of its parts. */
export function handoffLines({ state }: Seen, id: TaskId): readonly string[] {
  const { state: now, past } = taskOf(state, id);
  const handoff = ("handoff" in now ? now.handoff : undefined) ?? past.at(-1)?.handoff;
  if (!handoff) return ["Nothing was handed off yet."];
  const listed = (name: string, texts: readonly string[]) =>
    texts.map((text) => `${name}: ${harmless(text)}`);
  return [
    `Handed off: ${handoff.status}`,
    ...harmlessLines(handoff.summary.trimEnd()),
    ...listed("concern", handoff.concerns),
    ...listed("suggestion", handoff.suggestions),
  ];
}

/** The facts from the repository and the log, whatever the worker reports. */
export function evidenceLines({ seen, word: run }: LookedAt, id: TaskId): readonly string[] {
  const task = taskOf(seen.state, id);
  const change = changeOf(task);
  const handoff = "handoff" in task.state ? task.state.handoff : undefined;
  const landed = landingOf(seen, id);
  return [
    ...(change ? [`commit ${short(change.to)} on ${short(change.from)}`] : ["No commit yet."]),
    ...(handoff
      ? [
          `${plural(handoff.filesChanged.length, "file")} changed, +${handoff.metrics.linesAdded} −${handoff.metrics.linesRemoved} lines`,
          ...handoff.filesChanged.map((file) => `  ${harmless(file)}`),
          ...(handoff.flags ?? []).map(
            (text) => `changes the gate or agents' instructions: ${harmless(text)}`,
          ),
        ]
      : []),
    ...(landed ? [landedLine(landed)] : []),
    ...jobsOf(seen, id).map((job) =>
      jobLine(job, openJobLabel(run, placeOf(seen.state, seen.state.running.get(job.job)))),
    ),
    ...failedLines(seen, id),
  ];
}

const landedLine = (landing: LandingView): string =>
  `landed at ${clockTime(landing.at)} as ${short(landing.commit)}: ${proofLabel(landing)}${landing.flaky.length > 0 ? `, ${plural(landing.flaky.length, "flaky test")}` : ""}`;

const failedLines = (seen: Seen, id: TaskId): readonly string[] =>
  failedAttemptsOf(seen, id).map(
    ({ of, attempt, failure }) =>
      `${of === "plan" ? "its planner" : `attempt ${attempt}`} failed: ${harmless(failure.message)}`,
  );

const jobLine = ({ kind, number, machine, from, to, how, spent }: JobSpan, now: string): string =>
  `${kind === "plan" ? "planner, turn" : "worker, attempt"} ${number}${harmless(onLabel(machine))}: ` +
  (to === undefined
    ? now
    : `${how} after ${duration(to - from)}${spent?.tokens ? `, ${spent.tokens.toLocaleString("en")} tokens` : ""}`);
