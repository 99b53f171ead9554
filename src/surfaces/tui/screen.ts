/** One run on the whole terminal: what needs a person, how it stands, its tasks, and one task in full. */

import { Box, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useEffect, useState, useSyncExternalStore } from "react";
import type { Budget } from "../../core/view/budget-left.ts";
import { machinesIn } from "../../core/view/labels.ts";
import { calmLabel, endLabel, type WayToDeliver } from "../../core/view/needs.ts";
import { WORDS } from "../../core/view/words.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { harmless } from "../../text/words.ts";
import { fit } from "../cli/columns.ts";
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
  /** What leaving means for the run. */
  readonly leave: string;
  /** What Ctrl-C does, if it does not leave. */
  readonly interrupt?: () => void;
  readonly suspend: () => void;
};

/** Head, landing queue, note and keys. */
const FIXED_LINES = 8;
/** The title of the tasks, and two of them. */
const MIN_TASK_LINES = 3;

export function Screen(parts: ScreenParts): ReactNode {
  const { followed } = parts;
  useSyncExternalStore(followed.subscribe, followed.version);
  useTick();
  const { columns, rows: height } = useWindowSize();
  const place = usePlace(parts, height);
  const { view, seen, note, problem, word } = followed;
  if (seen.story.events === 0) return line(problem ? harmless(problem) : "Reading the log…");
  // At most a third of the screen, less of one that has hardly room for the tasks, and none above one that is read.
  const isRead =
    place.need !== undefined || (place.prompt && "question" in place.prompt && place.prompt.question);
  const needs = isRead
    ? []
    : needTexts(view, word, Math.min(Math.floor(height / 3), height - FIXED_LINES - MIN_TASK_LINES));
  const isCalm = needs.length === 0 && !isRead && height > FIXED_LINES; // A tiny screen has other things to show.
  const calm = isCalm ? calmLabel(view, word) || endLabel(view, parts.delivery) : "";
  const phase = phaseText(seen.state);
  const waits = waitsOf(view, Date.now());
  const more = [calm, phase, machinesIn(view, word).length].filter(Boolean).length;
  const room = height - FIXED_LINES - needs.length - waits.length - more;
  const isOver = view.times.closedAt !== undefined;
  const busy = isOver ? followed.undone.length : atWorkIn(view, word).length;
  const atWork = Math.max(1, Math.min(busy, Math.floor(room / 3)));
  const rows = room - 1 - (busy > 0 ? atWork + 1 : 0);
  const { open, page, scrolled, prompt, tree, at, isHelp, need, isGates, back, isWhole } = place;
  const stopped = `No process drives this run. To continue: skein resume ${view.run}`;
  const notice = problem
    ? `the log cannot be read on: ${problem}`
    : note || (word === "stopped" ? stopped : parts.leave);
  return h(
    Box,
    { flexDirection: "column", width: columns, height },
    ...needs.map((text, i) => line(text, { key: `need ${i}`, color: "yellow", bold: true, inverse: true })),
    ...(calm ? [line(calm, { key: "calm", color: "green", bold: true })] : []),
    h(Head, { followed, budget: parts.budget }),
    ...waits.map((text, i) => line(text, { key: `wait ${i}`, color: "yellow" })),
    h(
      Box,
      { flexDirection: "column", flexGrow: 1, overflow: "hidden" },
      ...(isHelp
        ? HELP.slice(0, room).map((text) => line(text, { key: text }))
        : prompt && "question" in prompt && prompt.question
          ? [h(QuestionAbove, { key: "question", question: prompt.question, lines: room, columns })]
          : need !== undefined
            ? [h(NeedsView, { key: `need ${need}`, followed, need, scrolled, lines: room, columns })]
            : isGates
              ? [
                  h(GateView, {
                    key: "gates",
                    ...parts,
                    task: undefined,
                    back,
                    isWhole,
                    scrolled,
                    lines: room,
                  }),
                ]
              : open
                ? [
                    h(TaskView, {
                      key: open,
                      ...parts,
                      task: open,
                      page,
                      scrolled,
                      back,
                      isWhole,
                      lines: room,
                    }),
                  ]
                : [
                    h(AtWork, { key: "work", run: word, max: atWork, ...parts }),
                    line(tasksTitle(place), { key: "title", bold: true }),
                    h(TaskRows, { key: "rows", seen, run: word, tree, at, lines: rows, columns }),
                  ]),
    ),
    ...(phase ? [line(phase, { key: "phase", color: "yellow" })] : []),
    h(Landing, { followed }),
    prompt ? line(promptText(prompt, columns), { bold: true }) : line(harmless(notice), { dimColor: true }),
    line(
      keysFor(view, {
        isOpen: open !== undefined || isGates || need !== undefined,
        leave: parts.interrupt ? "d detach" : "q leave",
      }),
      {
        dimColor: true,
      },
    ),
  );
}

/** The end of a long text stays visible. */
function promptText(prompt: NonNullable<PlaceShown["prompt"]>, columns: number): string {
  const { label, text } = prompt;
  const isEmpty = text === "" && "placeholder" in prompt && prompt.placeholder !== undefined;
  const hint = `  (${"isFilter" in prompt ? "Enter keeps it, Esc shows all" : isEmpty ? "Enter takes it, Esc leaves" : "Enter sends, Esc leaves"})`;
  const room = Math.max(10, columns - label.length - hint.length - 4);
  const shown = isEmpty
    ? `▏default: ${fit(harmless(prompt.placeholder!), room - 9)}`
    : `${harmless(text.slice(-room))}▏`;
  return `${label}: ${shown}${hint}`;
}

/** Which tasks the list has, where it has not all. */
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

/** Elapsed times go on although no event comes. */
function useTick(): void {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
}

const HELP = ["What the words mean", ...Object.entries(WORDS).map(([word, text]) => `  ${word}: ${text}`)];
