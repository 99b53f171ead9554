/** Finds the part of a model's text that is the plan, and whether it is complete. */
import { findJson, type Json, type JsonList, type JsonObject, placeOf } from "../../text/json-salvage.ts";

/** The part of the text taken for the answer, before its fields are read. */
export type PlanDraft = {
  readonly is: "draft";
  readonly fields: JsonObject;
  readonly tasks: JsonList;
  /** The text ended before the answer did: unfinished values are left out. */
  readonly isCut: boolean;
  readonly notes: readonly string[];
};

type NoPlan = { readonly is: "unreadable" | "invalid"; readonly reasons: readonly string[] };

/**
 * The last complete answer, else the complete tasks of an answer that was cut off, else a bare list of tasks.
 *
 * An empty plan ends a planner's work, so it counts only if the rest of the text is prose and fences. Otherwise it may
 * be the prompt's example, quoted before a real answer in an unexpected form.
 */
export function findDraft(text: string): PlanDraft | NoPlan {
  const survey = surveyOf(text);
  const { answers, lists, cut, broken } = survey;
  const last = answers.findLast(tasksOf) ?? answers.at(-1);
  if (last !== undefined && plansSomething(last)) {
    return draftOf(last, tasksOf(last)!, cut?.answer || broken ? OTHERS_LEFT_OUT : undefined);
  }
  if (cut?.answer) {
    const draft = cutDraft(cut.answer, tasksOf(cut.answer) ?? [], cut.open);
    if (draft.tasks.length > 0) return draft;
  }
  if (broken)
    return unreadable(`the answer is not JSON at ${placeOf(text, broken.at)}: ${broken.why}; ${SEND_ONLY}`);
  if (last !== undefined) return emptyDraft(last, survey);
  const list = lists.at(-1);
  if (list) return draftOf(new Map(), list, ONLY_A_LIST);
  if (cut?.list) {
    const draft = cutDraft(new Map(), cut.list, cut.open);
    if (draft.tasks.length > 0) return draft;
  }
  return nothingFound(text, survey);
}

const OTHERS_LEFT_OUT = "one answer was complete and another was not; the complete one is used";
const ONLY_A_LIST = "only a list of tasks was found; all other fields count as missing";
const NO_TASKS = 'the answer has no list "tasks"; send "tasks": [] if there are none';

const SEND_ONLY = "send only the complete answer, and nothing else in brackets";

const unreadable = (reason: string): NoPlan => ({ is: "unreadable", reasons: [reason] });
const invalid = (reason: string): NoPlan => ({ is: "invalid", reasons: [reason] });

function emptyDraft(answer: JsonObject, survey: Survey): PlanDraft | NoPlan {
  const { answers, lists, cut } = survey;
  if (cut) return unreadable(`the text ends in the middle of an answer; ${SEND_ONLY}, with fewer tasks`);
  if (lists.length > 0 || answers.some(plansSomething)) {
    return invalid(`there are several answers, the last without tasks; ${SEND_ONLY}`);
  }
  const tasks = tasksOf(answer);
  if (tasks === undefined) return invalid(NO_TASKS);
  if (!isAlone(answer, survey)) return invalid(`there is more than an answer without tasks; ${SEND_ONLY}`);
  if (answer.has("error")) return unreadable(`an answer without tasks reports an error; ${SEND_ONLY}`);
  return draftOf(answer, tasks);
}

/** True if the text holds nothing else in brackets, except one pair around the answer. */
const isAlone = (answer: JsonObject, { pieces, whole }: Survey) =>
  pieces === 1 && whole !== undefined && (whole === answer || [...whole.values()].length === 1);

function nothingFound(text: string, { cut, hasObject }: Survey): NoPlan {
  if (cut) return unreadable("the text ends before any task is complete; send it whole, with fewer tasks");
  if (hasObject) return invalid(NO_TASKS);
  const found = text.trim() === "" ? "the answer is empty" : "no JSON object was found in the answer";
  return unreadable(`${found}; it must be one JSON object with a list of tasks`);
}

const draftOf = (fields: JsonObject, tasks: JsonList, note?: string): PlanDraft => ({
  is: "draft",
  fields,
  tasks,
  isCut: false,
  notes: note === undefined ? [] : [note],
});

function cutDraft(fields: JsonObject, tasks: JsonList, open: readonly Json[]): PlanDraft {
  const isComplete = (value: Json) => !open.includes(value);
  const complete = tasks.filter(isComplete);
  return {
    is: "draft",
    fields: new Map([...fields].filter(([, value]) => isComplete(value))),
    tasks: complete,
    isCut: true,
    notes: [`the answer was cut off: its complete tasks (${complete.length}) are used, the rest was dropped`],
  };
}

/** Everything in a text that may be an answer. */
type Survey = {
  /** Complete objects that look like an answer, and complete lists that look like tasks. */
  readonly answers: JsonObject[];
  readonly lists: JsonList[];
  hasObject: boolean;
  /** How many objects and lists the text has, of any kind and also unfinished; and the last complete one. */
  pieces: number;
  whole?: JsonList | JsonObject;
  /** The unfinished value at the end of the text, and what in it looks like an answer or a list of tasks. */
  cut?: {
    readonly open: readonly Json[];
    readonly answer: JsonObject | undefined;
    readonly list: JsonList | undefined;
  };
  /** Where something that looked like an answer or a list of tasks stopped being valid JSON. */
  broken?: { readonly at: number; readonly why: string };
};

function surveyOf(text: string): Survey {
  const survey: Survey = { answers: [], lists: [], hasObject: false, pieces: 0 };
  for (const found of findJson(text)) {
    survey.pieces += 1;
    if (found.is === "whole") {
      survey.whole = found.value;
      addAnswersIn(found.value, survey.answers);
      if (looksLikeTasks(found.value)) survey.lists.push(found.value);
      if (isObject(found.value) || found.value.some(isObject)) survey.hasObject = true;
      continue;
    }
    const { open, at, why } = found;
    const answer = open.find(looksLikeAnswer);
    const list = open.find(looksLikeTasks);
    if (found.is === "cut") survey.cut = { open, answer, list };
    else if (answer ?? list) survey.broken = { at, why };
    if (answer === undefined && open[0] !== undefined) addAnswersIn(open[0], survey.answers);
  }
  return survey;
}

/** Adds the value itself, or the answer that it wraps one level deep: `{"plan": {…}}`, `[{…}]`. */
function addAnswersIn(value: JsonList | JsonObject, answers: JsonObject[]): void {
  if (looksLikeAnswer(value)) answers.push(value);
  else for (const inner of value.values()) if (looksLikeAnswer(inner)) answers.push(inner);
}

const isObject = (value: Json | undefined): value is JsonObject => value instanceof Map;

const looksLikeAnswer = (value: Json): value is JsonObject =>
  isObject(value) && (value.has("tasks") || value.has("scratchpad"));

/** Keys that show an object to be a task, besides its description. The id may be missing, because it can be made. */
const MARKS = ["id", "scope", "acceptance", "delivers"];

/** An empty list does not count as a list of tasks: prose is full of `[]`. */
function looksLikeTasks(value: Json): value is JsonList {
  const first = Array.isArray(value) ? (value as JsonList)[0] : undefined;
  return isObject(first) && first.has("description") && MARKS.some((key) => first.has(key));
}

function tasksOf(answer: JsonObject): JsonList | undefined {
  const tasks = answer.get("tasks");
  return Array.isArray(tasks) ? tasks : undefined;
}

const plansSomething = (answer: JsonObject) => (tasksOf(answer)?.length ?? 0) > 0;
