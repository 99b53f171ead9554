/** Keeps the state of the screen: the chosen task, the open page, the filter, and the text being typed. */
import { useApp, useInput } from "ink";
import { useRef, useState } from "react";
import { messageOf } from "../../core/failure.ts";
import { ROOT, type TaskId } from "../../core/task.ts";
import { foldedTree, type TreeNode } from "../../core/view/folded-tree.ts";
import { needKey, needsOf } from "../../core/view/needs.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import { edited, type Key, type Stroke, strokesIn } from "./edit.ts";
import type { Followed } from "./follow.ts";
import { askFor, type Prompt } from "./keys.ts";
import { PAGES, type TaskPage } from "./task-lines.ts";
import { firstUnsettled, shownNodes } from "./tasks.ts";

type PlaceParts = {
  readonly followed: Followed;
  readonly say: (command: MailboxMessage) => Promise<string>;
  readonly interrupt?: () => void;
  readonly suspend: () => void;
};

/** `at`: undefined before the person has chosen a task. */
type Place = {
  at: number | undefined;
  open: TaskId | undefined;
  page: TaskPage;
  scrolled: number;
  prompt: Prompt | Filtering | undefined;
  isHelp: boolean;
  /** The open item that needs the person, by its key, because others may come and go before it. */
  need: string | undefined;
  /** The gate runs of the whole run are open. */
  isGates: boolean;
  /** On a page of several items, such as gate runs: how many before the newest. */
  back: number;
  isWhole: boolean;
  filter: string;
  /** Undefined: decided by the number of tasks. */
  hidesDone: boolean | undefined;
  readonly unfolded: Set<TaskId>;
};

/** A prompt whose text is not sent: it filters the list. */
type Filtering = Pick<Prompt, "label" | "text"> & { readonly isFilter: true };

const START = {
  at: undefined,
  open: undefined,
  page: "Overview",
  scrolled: 0,
  prompt: undefined,
  isHelp: false,
  need: undefined,
  isGates: false,
  back: 0,
  isWhole: false,
  filter: "",
  hidesDone: undefined,
} as const;

/** How many lines of a question PgUp moves while it is being answered. */
const PROMPT_PAGE = 10;
/** With more tasks, done ones are hidden at first. */
const MANY_TASKS = 100;

export type PlaceShown = ReturnType<typeof usePlace>;

export function usePlace(parts: PlaceParts, height: number) {
  const { followed } = parts;
  const { exit } = useApp();
  // Keys may come faster than draws, so a key changes this object at once, and the screen is drawn later.
  const { current: place } = useRef<Place>({ ...START, unfolded: new Set() });
  const [, draw] = useState(0);
  const { state } = followed.seen;
  const folded = foldedTree(state, (task) => place.filter !== "" || place.unfolded.has(task));
  const isHidingDone = place.hidesDone ?? folded.length > MANY_TASKS;
  const filtered = () => shownNodes(state, folded, { filter: place.filter, isHidingDone });
  const tree = filtered();
  const chosen = () => Math.min(place.at ?? firstUnsettled(state, tree), Math.max(0, tree.length - 1));
  const press = ({ input, key }: Stroke) => {
    if (key.ctrl && input === "z") return parts.suspend();
    if (key.ctrl && input === "c") return parts.interrupt ? parts.interrupt() : exit();
    if (!place.prompt && (input === "q" || input === "d")) return exit();
    draw((n) => n + 1);
    if (place.prompt) return typed(place, { input, key, step: stepOf(key, PROMPT_PAGE) }, parts);
    const wasHelp = place.isHelp;
    place.isHelp = input === "?" && !wasHelp;
    if (place.isHelp || wasHelp) return; // Any key closes the help.
    const pressed = { input, key, step: stepOf(key, Math.max(1, height - 12)) };
    if (openNeed(place, pressed, followed)) return;
    const task = tree[chosen()]?.task;
    if (place.isGates && lookAtGates(place, pressed)) return;
    if (!place.isGates && place.open !== undefined && turnPage(place, pressed)) return;
    const isList = !place.isGates && place.open === undefined && place.need === undefined;
    if (isList && chooseTask(place, pressed, { tree, task, chosen: chosen(), isHidingDone })) return;
    const open = needsOf(followed.view, followed.word).find((need) => needKey(need) === place.need);
    const ask = askFor(input, followed, place.open ?? (place.at === undefined ? ROOT : task), open);
    if (ask === undefined) return;
    if ("label" in ask) Object.assign(place, { prompt: ask, scrolled: 0 });
    else send(ask, parts);
  };
  useInput((input, key) => {
    for (const stroke of strokesIn(input, key)) press(stroke);
  });
  return {
    ...place,
    tree,
    all: folded.length,
    isHidingDone,
    at: place.at === undefined ? undefined : chosen(),
  };
}

function send(command: MailboxMessage, { followed, say }: PlaceParts): void {
  followed.say("…");
  void say(command)
    .catch((error: unknown) => `not sent: ${messageOf(error)}`)
    .then((text) => followed.say(text));
}

function stepOf(key: Key, page: number): number {
  if (key.pageUp || key.pageDown) return key.pageUp ? -page : page;
  return key.upArrow ? -1 : key.downArrow ? 1 : 0;
}

type Pressed = Stroke & { readonly step: number };

/** Opens or leaves what needs the person; false if the key is for something else. */
function openNeed(place: Place, { input, key, step }: Pressed, { view, word }: Followed): boolean {
  const keys = needsOf(view, word).map(needKey);
  const at = place.need === undefined ? -1 : keys.indexOf(place.need);
  if (place.need !== undefined && (key.escape || keys.length === 0)) {
    place.need = undefined;
    return key.escape;
  }
  if (input === "n" && keys.length > 0) {
    Object.assign(place, { need: keys[(at + 1) % keys.length], scrolled: 0 });
    return true;
  }
  if (place.need === undefined || step === 0) return false;
  place.scrolled = Math.max(0, place.scrolled + step);
  return true;
}

type Chosen = {
  readonly tree: readonly TreeNode[];
  readonly task: TaskId | undefined;
  readonly chosen: number;
  readonly isHidingDone: boolean;
};

/** Moves in the tree; false if the key is for something else. */
function chooseTask(
  place: Place,
  { input, key, step }: Pressed,
  { tree, task, chosen, isHidingDone }: Chosen,
): boolean {
  if (step !== 0) {
    // The first key only shows which task is chosen.
    const next = place.at === undefined ? chosen : chosen + step;
    place.at = Math.max(0, Math.min(tree.length - 1, next));
  } else if (key.home || key.end) place.at = key.home ? 0 : Math.max(0, tree.length - 1);
  else if (key.return) Object.assign(place, { open: task, scrolled: 0, back: 0 });
  else if (input === "g") Object.assign(place, { isGates: true, scrolled: 0, back: 0, isWhole: false });
  else if (input === "h") Object.assign(place, { hidesDone: !isHidingDone, at: undefined });
  else if (input === "/") place.prompt = { label: "Show tasks with", text: place.filter, isFilter: true };
  else if (key.escape && place.filter !== "") Object.assign(place, { filter: "", at: undefined });
  else if (input === " " || key.rightArrow || key.leftArrow) {
    if (task !== undefined && !place.unfolded.delete(task)) place.unfolded.add(task);
  } else return false;
  return true;
}

/** Turns pages of an open task; false if the key is for something else. */
function turnPage(place: Place, pressed: Pressed): boolean {
  const { input, key, step } = pressed;
  const turn = key.leftArrow || (key.tab && key.shift) ? PAGES.length - 1 : key.rightArrow || key.tab ? 1 : 0;
  const page = PAGES[Number(input || "0") - 1] ?? PAGES[(PAGES.indexOf(place.page) + turn) % PAGES.length]!;
  // A transcript is scrolled from its end.
  if (step !== 0) place.scrolled = Math.max(0, place.scrolled + (place.page === "Transcript" ? -step : step));
  else if (key.escape) place.open = undefined;
  else if (page !== place.page) Object.assign(place, { page, scrolled: 0, back: 0, isWhole: false });
  else return goBack(place, pressed);
  return true;
}

function lookAtGates(place: Place, pressed: Pressed): boolean {
  const { key, step } = pressed;
  if (step !== 0) place.scrolled = Math.max(0, place.scrolled + step);
  else if (key.escape) place.isGates = false;
  else return goBack(place, pressed);
  return true;
}

/** Moves among gate runs, or failed attempts; false if the key is for something else. */
function goBack(place: Place, { input }: Pressed): boolean {
  if (input === "[" || input === "]")
    Object.assign(place, { back: Math.max(0, place.back + (input === "[" ? 1 : -1)), scrolled: 0 });
  else if (input === "w") Object.assign(place, { isWhole: !place.isWhole, scrolled: 0 });
  else return false;
  return true;
}

function typed(place: Place, stroke: Pressed, parts: PlaceParts): void {
  const prompt = place.prompt!;
  // A question that is being answered is scrolled from its end.
  place.scrolled = Math.max(0, place.scrolled - stroke.step);
  const text = edited(prompt.text, stroke);
  if ("isFilter" in prompt) {
    place.prompt = text === undefined ? undefined : { ...prompt, text };
    place.filter = stroke.key.escape ? "" : (text ?? prompt.text);
    place.at = undefined;
    return;
  }
  if (text !== undefined) {
    place.prompt = { ...prompt, text };
    return;
  }
  Object.assign(place, { prompt: undefined, scrolled: 0 });
  const said = prompt.text.trim() || (prompt.placeholder ?? "");
  if (stroke.key.return && said !== "") send(prompt.send(said), parts);
}
