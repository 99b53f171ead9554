/** One run on the whole terminal: what needs a person, how it stands, its tasks, and one task in full. */

import { Box, useApp, useInput, useWindowSize } from "ink";
import { createElement as h, type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { messageOf } from "../../core/failure.ts";
import { ROOT, type TaskId } from "../../core/task.ts";
import type { Budget } from "../../core/view/budget-left.ts";
import { foldedTree } from "../../core/view/folded-tree.ts";
import { machinesIn } from "../../core/view/labels.ts";
import { calmLabel, endLabel, type WayToDeliver } from "../../core/view/needs.ts";
import { WORDS } from "../../core/view/words.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome } from "../../ports/runs.ts";
import { harmless } from "../../text/words.ts";
import type { Followed } from "./follow.ts";
import { Head, Landing, needTexts, phaseText, waitsOf } from "./head.ts";
import { askFor, keysFor, type Prompt } from "./keys.ts";
import { line } from "./line.ts";
import { PAGES, type TaskPage } from "./task-lines.ts";
import { TaskView } from "./task-view.ts";
import { AtWork, atWorkIn, firstUnsettled, TaskRows } from "./tasks.ts";

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

export function Screen(parts: ScreenParts): ReactNode {
  const { followed } = parts;
  useSyncExternalStore(followed.subscribe, followed.version);
  useTick();
  const { columns, rows: height } = useWindowSize();
  const place = usePlace(parts, height);
  const { view, seen, note, problem, word } = followed;
  if (seen.story.events === 0) return line(problem ? harmless(problem) : "Reading the log…");
  const needs = needTexts(view, word);
  const isCalm = needs.length === 0 && height > FIXED_LINES; // A tiny screen has other things to show.
  const calm = isCalm ? calmLabel(view, word) || endLabel(view, parts.delivery) : "";
  const phase = phaseText(seen.state);
  const waits = waitsOf(view, Date.now());
  const more = [calm, phase, machinesIn(view, word).length].filter(Boolean).length;
  const room = height - FIXED_LINES - needs.length - waits.length - more;
  const isOver = view.times.closedAt !== undefined;
  const busy = isOver ? followed.undone.length : atWorkIn(view, word).length;
  const atWork = Math.max(1, Math.min(busy, Math.floor(room / 3)));
  const rows = room - 1 - (busy > 0 ? atWork + 1 : 0);
  const { open, page, scrolled, prompt, tree, at, isHelp } = place;
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
        : open
          ? [h(TaskView, { key: open, ...parts, task: open, page, scrolled, lines: room })]
          : [
              h(AtWork, { key: "work", run: word, max: atWork, ...parts }),
              line("Tasks", { key: "title", bold: true }),
              h(TaskRows, { key: "rows", seen, run: word, tree, at, lines: rows, columns }),
            ]),
    ),
    ...(phase ? [line(phase, { key: "phase", color: "yellow" })] : []),
    h(Landing, { followed }),
    prompt ? line(promptText(prompt, columns), { bold: true }) : line(harmless(notice), { dimColor: true }),
    line(keysFor(view, { isOpen: open !== undefined, leave: parts.interrupt ? "d detach" : "q leave" }), {
      dimColor: true,
    }),
  );
}

/** The end of a long text stays visible. */
function promptText({ label, text }: Prompt, columns: number): string {
  const hint = "  (Enter sends, Esc leaves)";
  const room = Math.max(10, columns - label.length - hint.length - 4);
  return `${label}: ${harmless(text.slice(-room))}▏${hint}`;
}

/** Elapsed times go on although no event comes. */
function useTick(): void {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow((n) => n + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
}

/** `at`: undefined before the person has chosen a task. */
type Place = {
  at: number | undefined;
  open: TaskId | undefined;
  page: TaskPage;
  scrolled: number;
  prompt: Prompt | undefined;
  isHelp: boolean;
  readonly unfolded: Set<TaskId>;
};

const START = {
  at: undefined,
  open: undefined,
  page: "Overview",
  scrolled: 0,
  prompt: undefined,
  isHelp: false,
} as const;

const HELP = ["What the words mean", ...Object.entries(WORDS).map(([word, text]) => `  ${word}: ${text}`)];

type Key = Parameters<Parameters<typeof useInput>[0]>[1];

/** What the person looks at, and what they type. */
function usePlace(parts: ScreenParts, height: number) {
  const { followed } = parts;
  const { exit } = useApp();
  // Keys may come faster than pictures: where they have led is known at once, what is drawn follows.
  const { current: place } = useRef<Place>({ ...START, unfolded: new Set() });
  const [, draw] = useState(0);
  const tree = foldedTree(followed.seen.state, (task) => place.unfolded.has(task));
  const chosen = () =>
    Math.min(place.at ?? firstUnsettled(followed.seen.state, tree), Math.max(0, tree.length - 1));
  const press = (input: string, key: Key) => {
    if (key.ctrl && input === "z") return parts.suspend();
    if (key.ctrl && input === "c") return parts.interrupt ? parts.interrupt() : exit();
    if (!place.prompt && (input === "q" || input === "d")) return exit();
    draw((n) => n + 1);
    if (place.prompt) return typed(place, input, key, parts);
    const wasHelp = place.isHelp;
    place.isHelp = input === "?" && !wasHelp;
    if (place.isHelp || wasHelp) return; // Any key leads back.
    const pressed = { input, key, step: stepOf(key, Math.max(1, height - 12)) };
    const task = tree[chosen()]?.task;
    if (place.open === undefined) {
      if (chooseTask(place, pressed, { task, chosen: chosen(), count: tree.length })) return;
    } else if (turnPage(place, pressed)) return;
    const ask = askFor(input, followed, place.open ?? (place.at === undefined ? ROOT : task));
    if (ask === undefined) return;
    if ("label" in ask) place.prompt = ask;
    else send(ask, parts);
  };
  // What was typed quickly, or pasted, comes as one text.
  useInput((input, key) => {
    for (const character of input === "" ? [""] : input) press(character, key);
  });
  return { ...place, tree, at: place.at === undefined ? undefined : chosen() };
}

function send(command: MailboxMessage, { followed, say }: ScreenParts): void {
  followed.say("…");
  void say(command)
    .catch((error: unknown) => `not sent: ${messageOf(error)}`)
    .then((text) => followed.say(text));
}

function stepOf(key: Key, page: number): number {
  if (key.pageUp || key.pageDown) return key.pageUp ? -page : page;
  return key.upArrow ? -1 : key.downArrow ? 1 : 0;
}

type Pressed = { readonly input: string; readonly key: Key; readonly step: number };
type Chosen = { readonly task: TaskId | undefined; readonly chosen: number; readonly count: number };

/** In the tree; false if the key is for something else. */
function chooseTask(place: Place, { input, key, step }: Pressed, { task, chosen, count }: Chosen): boolean {
  if (step !== 0) {
    // The first key only shows what is chosen.
    const next = place.at === undefined ? chosen : chosen + step;
    place.at = Math.max(0, Math.min(count - 1, next));
  } else if (key.return) Object.assign(place, { open: task, scrolled: 0 });
  else if (input === " " || key.rightArrow || key.leftArrow) {
    if (task !== undefined && !place.unfolded.delete(task)) place.unfolded.add(task);
  } else return false;
  return true;
}

/** In a task that is open; false if the key is for something else. */
function turnPage(place: Place, { input, key, step }: Pressed): boolean {
  const back = key.leftArrow || (key.tab && key.shift);
  const turn = back ? PAGES.length - 1 : key.rightArrow || key.tab ? 1 : 0;
  const page = PAGES[Number(input || "0") - 1] ?? PAGES[(PAGES.indexOf(place.page) + turn) % PAGES.length]!;
  // A transcript is read from its end.
  if (step !== 0) place.scrolled = Math.max(0, place.scrolled + (place.page === "Transcript" ? -step : step));
  else if (key.escape) place.open = undefined;
  else if (page !== place.page) Object.assign(place, { page, scrolled: 0 });
  else return false;
  return true;
}

function typed(place: Place, input: string, key: Key, parts: ScreenParts): void {
  const prompt = place.prompt!;
  if (key.escape || key.return) {
    place.prompt = undefined;
    if (key.return && prompt.text.trim() !== "") send(prompt.send(prompt.text.trim()), parts);
  } else if (key.backspace || key.delete) place.prompt = { ...prompt, text: prompt.text.slice(0, -1) };
  else if (!key.ctrl && !key.meta && input !== "") place.prompt = { ...prompt, text: prompt.text + input };
}
