/** Reads a planner's answer: tolerant of a model's text, strict about its fields, with reasons the model can act on. */
import type { Json, JsonList, JsonObject } from "../../text/json-salvage.ts";
import { Lines, quoted } from "../../text/lines.ts";
import { freshSlugs, slugOf } from "../../text/slug.ts";
import { ANSWER_LIMITS, type AnswerLimits } from "../rules/policy.ts";
import { readPath, type Scope } from "../scope.ts";
import { type Delivers, LABEL, MAX_LABELS, type TaskSize, type Terms } from "../task.ts";
import { findDraft, type PlanDraft } from "./plan-draft.ts";

export type AnsweredTask = {
  /** The planner's own name for the task; made from the description if it gave none. */
  readonly id: string;
  readonly isIdMade?: true;
  readonly description: string;
  readonly scope: Scope;
  readonly acceptance: string;
  /** Its parent's priority unless stated: the parts of an urgent task are urgent. */
  readonly priority?: number;
  readonly after: readonly string[];
  readonly delivers: Delivers;
  readonly agent?: string;
  /** Labels that the task's machine must have. */
  readonly needs?: readonly string[];
  readonly size?: TaskSize;
  /** Always a slug, whatever the planner wrote. */
  readonly branch?: string;
  /** Never read from a planner's answer, because terms name commands. */
  readonly terms?: Terms;
};

export type Deferral = { readonly files: Scope; readonly reason: string };

/**
 * A concern that the planner has dealt with. If it is about something undone: the task that took its place (`by`), or
 * why none did (`because`).
 */
export type Addressing = { readonly concern: string; readonly by?: string; readonly because?: string };

export type PlanAnswer = {
  readonly scratchpad: string;
  readonly tasks: readonly AnsweredTask[];
  readonly deferred: readonly Deferral[];
  readonly addressed: readonly Addressing[];
  /** What the planner said itself; undefined if it said nothing. */
  readonly done: boolean | undefined;
  /** What was corrected while reading, in words for the planner. */
  readonly notes: readonly string[];
};

type ReadAnswer =
  | { readonly is: "answer"; readonly answer: PlanAnswer }
  /** The text holds no answer, or one too broken or too short to say what was meant. */
  | { readonly is: "unreadable"; readonly reasons: readonly string[] }
  /** There is an answer, but it breaks the rules. */
  | { readonly is: "invalid"; readonly reasons: readonly string[] };

/**
 * Never throws, and takes time in proportion to the text. A text that was cut off yields its complete tasks. If it was
 * cut off before the first complete task, it is unreadable, because an empty plan would mean that all is done.
 *
 * ```ts
 * readPlanAnswer('Here it is: {"scratchpad": "atomic", "tasks": []}'); // { is: "answer", … }
 * readPlanAnswer('{"scratchpad": "first the parser", "tasks": ['); // { is: "unreadable", … }
 * ```
 */
export function readPlanAnswer(text: string, limits: AnswerLimits = ANSWER_LIMITS): ReadAnswer {
  if (text.length > limits.maxChars) {
    const reason = `the answer is longer than ${limits.maxChars} characters; send fewer tasks at once`;
    return { is: "unreadable", reasons: [reason] };
  }
  const draft = findDraft(text);
  return draft.is === "draft" ? readDraft(draft, limits) : draft;
}

function readDraft(draft: PlanDraft, limits: AnswerLimits): ReadAnswer {
  const notes = new Lines();
  const reasons = new Lines();
  for (const note of draft.notes) notes.add(note);
  const whole: Place = { label: "the answer", fields: draft.fields, notes, reasons, limits };
  const answer = {
    scratchpad: readScratchpad(whole),
    tasks: readTasks(whole, draft.tasks),
    deferred: readDeferred(whole),
    addressed: readAddressed(whole),
    done: draft.isCut ? undefined : readDone(whole),
  };
  if (!reasons.isEmpty) return { is: "invalid", reasons: reasons.all() };
  return { is: "answer", answer: { ...answer, notes: notes.all() } };
}

type Place = {
  readonly label: string;
  readonly fields: JsonObject;
  readonly reasons: Lines;
  readonly notes: Lines;
  readonly limits: AnswerLimits;
};

const refuse = ({ reasons, label }: Place, key: string, why: string): void =>
  reasons.add(`${label}: "${key}" ${why}`);

const note = ({ notes, label }: Place, key: string, what: string): void =>
  notes.add(`${label}: "${key}" ${what}`);

const get = ({ fields }: Place, key: string): Json => fields.get(key) ?? null;

function readTasks(whole: Place, tasks: JsonList): readonly AnsweredTask[] {
  const { maxTasks } = whole.limits;
  if (tasks.length > maxTasks) {
    refuse(whole, "tasks", `has ${tasks.length} tasks; at most ${maxTasks} are read`);
    return [];
  }
  const places = placesIn(whole, tasks, "task");
  const read = places.map(readTask);
  const ids = new Set<string>();
  for (const { id } of read) {
    if (ids.has(id)) whole.reasons.add(`two tasks have the id ${quoted(id)}; give each its own`);
    if (id !== "") ids.add(id);
  }
  const fresh = freshSlugs(ids);
  return read.map((task, i) => (get(places[i]!, "id") === null ? withMadeId(task, places[i]!, fresh) : task));
}

/** A task without an id gets one made from its description. */
function withMadeId(task: AnsweredTask, place: Place, fresh: (text: string) => string): AnsweredTask {
  const id = fresh(task.description);
  note(place, "id", `is missing; the task is called ${quoted(id)}`);
  return { ...task, id, isIdMade: true };
}

/** The objects of a list, each labelled for messages: with its id if it has one, else with its number. */
function placesIn(whole: Place, items: JsonList, noun: string): Place[] {
  return items.flatMap((fields, index) => {
    const number = `${noun} ${index + 1}`;
    if (!(fields instanceof Map)) {
      whole.reasons.add(`${number} is not an object`);
      return [];
    }
    const id = fields.get("id");
    const label = typeof id === "string" && id !== "" ? `${noun} ${quoted(id)}` : number;
    return [{ ...whole, label, fields }];
  });
}

/** Reads the other fields even after one was refused, so that the planner gets all reasons at once. */
function readTask(place: Place): AnsweredTask {
  noteOtherNames(place);
  const delivers = readDelivers(place);
  const scope = readScope(place, "scope");
  if (delivers === "change" && scope.length === 0) {
    refuse(place, "scope", 'names nothing; name the files it may change, or say "delivers": "report"');
  }
  const agent = readAgent(place);
  const branch = readBranch(place);
  const size = readSize(place);
  const needs = readNeeds(place);
  return {
    id: readTaskId(place),
    description: readText(place, "description"),
    scope,
    acceptance: readText(place, "acceptance"),
    ...readPriority(place),
    after: readIds(place, "after", taskId),
    delivers,
    ...(agent !== undefined && { agent }),
    ...(needs !== undefined && { needs }),
    ...(size !== undefined && { size }),
    ...(branch !== undefined && { branch }),
  };
}

/** Tells a planner that its `dependencies` were not read: an intended order must not be lost silently. */
function noteOtherNames(place: Place): void {
  for (const key of ["dependencies", "dependsOn", "depends_on"]) {
    if (place.fields.has(key)) note(place, key, 'was not read; the tasks to wait for go in "after"');
  }
}

export const TASK_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const AGENT = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/** The id in the form in which it is kept, or undefined if it is not valid. Models write the number 1 for "1". */
function taskId(written: Json): string | undefined {
  const id = typeof written === "number" && Number.isSafeInteger(written) ? `${written}` : written;
  return typeof id === "string" && TASK_ID.test(id) ? id : undefined;
}

/** Concerns are numbered c1, c2, …; a bare number is read as the same. */
function concernId(written: Json): string | undefined {
  const id = taskId(written);
  return id !== undefined && /^\d+$/.test(id) ? `c${id}` : id;
}

function readTaskId(place: Place): string {
  const written = get(place, "id");
  const id = taskId(written);
  if (written === null) return "";
  if (id === undefined) {
    const rule = "up to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit";
    refuse(place, "id", `must be ${rule}`);
  } else if (typeof written === "number") note(place, "id", "was a number and is kept as text");
  return id ?? "";
}

function readIds(place: Place, key: string, read: (written: Json) => string | undefined): readonly string[] {
  const ids = new Set<string>();
  for (const written of readList(place, key)) {
    const id = read(written);
    if (id !== undefined) ids.add(id);
    else refuse(place, key, `contains ${shown(written)}, which is not a valid id`);
  }
  return [...ids];
}

function readList(place: Place, key: string): JsonList {
  const value = get(place, key);
  const { maxEntries } = place.limits;
  if (value === null) return [];
  if (!Array.isArray(value)) refuse(place, key, "must be a list");
  else if (value.length > maxEntries) refuse(place, key, `has more than ${maxEntries} entries`);
  else return value;
  return [];
}

const shown = (value: Json) =>
  typeof value === "string"
    ? quoted(value)
    : typeof value === "object"
      ? "something else than text"
      : `${value}`;

/**
 * Normalises the paths. A path that appears twice counts once, as a folder if one of the two was written as a folder.
 */
function readScope(place: Place, key: string): Scope {
  const paths = new Map<string, string>();
  for (const written of readList(place, key)) {
    const read =
      typeof written === "string" ? readPath(written) : { problem: `${shown(written)} is not a path` };
    if ("problem" in read) refuse(place, key, `cannot be used: ${read.problem}`);
    else if (read.path.endsWith("/")) paths.set(read.path.slice(0, -1), read.path);
    else if (!paths.has(read.path)) paths.set(read.path, read.path);
  }
  return [...paths.values()];
}

const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

function readText(place: Place, key: string): string {
  const value = get(place, key);
  const { maxTextChars } = place.limits;
  const isText =
    typeof value === "string" || (Array.isArray(value) && value.every((x) => typeof x === "string"));
  const text = isText ? plain(place, key, typeof value === "string" ? value : value.join("\n")).trim() : "";
  if (value === null) refuse(place, key, "is missing");
  else if (!isText) refuse(place, key, "must be text");
  else if (text.length > maxTextChars) refuse(place, key, `is longer than ${maxTextChars} characters`);
  else if (!SAYS_SOMETHING.test(text)) refuse(place, key, "says nothing");
  return text;
}

/**
 * Control characters except tab and line ends: a process argument cannot hold NUL, and a terminal obeys escape
 * sequences.
 */
const CONTROL = /[\p{Cc}--[\t\n\r]]/gv;

function plain(place: Place, key: string, text: string): string {
  const mended = text.toWellFormed().replace(CONTROL, "");
  if (mended !== text) note(place, key, "held control characters or half characters, which were removed");
  return mended;
}

const LEAST_URGENT = 10;

function readPriority(place: Place): Pick<AnsweredTask, "priority"> {
  const value = get(place, "priority");
  if (value === null) return {};
  const isNumeral = typeof value === "string" && /^\d{1,2}$/.test(value);
  const priority = isNumeral ? Number(value) : value;
  if (
    typeof priority === "number" &&
    Number.isInteger(priority) &&
    priority >= 1 &&
    priority <= LEAST_URGENT
  ) {
    if (isNumeral) note(place, "priority", "was text and is kept as a number");
    return { priority };
  }
  refuse(place, "priority", `must be a whole number from 1 (most urgent) to ${LEAST_URGENT}`);
  return {};
}

function readDelivers(place: Place): Delivers {
  const value = get(place, "delivers");
  if (value !== null && value !== "change" && value !== "report") {
    refuse(place, "delivers", 'must be "change" or "report"');
  }
  return value === "report" ? "report" : "change";
}

/** The size is only a hint: an unknown value is noted and left out. */
function readSize(place: Place): TaskSize | undefined {
  const value = get(place, "size");
  if (value === null || value === "complex" || value === "atomic") return value ?? undefined;
  note(place, "size", 'was not read: it is "complex" or "atomic"');
  return undefined;
}

function readAgent(place: Place): string | undefined {
  const value = get(place, "agent");
  if (value === null) return undefined;
  if (typeof value === "string" && AGENT.test(value)) return value;
  refuse(place, "agent", "must be the name of a specialist");
  return undefined;
}

/** Sorted and without duplicates, because equal needs must give the same queue name. */
function readNeeds(place: Place): readonly string[] | undefined {
  const value = get(place, "needs");
  if (value === null || (Array.isArray(value) && value.length === 0)) return undefined;
  const labels = Array.isArray(value) ? value : [value];
  if (labels.length <= MAX_LABELS && labels.every((one) => typeof one === "string" && LABEL.test(one)))
    return [...new Set(labels as string[])].sort();
  refuse(place, "needs", 'must be a list of labels of machines, such as ["gpu"]');
  return undefined;
}

/** The branch is only a hint for a name that Skein chooses: an unusable hint is no reason to refuse the task. */
function readBranch(place: Place): string | undefined {
  const value = get(place, "branch");
  if (typeof value !== "string") return undefined;
  const hint = value.slice(value.lastIndexOf("/") + 1);
  return /[A-Za-z0-9]/.test(hint) ? slugOf(hint) : undefined;
}

function readScratchpad(place: Place): string {
  const value = get(place, "scratchpad");
  const { maxScratchpadChars } = place.limits;
  if (value === null) return "";
  if (typeof value !== "string") {
    refuse(place, "scratchpad", "must be text");
    return "";
  }
  const text = plain(place, "scratchpad", value);
  if (text.length <= maxScratchpadChars) return text;
  note(place, "scratchpad", `was cut to its first ${maxScratchpadChars} characters; keep it short`);
  return text.slice(0, maxScratchpadChars).toWellFormed();
}

function readDeferred(whole: Place): readonly Deferral[] {
  return placesIn(whole, readList(whole, "deferred"), "deferral").map((place) => ({
    files: readScope(place, "files"),
    reason: readText(place, "reason"),
  }));
}

/** An entry is an id or an object. Entries about the same concern are merged. */
function readAddressed(whole: Place): readonly Addressing[] {
  const all = new Map<string, Addressing>();
  for (const [i, written] of readList(whole, "addressed").entries()) {
    const isObject = written instanceof Map;
    const place = { ...whole, label: `addressed ${i + 1}`, fields: isObject ? written : new Map() };
    const concern = concernId(isObject ? (get(place, "concern") ?? get(place, "id")) : written);
    if (concern === undefined && isObject)
      refuse(place, "concern", "must be the id of a concern, such as c1");
    else if (concern === undefined)
      refuse(whole, "addressed", `contains ${shown(written)}, which is not a valid id`);
    else all.set(concern, { ...all.get(concern), concern, ...readBy(place), ...readBecause(place) });
  }
  return [...all.values()];
}

function readBy(place: Place): Pick<Addressing, "by"> {
  const written = get(place, "by");
  const one = Array.isArray(written) && written.length === 1 ? written[0]! : written;
  if (one === null) return {};
  const by = taskId(one);
  if (by === undefined) refuse(place, "by", "must be the id of one of your tasks, and of one only");
  return by === undefined ? {} : { by };
}

/** A reason without a letter or digit counts as no reason. */
function readBecause(place: Place): Pick<Addressing, "because"> {
  const key = get(place, "because") === null ? "reason" : "because";
  const written = get(place, key);
  if (written === null || (typeof written === "string" && !SAYS_SOMETHING.test(written))) return {};
  const because = readText(place, key);
  return because === "" ? {} : { because };
}

function readDone(place: Place): boolean | undefined {
  const value = get(place, "done");
  if (value !== null && typeof value !== "boolean") refuse(place, "done", "must be true or false");
  return typeof value === "boolean" ? value : undefined;
}
