/** Shows one run on the whole terminal: what needs a person, the run's state, its tasks, and one task in full. */

import { Box, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import type { Budget } from "../../core/view/budget-left.ts";
import { doneLabel, machinesIn, runLabel } from "../../core/view/labels.ts";
import { calmLabel, endLabel, type WayToDeliver } from "../../core/view/needs.ts";
import { WORDS } from "../../core/view/words.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { harmless } from "../../text/words.ts";
import { fit, wrapped } from "../cli/columns.ts";
import type { Followed } from "./follow.ts";
import { GateView } from "./gate-view.ts";
import { Head, Landing, needTexts, phaseText, waitsOf } from "./head.ts";
import { keysFor } from "./keys.ts";
import { line } from "./line.ts";
import { NeedsView, QuestionAbove } from "./needs-view.ts";
import { type PlaceShown, usePlace } from "./place.ts";
import { TaskView } from "./task-view.ts";
import { AtWork, atWorkIn, TaskRows } from "./tasks.ts";

export type ScreenParts = {
  readonly followed: Followed;
  readonly home: RunHome;
  readonly files: RunFiles;
  readonly budget: Budget;
  readonly delivery: WayToDeliver;
  /** Sends a command to the run; resolves with what to show. */
  readonly say: (command: MailboxMessage) => Promise<string>;
  /** What leaving the screen does to the run. */
  readonly leave: string;
  /** What Ctrl-C does, if it does not leave. */
  readonly interrupt?: () => void;
  readonly suspend: () => void;
};

/** The lines of the head, the landing queue, the note and the keys. */
const FIXED_LINES = 8;
/** The title of the task list, and two tasks. */
const MIN_TASK_LINES = 3;

export function Screen(parts: ScreenParts): ReactNode {
  const { followed } = parts;
  useSyncExternalStore(followed.subscribe, followed.version);
  useTick();
  const { columns, rows: height } = useWindowSize();
  const place = usePlace(parts, height);
  const { seen, problem } = followed;
  if (seen.story.events === 0) return line(problem ? harmless(problem) : "Reading the log…");
  const Size = height < FIXED_LINES + MIN_TASK_LINES ? Small : Full;
  return h(Size, { ...parts, place, columns, height });
}

type SizeProps = ScreenParts & {
  readonly place: PlaceShown;
  readonly columns: number;
  readonly height: number;
};

function Full({ place, columns, height, ...parts }: SizeProps): ReactNode {
  const { followed } = parts;
  const { view, seen, word } = followed;
  // At most a third of the screen, less if there is hardly room for the tasks; one line above an open task, and none
  // above an item that is being read.
  const isRead = place.need !== undefined || questionIn(place) !== undefined;
  const isOpen = place.open !== undefined || place.isGates;
  const most = isOpen ? 1 : Math.min(Math.floor(height / 3), height - FIXED_LINES - MIN_TASK_LINES);
  const needs = isRead ? [] : needTexts(view, word, { lines: most, columns });
  const isCalm = needs.length === 0 && !isRead;
  const said = isCalm ? calmLabel(view, word) || endLabel(view, parts.delivery) : "";
  const calm = said === "" ? [] : wrapped(said, columns, "  ").split("\n"); // Wrapped, so that no command is cut off.
  const phase = phaseText(seen.state);
  const waits = waitsOf(view, Date.now());
  const more = calm.length + [phase, machinesIn(view, word).length].filter(Boolean).length;
  const room = height - FIXED_LINES - needs.length - waits.length - more;
  return h(
    Box,
    { flexDirection: "column", width: columns, height },
    ...needs.map((text, i) => line(text, { key: `need ${i}`, ...NEED_STYLE })),
    ...calm.map((text, i) => line(text, { key: `calm ${i}`, color: "green", bold: true })),
    h(Head, { followed, budget: parts.budget }),
    ...waits.map((text, i) => line(text, { key: `wait ${i}`, color: "yellow" })),
    h(
      Box,
      { flexDirection: "column", flexGrow: 1, overflow: "hidden" },
      openPart(parts, place, { lines: room, columns }) ?? h(Tasks, { ...parts, place, room, columns }),
    ),
    ...(phase ? [line(phase, { key: "phase", color: "yellow" })] : []),
    h(Landing, { followed }),
    place.prompt
      ? line(promptText(place.prompt, columns), { bold: true })
      : line(harmless(noticeOf(parts)), { dimColor: true }),
    line(keysLine(parts, place), { dimColor: true }),
  );
}

/** For a terminal of a few lines: what needs the person or the run's state, the open item, and the input line. */
function Small({ place, columns, height, ...parts }: SizeProps): ReactNode {
  const { view, seen, word } = parts.followed;
  const opened = (lines: number) => openPart(parts, place, { lines, columns });
  const isTopShown = height > 2 && opened(1) === undefined;
  const [need] = needTexts(view, word, { lines: 1, columns });
  const lines = Math.max(1, height - (isTopShown ? 2 : 1));
  const { tree, at, prompt } = place;
  return h(
    Box,
    { flexDirection: "column", width: columns, height, overflow: "hidden" },
    isTopShown
      ? need
        ? line(need, { key: "need", ...NEED_STYLE })
        : line(`${runLabel(word)} · ${doneLabel(view)}`, { key: "state", bold: true })
      : null,
    height > 1
      ? h(
          Box,
          { key: "open", flexDirection: "column", height: lines, overflow: "hidden" },
          opened(lines) ?? h(TaskRows, { seen, run: word, tree, at, lines, columns }),
        )
      : null,
    prompt
      ? line(promptText(prompt, columns), { key: "prompt", bold: true })
      : line(keysLine(parts, place), { key: "keys", dimColor: true }),
  );
}

const NEED_STYLE = { color: "yellow", bold: true, inverse: true } as const;

const questionIn = ({ prompt }: PlaceShown) => (prompt && "question" in prompt ? prompt.question : undefined);

/** The open item that is shown in place of the tasks; undefined if nothing is open. */
function openPart(
  parts: ScreenParts,
  place: PlaceShown,
  size: { readonly lines: number; readonly columns: number },
): ReactNode {
  const { open, page, scrolled, need, back, isWhole } = place;
  const question = questionIn(place);
  if (place.isHelp)
    return h(
      Box,
      { flexDirection: "column" },
      ...HELP.slice(0, size.lines).map((text) => line(text, { key: text })),
    );
  if (question) return h(QuestionAbove, { question, scrolled, ...size });
  if (need !== undefined) return h(NeedsView, { followed: parts.followed, need, scrolled, ...size });
  const read = { ...parts, back, isWhole, scrolled, lines: size.lines };
  if (place.isGates) return h(GateView, { ...read, task: undefined });
  return open === undefined ? undefined : h(TaskView, { key: open, ...read, task: open, page });
}

type TasksProps = ScreenParts & {
  readonly place: PlaceShown;
  readonly room: number;
  readonly columns: number;
};

/** Running or undone tasks take at most a third of the room. */
function Tasks({ place, room, columns, ...parts }: TasksProps): ReactNode {
  const { view, seen, word, undone } = parts.followed;
  const busy = view.times.closedAt !== undefined ? undone.length : atWorkIn(view, word).length;
  const max = Math.max(1, Math.min(busy, Math.floor(room / 3)));
  const lines = room - 1 - (busy > 0 ? max + 1 : 0);
  const { tree, at } = place;
  return h(
    Box,
    { flexDirection: "column" },
    h(AtWork, { run: word, max, ...parts }),
    line(tasksTitle(place), { bold: true }),
    h(TaskRows, { seen, run: word, tree, at, lines, columns }),
  );
}

function noticeOf({ followed: { problem, note, word, view }, leave }: ScreenParts): string {
  if (problem) return `the log cannot be read on: ${problem}`;
  const stopped = `No process drives this run. To continue: skein resume ${view.run}`;
  return note || (word === "stopped" ? stopped : leave);
}

function keysLine({ followed: { view }, interrupt }: ScreenParts, place: PlaceShown): string {
  const { prompt, open, isGates, need } = place;
  if (prompt) return promptKeys(prompt);
  const isOpen = open !== undefined || isGates || need !== undefined;
  return keysFor(view, { isOpen, leave: interrupt ? "d detach" : "q leave" });
}

function promptKeys(prompt: NonNullable<PlaceShown["prompt"]>): string {
  const ends =
    "isFilter" in prompt
      ? ["Enter keeps it", "Esc shows all"]
      : [takesDefault(prompt) ? "Enter takes the default" : "Enter sends", "Esc leaves"];
  return [...ends, "Ctrl-W deletes a word", "Ctrl-U all"].join("  ");
}

const takesDefault = (prompt: NonNullable<PlaceShown["prompt"]>): boolean =>
  "placeholder" in prompt && prompt.placeholder !== undefined && prompt.text === "";

/** Keeps the end of a long text visible. */
function promptText(prompt: NonNullable<PlaceShown["prompt"]>, columns: number): string {
  const { text } = prompt;
  const label = fit(prompt.label, Math.max(8, Math.floor(columns / 2) - 2));
  const room = Math.max(1, columns - label.length - 4);
  if ("placeholder" in prompt && takesDefault(prompt))
    return `${label}: ▏default: ${fit(harmless(prompt.placeholder!), Math.max(1, room - 9))}`;
  return `${label}: ${harmless(text.slice(-room))}▏`;
}

/** The title says which tasks are listed if some are hidden. */
function tasksTitle({
  tree,
  all,
  filter,
  isHidingDone,
}: Pick<PlaceShown, "tree" | "all" | "filter" | "isHidingDone">) {
  const hidden = all - tree.length;
  const what = [
    ...(filter === "" ? [] : [`with "${harmless(filter, 40)}" (Esc: all)`]),
    ...(isHidingDone && hidden > 0 ? ["done ones hidden (h: show)"] : []),
  ];
  return what.length === 0 ? "Tasks" : `Tasks: ${tree.length} of ${all}, ${what.join(", ")}`;
}

/** Draws every second, so that elapsed times advance without events. */
function useTick(): void {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
}

const HELP = ["What the words mean", ...Object.entries(WORDS).map(([word, text]) => `  ${word}: ${text}`)];
