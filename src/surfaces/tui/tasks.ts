/** Shows the tasks on the screen: what each worker is doing now, and the tree. */
import { Box, Text } from "ink";
import { createElement as h, type ReactNode, useEffect, useState } from "react";
import { type RunState, taskOf } from "../../core/log/state.ts";
import { isSettled, ROOT } from "../../core/task.ts";
import type { TreeNode } from "../../core/view/folded-tree.ts";
import { atWorkLabel, type RunWord, runningIn } from "../../core/view/labels.ts";
import { gatingIn, rowOf, type TaskRow } from "../../core/view/rows.ts";
import type { RunningView, Seen, Standing } from "../../core/view/standing.ts";
import { stateAndWhy } from "../../core/view/task-facts.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { duration, firstLine, harmless } from "../../text/words.ts";
import { fit, padded } from "../cli/columns.ts";
import { runningText } from "../cli/render/running.ts";
import { type Followed, followTranscript } from "./follow.ts";
import { line } from "./line.ts";

type Place = { readonly home: RunHome; readonly files: RunFiles };

/** Running planners and workers; the gate has lines of its own. */
export const atWorkIn = (view: Standing, run: RunWord): readonly RunningView[] =>
  runningIn(view, run).filter(({ kind }) => kind === "plan" || kind === "work");

type AtWorkProps = Place & { readonly followed: Followed; readonly run: RunWord; readonly max: number };

/** For a finished run, shows what was not done instead. */
export function AtWork({ followed, run, max, ...place }: AtWorkProps): ReactNode {
  const { view, undone } = followed;
  const jobs = atWorkIn(view, run).toSorted((a, b) => Number(a.isUntaken ?? 0) - Number(b.isUntaken ?? 0));
  const isOver = view.times.closedAt !== undefined;
  const count = isOver ? undone.length : jobs.length;
  if (count === 0) return null;
  const more = count > max ? `, ${max} of them shown` : "";
  const title = isOver ? `Not done (${count})` : atWorkLabel(jobs);
  return h(
    Box,
    { flexDirection: "column" },
    line(title + more, { bold: true }),
    ...(isOver
      ? undone
          .slice(0, max)
          .map((text, i) => line(`✗ ${firstLine(text, 300)}`, { key: `${i}`, color: "red" }))
      : jobs.slice(0, max).map((job) => h(Job, { key: job.job, job, view, ...place }))),
  );
}

function Job({ job, view, files, home }: Place & { job: RunningView; view: Standing }): ReactNode {
  const [last, setLast] = useState("");
  useEffect(
    () => followTranscript({ files, home, job: job.job }, (lines) => setLast(lines.at(-1) ?? "")),
    [files, home, job.job],
  );
  const since = job.isUntaken ? "" : duration(Math.max(0, Date.now() - job.since));
  return h(
    Text,
    { wrap: "truncate" },
    h(Text, { color: "cyan" }, job.isUntaken ? "○ " : "● "),
    `${since.padStart(10)}  ${firstLine(runningText(job, view.target), 100)}  `,
    h(Text, { dimColor: true }, last.trim()),
  );
}

const MARKS: Readonly<Partial<Record<TaskRow["word"], readonly [string, string]>>> = {
  done: ["✓", "green"],
  failed: ["✗", "red"],
  skipped: ["–", "red"],
  cancelled: ["–", "red"],
  working: ["●", "cyan"],
  planning: ["●", "cyan"],
  gating: ["◆", "cyan"],
  landing: ["◇", "cyan"],
  asking: ["?", "yellow"],
  proposed: ["?", "yellow"],
};

/** In a fleet: no machine has taken the job yet. */
const UNTAKEN = ["○", "cyan"] as const;

type RowsProps = {
  readonly seen: Seen;
  readonly run: RunWord;
  readonly tree: readonly TreeNode[];
  /** Undefined before the person has chosen a task: the list then follows the work. */
  readonly at: number | undefined;
  readonly lines: number;
  readonly columns: number;
};

/** Renders only visible rows. */
export function TaskRows({ seen, run, tree, at, lines, columns }: RowsProps): ReactNode {
  const { state } = seen;
  const shown = Math.max(1, lines);
  const middle = at ?? firstUnsettled(state, tree);
  const first = Math.max(0, Math.min(middle - Math.floor(shown / 2), tree.length - shown));
  const gating = gatingIn(state);
  const longest = tree.reduce((most, { task, depth }) => {
    const { key } = taskOf(state, task).spec;
    return Math.max(most, indent(depth).length + 2 + Math.min(MAX_NAME, key.length));
  }, MIN_NAME_COLUMNS);
  const nameColumns = Math.min(longest, Math.floor(columns / 2));
  return h(
    Box,
    { flexDirection: "column" },
    ...tree.slice(first, first + shown).map((node, i) => {
      const row = rowOf(state, node.task, { depth: node.depth, gating });
      const [mark, color] = row.isUntaken ? UNTAKEN : (MARKS[row.word] ?? ["·", "gray"]);
      const fold = node.below.tasks === 0 ? " " : node.isFolded ? "▸" : "▾";
      const name = `${indent(node.depth)}${fold} ${harmless(row.key, MAX_NAME)}`;
      return h(
        Text,
        { key: row.task, wrap: "truncate", inverse: first + i === at },
        h(Text, { color }, `${mark} `),
        `${padded(fit(name, nameColumns), nameColumns)} ${harmless(stateAndWhy(seen, row, run), 200)}${belowText(node, run)}  `,
        h(Text, { dimColor: true }, firstLine(row.description, 200)),
      );
    }),
  );
}

const MAX_NAME = 40;
const MIN_NAME_COLUMNS = 16;
const indent = (depth: number): string => "  ".repeat(Math.min(depth, 6));

type Wanted = { readonly filter: string; readonly isHidingDone: boolean };

/** The tasks with the filter's words in their name, description or state, and the goal; done tasks may be hidden. */
export function shownNodes(
  state: RunState,
  tree: readonly TreeNode[],
  { filter, isHidingDone }: Wanted,
): readonly TreeNode[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && !isHidingDone) return tree;
  const gating = gatingIn(state);
  return tree.filter(({ task, depth, below }) => {
    const row = rowOf(state, task, { depth, gating });
    if (words.length === 0) return task === ROOT || row.word !== "done" || below.done < below.tasks;
    const text = `${row.name} ${row.word} ${row.description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Skips the goal, because it is settled last. */
export const firstUnsettled = (state: RunState, tree: readonly TreeNode[]): number =>
  Math.max(
    0,
    tree.findIndex(({ task }) => task !== ROOT && !isSettled(taskOf(state, task))),
  );

function belowText({ isFolded, below: { tasks, done, failed, atWork } }: TreeNode, run: RunWord): string {
  if (!isFolded) return "";
  const parts = [
    `${done} of ${tasks} done`,
    ...(atWork > 0 ? [`${atWork} ${run === "stopped" ? "interrupted" : "at work"}`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return ` (${parts.join(", ")})`;
}
