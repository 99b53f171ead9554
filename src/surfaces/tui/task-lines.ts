/** What is there to read about one task? Lines of plain text for each of its pages. */
import { taskOf } from "../../core/log/state.ts";
import type { Task, TaskId } from "../../core/task.ts";
import { openJobLabel, proofLabel, type RunWord, spentLabel, taskLabel } from "../../core/view/labels.ts";
import type { JobSpan } from "../../core/view/story.ts";
import { gatingIn, rowOf, type Seen } from "../../core/view/view.ts";
import { clockTime, duration, harmless, harmlessLines, plural, short } from "../../text/words.ts";

export const PAGES = ["Overview", "Transcript", "Diff", "Handoff", "Evidence"] as const;
export type TaskPage = (typeof PAGES)[number];

/** The jobs that worked on it, or planned it, in the order of their starts. */
export const jobsOf = ({ story }: Seen, id: TaskId): readonly JobSpan[] =>
  story.spans.filter(({ kind, tasks }) => (kind === "work" || kind === "plan") && tasks[0] === id);

/** What the diff of a task is between; undefined before its worker has handed anything off. */
export function changeOf({ base, state }: Task): { readonly from: string; readonly to: string } | undefined {
  const to = "handoff" in state ? state.handoff?.commit : undefined;
  return to === undefined || base === "" ? undefined : { from: base, to };
}

/** Its brief, and how far it is. */
export function overview({ state }: Seen, id: TaskId, run: RunWord): readonly string[] {
  const { spec, state: now, past, used } = taskOf(state, id);
  const { word, attempts } = rowOf(state, id, { depth: 0, gating: gatingIn(state) });
  const fact = (name: string, text: string) => (text === "" ? [] : [`${name}: ${harmless(text)}`]);
  return [
    `${taskLabel(word, run)}${attempts > 1 ? `, attempt ${attempts}` : ""} · ${spentLabel(used)}`,
    ...(now.is === "failed" ? fact("failed", now.failure.message) : []),
    ...(now.is === "cancelled" ? fact("cancelled", now.reason) : []),
    ...past.flatMap(({ attempt, failure }) => fact(`attempt ${attempt} failed`, failure.message)),
    ...harmlessLines(spec.description.trimEnd()),
    ...fact("accepted if", spec.acceptance),
    ...fact("may change", spec.terms?.loose ? "any file" : spec.scope.join(", ") || "any file"),
    ...fact("after", spec.after.map((other) => taskOf(state, other).spec.key).join(", ")),
    ...fact("specialist", spec.agent ?? ""),
  ];
}

/** What its worker, or its parts together, reported. */
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

/** What the repository and the log show, whatever the worker says. */
export function evidenceLines(seen: Seen, id: TaskId, run: RunWord): readonly string[] {
  const { state, story } = seen;
  const task = taskOf(state, id);
  const change = changeOf(task);
  const handoff = "handoff" in task.state ? task.state.handoff : undefined;
  const landed = story.landings.filter(({ members }) => members.some((member) => member.task === id));
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
    ...landed.map(
      ({ at, commit, proof, flaky }) =>
        `landed at ${clockTime(at)} as ${short(commit)}: ${proofLabel(proof)}${flaky.length > 0 ? `, ${plural(flaky.length, "flaky test")}` : ""}`,
    ),
    ...jobsOf(seen, id).map((job) => jobLine(job, run)),
    ...task.past.map(({ attempt, failure }) => `attempt ${attempt} failed: ${harmless(failure.message)}`),
  ];
}

const jobLine = ({ kind, number, from, to, how, tokens }: JobSpan, run: RunWord): string =>
  `${kind === "plan" ? "planner, turn" : "worker, attempt"} ${number}: ` +
  (to === undefined
    ? openJobLabel(run)
    : `${how} after ${duration(to - from)}, ${tokens.toLocaleString("en")} tokens`);
