/** One run on the whole terminal: how it stands, what needs a person, its tasks, and one task in full. */
import { Box, Text, useApp, useInput, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { JobId } from "../../core/job.ts";
import { taskOf } from "../../core/log/state.ts";
import type { TaskId } from "../../core/task.ts";
import { healthLabel, phaseLabel, runLabel } from "../../core/view/labels.ts";
import { type RunView, rowsOf, type TaskRow, viewOf } from "../../core/view/view.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { duration, firstLine, harmless, harmlessLines, plural } from "../cli/words.ts";
import { type Followed, followTranscript } from "./follow.ts";

type ScreenParts = {
  readonly followed: Followed;
  readonly home: RunHome;
  readonly files: RunFiles;
  /** Sends a command to the run; resolves with what to show. */
  readonly say: (command: MailboxMessage) => Promise<string>;
  /** What leaving means: the run goes on elsewhere, or stops with this process. */
  readonly leaveNote: string;
  readonly suspend: () => void;
};

type Prompt = {
  readonly label: string;
  readonly text: string;
  readonly send: (text: string) => MailboxMessage;
};

export function Screen(parts: ScreenParts): ReactNode {
  const { followed, say } = parts;
  useSyncExternalStore(followed.subscribe, followed.version);
  useTick();
  const { columns, rows: height } = useWindowSize();
  const { exit } = useApp();
  // Keys may come faster than pictures: where they have led is known at once, what is drawn follows.
  const place = useRef(0);
  const [, setPlace] = useState(0);
  const [open, setOpen] = useState<TaskId | undefined>();
  const [prompt, setPrompt] = useState<Prompt | undefined>();
  const [note, setNote] = useState("");
  const view = viewOf(followed.seen);
  const rows = rowsOf(followed.seen.state);
  const at = Math.min(place.current, Math.max(0, rows.length - 1));
  const current = open ?? rows[at]?.task;
  const send = (command: MailboxMessage) => {
    setNote("…");
    void say(command).then(setNote);
  };
  useInput((input, key) => {
    if (key.ctrl && input === "z") return parts.suspend();
    if (prompt) return typed(prompt, input, key, { setPrompt, send });
    if (input === "q" || (key.ctrl && input === "c")) return exit();
    if (key.escape || key.leftArrow) return setOpen(undefined);
    if (key.return || key.rightArrow) return setOpen(rows[place.current]?.task);
    const page = Math.max(1, height - 10);
    const step = key.upArrow ? -1 : key.downArrow ? 1 : key.pageUp ? -page : key.pageDown ? page : 0;
    if (step !== 0) {
      place.current = Math.max(0, Math.min(rows.length - 1, place.current + step));
      setPlace(place.current);
      if (open) setOpen(rows[place.current]?.task);
      return;
    }
    const ask = askFor(input, view, current);
    if (ask === undefined) return;
    if ("label" in ask) setPrompt(ask);
    else send(ask);
  });
  if (followed.seen.story.events === 0) return line(followed.problem ?? "Reading the log…");
  const body = open
    ? h(TaskView, { key: open, ...parts, task: open, lines: height - 7 })
    : h(TaskRows, { rows, view, at, lines: height - 7 - needsOf(view).length, columns });
  return h(
    Box,
    { flexDirection: "column", width: columns, height },
    h(Head, { view, followed, columns }),
    ...needsOf(view).map((text, i) => line(text, { key: `need ${i}`, color: "yellow", bold: true })),
    h(Box, { flexDirection: "column", flexGrow: 1, overflow: "hidden" }, body),
    h(Landing, { view, followed }),
    prompt
      ? line(`${prompt.label}: ${harmless(prompt.text)}▏  (Enter sends, Esc leaves)`, { bold: true })
      : line(note === "" ? parts.leaveNote : harmless(note), { dimColor: true }),
    line(keysFor(view, open !== undefined), { dimColor: true }),
  );
}

/** Elapsed times go on although no event comes. */
function useTick(): void {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
}

type LineStyle = { key?: string; color?: string; bold?: boolean; dimColor?: boolean; inverse?: boolean };
const line = (text: string, style: LineStyle = {}) =>
  h(Text, { wrap: "truncate", ...style }, text === "" ? " " : text);

function Head({
  view,
  followed,
  columns,
}: {
  view: RunView;
  followed: Followed;
  columns: number;
}): ReactNode {
  const { counts, spent, times, tally } = view;
  const isOver = times.closedAt !== undefined;
  const end = times.closedAt ?? (followed.isDriven ? Date.now() : times.lastAt);
  const money = spent.microdollars > 0 ? `  $${(spent.microdollars / 1_000_000).toFixed(2)}` : "";
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : "";
  const colour = view.is === "done" ? "green" : isOver ? "red" : "cyan";
  return h(
    Box,
    { flexDirection: "column", width: columns },
    line(firstLine(view.goal, 300), { bold: true }),
    h(
      Text,
      { wrap: "truncate" },
      h(Text, { color: colour, bold: true }, runLabel(view, followed.isDriven)),
      `  ${duration(end - times.openedAt - times.idleMs)}  ${counts.done} of ${plural(counts.total, "task")} done${failed}` +
        `  ${spent.tokens} tokens${money}  ${tally.agents.mostAtOnce} at once, ${Math.round(tally.agents.share * 100)} % busy`,
    ),
    line(
      `target ${healthLabel(view)}${followed.problem ? `; the log cannot be read on: ${harmless(followed.problem)}` : ""}`,
      {
        ...(view.target.health === "red" && { color: "red" }),
      },
    ),
  );
}

/** What only a person can do, first and loud. */
function needsOf(view: RunView): readonly string[] {
  if (view.times.closedAt !== undefined) return [];
  return [
    ...(view.is === "proposed"
      ? ["NEEDS YOU: the plan waits for your approval (a approves, x declines)"]
      : []),
    ...view.gateChanges
      .filter(({ is }) => is === "proposed")
      .map(
        ({ name, flags }) =>
          `NEEDS YOU: ${harmless(name)} changes the gate or agents' instructions: ${harmless(flags.join("; "))} (a, x)`,
      ),
    ...view.questions
      .filter((question) => question.with === undefined)
      .map(({ name, text }) => `NEEDS YOU: ${harmless(name)} asks: ${firstLine(text, 200)} (r answers)`),
    ...view.accounts
      .filter(({ is }) => is === "refused")
      .map(
        ({ account, reason }) =>
          `NEEDS YOU: the key of ${harmless(account)} was refused: ${harmless(reason)} (then u)`,
      ),
    ...(view.setup ? [`NEEDS YOU: ${harmless(view.setup.message)} (then u)`] : []),
  ].slice(0, 4);
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

type RowsProps = { rows: readonly TaskRow[]; view: RunView; at: number; lines: number; columns: number };

function TaskRows({ rows, view, at, lines, columns }: RowsProps): ReactNode {
  const shown = Math.max(1, lines);
  const first = Math.max(0, Math.min(at - Math.floor(shown / 2), rows.length - shown));
  const doing = new Map(view.running.flatMap((job) => job.tasks.map(({ task }) => [task, job] as const)));
  return h(
    Box,
    { flexDirection: "column" },
    ...rows.slice(first, first + shown).map((row, i) => {
      const [mark, color] = MARKS[row.word] ?? ["·", "gray"];
      const job = doing.get(row.task);
      const now = job
        ? `${duration(Date.now() - job.since)}${job.doing ? ` in ${firstLine(job.doing, 60)}` : job.quietMs ? `, quiet for ${duration(job.quietMs)}` : ""}`
        : "";
      const again = row.attempts > 1 ? `, attempt ${row.attempts}` : "";
      const name = `${"  ".repeat(Math.min(row.depth, 6))}${harmless(row.key, 40)}`;
      return h(
        Text,
        { key: row.task, wrap: "truncate", inverse: first + i === at },
        h(Text, { color }, `${mark} `),
        `${name.padEnd(Math.min(44, Math.floor(columns / 2)))} ${row.word}${again}  ${now}`,
        h(Text, { dimColor: true }, ` ${firstLine(row.description, 80)}`),
      );
    }),
  );
}

function Landing({ view, followed }: { view: RunView; followed: Followed }): ReactNode {
  const gate = view.running.find(({ kind }) => kind === "land" || kind === "check");
  const phase = phaseLabel(followed.seen.state.landing.phase);
  const running = gate
    ? `${gate.kind === "land" ? `gate on ${gate.tasks.map(({ name }) => harmless(name, 30)).join(" + ")}` : "checking the target"} for ${duration(Date.now() - gate.since)}`
    : "";
  const queue =
    view.queue.length > 0 ? `queue: ${view.queue.map(({ name }) => harmless(name, 30)).join(", ")}` : "";
  const text = [`${plural(view.landings.length, "landing")}`, phase, running, queue]
    .filter(Boolean)
    .join("  ·  ");
  return line(text, { color: "blue" });
}

type TaskProps = ScreenParts & { task: TaskId; lines: number };

function TaskView({ followed, home, files, task: id, lines }: TaskProps): ReactNode {
  const [transcript, setTranscript] = useState("");
  const { state, story } = followed.seen;
  const job = story.spans.findLast(
    ({ kind, tasks }) => (kind === "work" || kind === "plan") && tasks[0] === id,
  )?.job;
  useEffect(() => {
    setTranscript("");
    return job === undefined
      ? undefined
      : followTranscript({ files, home, job: job as JobId }, setTranscript);
  }, [files, home, job]);
  if (!state.tasks.has(id)) return line("There is no such task.");
  const { spec, state: now, past, used } = taskOf(state, id);
  const handoff = "handoff" in now ? now.handoff : undefined;
  const text = [
    `${spec.key}  ${id}`,
    ...harmlessLines(spec.description, 8),
    `may change: ${spec.scope.join(", ") || "any file"}    cost: ${used.tokens} tokens`,
    ...past.map(({ attempt, failure }) => `attempt ${attempt} failed: ${firstLine(failure.message, 200)}`),
    ...(now.is === "failed" ? [`failed: ${firstLine(now.failure.message, 200)}`] : []),
    ...(handoff
      ? [
          `handed off (${handoff.status}): ${firstLine(handoff.summary, 300)}`,
          ...harmlessLines(handoff.diff, 12),
        ]
      : []),
  ].slice(0, Math.max(4, Math.floor(lines * 0.6)));
  const room = Math.max(1, lines - text.length - 1);
  const said = harmlessLines(transcript.trimEnd(), Number.MAX_SAFE_INTEGER).slice(-room);
  return h(
    Box,
    { flexDirection: "column" },
    ...text.map((one, i) => line(harmless(one), { key: `t${i}`, ...(i === 0 && { bold: true }) })),
    line(job ? `── ${job} ──` : "── not started ──", { key: "rule", dimColor: true }),
    ...said.map((one, i) => line(one, { key: `s${i}` })),
  );
}

type Typing = {
  readonly setPrompt: (prompt: Prompt | undefined) => void;
  readonly send: (said: MailboxMessage) => void;
};
type Key = Parameters<Parameters<typeof useInput>[0]>[1];

function typed(prompt: Prompt, input: string, key: Key, { setPrompt, send }: Typing): void {
  if (key.escape || key.return) {
    setPrompt(undefined);
    if (key.return && prompt.text.trim() !== "") send(prompt.send(prompt.text.trim()));
  } else if (key.backspace || key.delete) setPrompt({ ...prompt, text: prompt.text.slice(0, -1) });
  else if (!key.ctrl && !key.meta && input !== "") setPrompt({ ...prompt, text: prompt.text + input });
}

/** What a key asks for: a command, or a text first. */
function askFor(input: string, view: RunView, task: TaskId | undefined): MailboxMessage | Prompt | undefined {
  if (view.times.closedAt !== undefined) return undefined;
  const proposed = view.gateChanges.find(({ is }) => is === "proposed");
  const which = view.is === "proposed" || !proposed ? {} : { task: proposed.task };
  const question = view.questions.find((one) => one.with === undefined);
  switch (input) {
    case "p":
      return { type: "pause" };
    case "u":
      return { type: "resume" };
    case "s":
      return { label: "Tell the planner", text: "", send: (message) => ({ type: "steer", message }) };
    case "a":
      return { type: "approve", ...which };
    case "x":
      return {
        label: "Reason to decline",
        text: "",
        send: (reason) => ({ type: "decline", reason, ...which }),
      };
    case "r":
      return (
        question && {
          label: `Answer to ${question.name}`,
          text: question.default ?? "",
          send: (text) => ({ type: "answer", question: question.question, text }),
        }
      );
    case "c":
      return task === undefined
        ? undefined
        : {
            label: `Reason to cancel ${task === "t" ? "the whole run" : task}`,
            text: "",
            send: (reason) => ({ type: "cancel", task, reason }),
          };
    default:
      return undefined;
  }
}

/** Those that do something now. */
function keysFor(view: RunView, isOpen: boolean): string {
  const isAsked = view.questions.some((question) => question.with === undefined);
  const isProposed = view.is === "proposed" || view.gateChanges.some(({ is }) => is === "proposed");
  const commands = [
    view.is === "paused" || view.setup || view.accounts.some(({ is }) => is === "refused")
      ? "u resume"
      : "p pause",
    "s steer",
    "c cancel",
    ...(isAsked ? ["r answer"] : []),
    ...(isProposed ? ["a approve", "x decline"] : []),
  ];
  const isOver = view.times.closedAt !== undefined;
  return ["↑↓", isOpen ? "Esc back" : "Enter open", ...(isOver ? [] : commands), "q leave"].join("  ");
}
