/** Shows one task on the whole screen in pages: brief, live transcript, diff, handoff, evidence and gate output. */
import { Box } from "ink";
import { createElement as h, type ReactNode, useEffect, useState } from "react";
import { messageOf } from "../../core/failure.ts";
import { nameOf, taskOf } from "../../core/log/state.ts";
import type { TaskId } from "../../core/task.ts";
import { changeOf, failedAttemptsOf, jobsOf } from "../../core/view/task-facts.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { harmless, harmlessLines } from "../../text/words.ts";
import { type Followed, followTranscript } from "./follow.ts";
import { GateView, useAttemptDiff } from "./gate-view.ts";
import { line } from "./line.ts";
import { evidenceLines, handoffLines, overview, PAGES, type TaskPage } from "./task-lines.ts";

type TaskProps = {
  readonly followed: Followed;
  readonly home: RunHome;
  readonly files: RunFiles;
  readonly task: TaskId;
  readonly page: TaskPage;
  /** Lines above the end of a transcript; on other pages, lines below the start. */
  readonly scrolled: number;
  /** On the gate page: how many gate runs before the newest; on the diff page: how many failed attempts. */
  readonly back: number;
  readonly isWhole: boolean;
  readonly lines: number;
};

export function TaskView(props: TaskProps): ReactNode {
  const { followed, task: id, page, scrolled } = props;
  const { seen } = followed;
  const job = jobsOf(seen, id).at(-1)?.job;
  const transcript = useTranscript(props, page === "Overview" || page === "Transcript" ? job : undefined);
  const failed = failedWorkOf(followed, id);
  const tried = page === "Diff" ? failed[failed.length - props.back] : undefined;
  const newest = useDiff(props);
  const attempt = useAttemptDiff(props, id, tried?.attempt);
  const diff = tried
    ? [`attempt ${tried.attempt} failed: ${harmless(tried.failure.message, 200)}`, ...attempt]
    : newest;
  if (!seen.state.tasks.has(id)) return line("There is no such task.");
  const tabs = PAGES.map((name, i) => (name === page ? `[${i + 1} ${name}]` : ` ${i + 1} ${name} `)).join(
    " ",
  );
  const room = Math.max(1, props.lines - 2);
  if (page === "Gate")
    return h(
      Box,
      { flexDirection: "column" },
      ...heading(followed, id, tabs),
      h(GateView, { ...props, lines: room }),
    );
  const said = transcript.length > 0 ? transcript : ["Nothing was written yet."];
  const about = overview(followed, id);
  const texts: Readonly<Record<TaskPage, () => readonly string[]>> = {
    Overview: () => {
      const top = [...window(about, scrolled, room - 3), `── ${job ?? "not started"} ──`];
      return [...top, ...said.slice(top.length - room)];
    },
    Transcript: () => window(said, Math.max(0, said.length - room - scrolled), room),
    Diff: () => window(diff, scrolled, room),
    Handoff: () => window(handoffLines(seen, id), scrolled, room),
    Evidence: () => window(evidenceLines(followed, id), scrolled, room),
    Gate: () => [], // The gate has a view of its own.
  };
  return h(
    Box,
    { flexDirection: "column" },
    ...heading(followed, id, page === "Diff" && failed.length > 0 ? `${tabs}  [ failed attempts ]` : tabs),
    ...texts[page]().map((text, i) => line(text, { key: `${i}`, ...(page === "Diff" && diffStyle(text)) })),
  );
}

const heading = ({ seen }: Followed, id: TaskId, tabs: string): readonly ReactNode[] => [
  line(`${harmless(nameOf(seen.state, id), 100)}  ${id}`, { key: "name", bold: true }),
  line(tabs, { key: "tabs", dimColor: true }),
];

/** Failed attempts of its workers, the newest last. */
const failedWorkOf = ({ seen }: Followed, id: TaskId) =>
  seen.state.tasks.has(id) ? failedAttemptsOf(seen, id).filter(({ attempt }) => attempt !== undefined) : [];

/** A page of lines from `first`, or from further up, so that the page is filled to the end. */
const window = (all: readonly string[], first: number, room: number): readonly string[] => {
  const from = Math.max(0, Math.min(first, all.length - room));
  return all.slice(from, from + Math.max(1, room));
};

function diffStyle(text: string): { readonly color?: string; readonly bold?: boolean } {
  if (/^(?:diff |index |\+\+\+|---)/.test(text)) return { bold: true };
  const color = text.startsWith("@@") ? "cyan" : text.startsWith("+") ? "green" : "red";
  return /^[-+]|^@@/.test(text) ? { color } : {};
}

function useTranscript(
  { files, home }: TaskProps,
  job: Parameters<typeof followTranscript>[0]["job"] | undefined,
) {
  const [lines, setLines] = useState<readonly string[]>([]);
  useEffect(() => {
    setLines([]);
    return job === undefined ? undefined : followTranscript({ files, home, job }, setLines);
  }, [files, home, job]);
  return lines;
}

/** The diff is requested once its page is open. */
function useDiff({ followed, files, task, page }: TaskProps): readonly string[] {
  const [lines, setLines] = useState<readonly string[]>(["…"]);
  const { tasks } = followed.seen.state;
  const change = page === "Diff" && tasks.has(task) ? changeOf(taskOf(followed.seen.state, task)) : undefined;
  const { from, to } = change ?? {};
  useEffect(() => {
    if (from === undefined || to === undefined) return setLines(["Nothing was changed yet."]);
    const stop = new AbortController();
    const show = (shown: readonly string[]) => !stop.signal.aborted && setLines(shown);
    files.diff(from, to, stop.signal).then(
      (read) =>
        show(
          "diff" in read ? harmlessLines(read.diff.trimEnd(), MAX_LINES) : [harmless(read.failure.message)],
        ),
      (error: unknown) => show([harmless(messageOf(error))]),
    );
    return () => stop.abort();
  }, [files, from, to]);
  return lines;
}
const MAX_LINES = 5_000;
