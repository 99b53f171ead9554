/** What does a scripted agent do, and when? A file that answers for planners and workers, checked field by field. */

/** By a task's id ("t.2.1"), or by the name that its planner gave it; the id wins. The root is "t". */
export type Script = {
  readonly plans: Readonly<Record<string, readonly PlanTurn[]>>;
  readonly work: Readonly<Record<string, readonly WorkAttempt[]>>;
};

/**
 * A fault or a text happens in the turn of its place in the list, and no other. Answers are given one after the
 * other, each until it was accepted: so a turn that was interrupted skips nothing. After the last there are no
 * more tasks.
 */
export type PlanTurn = { readonly delayMs?: number } & (
  | { readonly answer: Readonly<Record<string, unknown>> }
  | { readonly text: string }
  | { readonly end: Fault }
);

/**
 * The attempt of its place in the list; the last one stands for all later ones. `goesOn`: what it does when it goes on
 * after a call, one after the other. `answers`: what it says when its subtask asks; if nothing, it passes that on.
 */
export type WorkAttempt = WorkTurn & { readonly goesOn?: readonly WorkTurn[]; readonly answers?: string };

export type WorkTurn = { readonly steps?: readonly Step[]; readonly end: WorkEnd | Fault };

/**
 * `answer`: that text and nothing else, with the path of the task's output file for `$OUTPUT`. `done`: what is right
 * for the task, `DONE|$OUTPUT` if it has such a file, else a handoff that says complete.
 */
export type WorkEnd =
  | { readonly handoff: Readonly<Record<string, unknown>> }
  | { readonly answer: string }
  | ScriptedCall
  | "done";

/** The turn ends with a call: a request for a subtask, or a question. */
export type ScriptedCall =
  | { readonly spawn: Readonly<Record<string, unknown>> }
  | { readonly ask: Readonly<Record<string, unknown>> };

export type Step =
  | { readonly do: "write"; readonly path: string; readonly text: string }
  | { readonly do: "append"; readonly path: string; readonly text: string }
  /** The first place that reads `find`. */
  | { readonly do: "replace"; readonly path: string; readonly find: string; readonly with: string }
  /** Below the last line that contains `after`. */
  | { readonly do: "insert"; readonly path: string; readonly after: string; readonly text: string }
  | { readonly do: "delete"; readonly path: string }
  | { readonly do: "rename"; readonly path: string; readonly to: string }
  | { readonly do: "run"; readonly command: readonly [string, ...string[]] }
  | { readonly do: "wait"; readonly ms: number }
  /** Until `task` has such an attempt, or a later one, that was handed in; or until it has landed. `ms` at most. */
  | {
      readonly do: "await";
      readonly task: string;
      readonly until: "ready" | "landed";
      readonly attempt?: number;
      readonly ms: number;
    }
  | { readonly do: "say"; readonly text: string }
  /** Into the task's output file, in place of what was there. */
  | { readonly do: "output"; readonly text: string }
  | { readonly do: "commit"; readonly message: string };

/**
 * `crash`: killed, as by the machine. `hang`: never ends. `outage`: the model cannot be reached. `silent`: ends
 * well, without a word.
 */
export type Fault = "crash" | "hang" | "outage" | "silent" | { readonly exit: number };

export type ReadScript =
  | { readonly is: "script"; readonly script: Script }
  | { readonly is: "broken"; readonly problems: readonly string[] };

/** Every problem at once, each with its place, such as `work.parser[2].steps[1]`. */
export function readScript(text: string): ReadScript {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { is: "broken", problems: [`it is not JSON: ${(error as Error).message}`] };
  }
  const problems: string[] = [];
  const say: Say = (place, what) => void problems.push(`${place} ${what}`);
  if (!isObject(value)) return { is: "broken", problems: ["it must be an object with plans and work"] };
  noOthers(value, "the script", ["plans", "work"], say);
  const script: Script = {
    plans: readLists(value, "plans", checkPlanTurn, say),
    work: readLists(value, "work", checkAttempt, say),
  };
  return problems.length === 0 ? { is: "script", script } : { is: "broken", problems };
}

type Say = (place: string, what: string) => void;
type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** No prototype: a task may be called "constructor". */
function readLists<T>(
  whole: Fields,
  key: string,
  check: (value: Fields, place: string, say: Say) => void,
  say: Say,
): Readonly<Record<string, readonly T[]>> {
  const lists: Record<string, readonly T[]> = Object.create(null);
  const value = whole[key] ?? {};
  if (!isObject(value)) {
    say(key, "must be an object: a list for each task");
    return lists;
  }
  for (const [task, list] of Object.entries(value)) {
    const place = `${key}.${task}`;
    if (!Array.isArray(list) || list.length === 0) {
      say(place, "must be a list with at least one entry");
      continue;
    }
    list.forEach((entry, i) => {
      if (isObject(entry)) check(entry, `${place}[${i + 1}]`, say);
      else say(`${place}[${i + 1}]`, "must be an object");
    });
    lists[task] = list as readonly T[];
  }
  return lists;
}

function checkPlanTurn(turn: Fields, place: string, say: Say): void {
  noOthers(turn, place, ["delayMs", "answer", "text", "end"], say);
  const given = ["answer", "text", "end"].filter((key) => turn[key] !== undefined);
  if (given.length !== 1) say(place, 'must have one of "answer", "text" and "end"');
  if (turn["delayMs"] !== undefined) checkMs(turn["delayMs"], `${place}.delayMs`, say);
  if (turn["text"] !== undefined) checkText(turn["text"], `${place}.text`, say);
  if (turn["end"] !== undefined) checkFault(turn["end"], `${place}.end`, say);
  const { answer } = turn;
  if (answer !== undefined && !(isObject(answer) && Array.isArray(answer["tasks"])))
    say(`${place}.answer`, 'must be an object with a list "tasks"; use "text" for anything else');
}

function checkAttempt(attempt: Fields, place: string, say: Say): void {
  const { goesOn = [], answers, ...turn } = attempt;
  checkTurn(turn, place, say);
  if (answers !== undefined) checkText(answers, `${place}.answers`, say);
  if (!Array.isArray(goesOn)) say(`${place}.goesOn`, "must be a list");
  else
    for (const [i, next] of goesOn.entries())
      if (isObject(next)) checkTurn(next, `${place}.goesOn[${i + 1}]`, say);
      else say(`${place}.goesOn[${i + 1}]`, "must be an object");
}

function checkTurn(turn: Fields, place: string, say: Say): void {
  noOthers(turn, place, ["steps", "end"], say);
  const { steps = [], end } = turn;
  if (!Array.isArray(steps)) say(`${place}.steps`, "must be a list");
  else for (const [i, step] of steps.entries()) checkStep(step, `${place}.steps[${i + 1}]`, say);
  checkEnd(end, `${place}.end`, say);
}

function checkEnd(end: unknown, place: string, say: Say): void {
  if (end === "done") return;
  const call = isObject(end) ? (end["spawn"] ?? end["ask"]) : undefined;
  if (call !== undefined && isObject(call)) return;
  if (isObject(end) && end["answer"] !== undefined) checkText(end["answer"], `${place}.answer`, say);
  else if (!isObject(end) || end["handoff"] === undefined) checkFault(end, place, say, OF_WORK);
  else if (!isObject(end["handoff"])) say(`${place}.handoff`, "must be an object");
}

const OF_WORK = '{"handoff": …}, {"answer": "…"}, {"spawn": {…}}, {"ask": {…}}, "done", ';

function checkFault(end: unknown, place: string, say: Say, others = ""): void {
  if (typeof end === "string" && FAULTS.has(end)) return;
  if (isObject(end) && Number.isInteger(end["exit"]) && Number(end["exit"]) >= 0 && Number(end["exit"]) < 256)
    return;
  say(place, `must be ${others}"crash", "hang", "outage", "silent" or {"exit": 0 to 255}`);
}

const FAULTS: ReadonlySet<string> = new Set(["crash", "hang", "outage", "silent"]);

type Check = (value: unknown, place: string, say: Say) => void;

/** The fields of each step, besides `do`. */
const STEPS: ReadonlyMap<unknown, Readonly<Record<string, Check>>> = new Map<
  Step["do"],
  Readonly<Record<string, Check>>
>([
  ["write", { path: checkPath, text: checkText }],
  ["append", { path: checkPath, text: checkText }],
  ["replace", { path: checkPath, find: checkSome, with: checkText }],
  ["insert", { path: checkPath, after: checkSome, text: checkText }],
  ["delete", { path: checkPath }],
  ["rename", { path: checkPath, to: checkPath }],
  ["run", { command: checkCommand }],
  ["wait", { ms: checkMs }],
  ["await", { task: checkSome, until: checkUntil, attempt: checkAttemptNumber, ms: checkMs }],
  ["say", { text: checkText }],
  ["output", { text: checkText }],
  ["commit", { message: checkSome }],
]);

function checkStep(step: unknown, place: string, say: Say): void {
  const fields = isObject(step) ? STEPS.get(step["do"]) : undefined;
  if (!isObject(step)) say(place, "must be an object");
  else if (!fields) say(`${place}.do`, `must be one of ${[...STEPS.keys()].join(", ")}`);
  else {
    noOthers(step, place, ["do", ...Object.keys(fields)], say);
    for (const [key, check] of Object.entries(fields)) check(step[key], `${place}.${key}`, say);
  }
}

function noOthers(value: Fields, place: string, known: readonly string[], say: Say): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key))
      say(place, `has "${key}", which means nothing here; known: ${known.join(", ")}`);
  }
}

function checkText(value: unknown, place: string, say: Say): void {
  if (typeof value !== "string") say(place, "must be text");
}

function checkSome(value: unknown, place: string, say: Say): void {
  if (typeof value !== "string" || value === "") say(place, "must be text that is not empty");
}

function checkUntil(value: unknown, place: string, say: Say): void {
  if (value !== "ready" && value !== "landed") say(place, 'must be "ready" or "landed"');
}

function checkAttemptNumber(value: unknown, place: string, say: Say): void {
  const isNumber = value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1);
  if (!isNumber) say(place, "must be the number of an attempt, from 1");
}

/** A day: longer than any wait that a script means. */
const MAX_MS = 86_400_000;

function checkMs(value: unknown, place: string, say: Say): void {
  if (typeof value !== "number" || !(value >= 0 && value <= MAX_MS)) say(place, "must be a number of ms");
}

function checkCommand(value: unknown, place: string, say: Say): void {
  const isCommand = Array.isArray(value) && value.length > 0 && value.every((x) => typeof x === "string");
  if (!isCommand) say(place, "must be a list: the program and its arguments");
}

/** A script stays in the workspace, and out of git's own folder. */
function checkPath(value: unknown, place: string, say: Say): void {
  const parts = typeof value === "string" ? value.split("/") : [""];
  const isInside = parts.every(
    (part) => part !== "" && part !== "." && part !== ".." && part.toLowerCase() !== ".git",
  );
  if (!isInside || /[\0\\]/.test(String(value)))
    say(place, "must be a path inside the workspace, like src/a.js");
}
