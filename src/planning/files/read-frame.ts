/** What does a plan file say around its tasks: goal, criteria, questions, context, score? */

import { type ExecutionPlan, PLAN_FORMAT, type Question, type Score } from "../plan.ts";
import { type Fields, type Found, foundIn, isFields, placeIn, type Report } from "./place.ts";
import { anyLineOf, lineOf, linesOf, listOf, MAX_TEXT_CHARS, wholeOf } from "./read-value.ts";

type Framed = Omit<ExecutionPlan, "tasks">;
export type Frame = { readonly path: string; readonly fields: Fields };
type Around = { readonly maxConcurrent?: number; readonly subjects: readonly string[] };

/** Ours first. */
const NAMES = {
  skein_plan: ["skein_plan"],
  goal: ["goal", "objective"],
  planner: ["planner"],
  max_concurrent: ["max_concurrent", "maxConcurrent"],
  score: ["score"],
  success_criteria: ["success_criteria", "successCriteria", "acceptance"],
  assumptions: ["assumptions"],
  questions: ["questions"],
  context: ["context"],
  tasks: ["tasks"],
  risks: ["risks"],
} as const;

const KNOWN: ReadonlySet<string> = new Set(Object.values(NAMES).flat());

export function readFrame(frame: Frame, around: Around, report: Report): Framed {
  report.noteUnknown(frame.fields, frame.path, KNOWN);
  readFormat(frame, report);
  const score = readScore(frame, report);
  const linesFor = (name: keyof typeof NAMES) => {
    const found = find(frame, name, report);
    return found ? linesOf(found, report) : [];
  };
  return {
    skein_plan: PLAN_FORMAT,
    goal: readGoal(frame, around, report),
    planner: readPlanner(frame, report),
    max_concurrent: readMaxConcurrent(frame, around, report),
    ...(score && { score }),
    success_criteria: linesFor("success_criteria"),
    assumptions: linesFor("assumptions"),
    questions: readQuestions(frame, report),
    context: readContext(frame, report),
    risks: linesFor("risks"),
  };
}

function find({ fields, path }: Frame, name: keyof typeof NAMES, report: Report): Found | undefined {
  for (const written of NAMES[name]) {
    const found = foundIn(fields, path, written);
    if (found && written !== name) report.note(found.at, `was read as ${name}`);
    if (found) return found;
  }
  return undefined;
}

function readFormat(frame: Frame, report: Report): void {
  const found = find(frame, "skein_plan", report);
  if (found && found.value !== PLAN_FORMAT)
    report.refuse(
      found.at,
      `must be ${PLAN_FORMAT}: no other format is known here`,
      "use a newer Skein, or write 1",
    );
}

function readGoal(frame: Frame, { subjects }: Around, report: Report): string {
  const found = find(frame, "goal", report);
  const written = found ? anyLineOf(found, report, MAX_TEXT_CHARS) : "";
  if (written !== "") return written;
  const [first = "", ...more] = subjects;
  if (more.length === 0) return first;
  return `${first}, and ${more.length} more ${more.length === 1 ? "task" : "tasks"}`;
}

const MAX_NAME_CHARS = 200;

function readPlanner(frame: Frame, report: Report): string {
  const found = find(frame, "planner", report);
  return found ? lineOf(found, report, MAX_NAME_CHARS) : "file";
}

const DEFAULT_CONCURRENT = 8;
/** More agents than any machine or account bears. */
const MAX_CONCURRENT = 10_000;

function readMaxConcurrent(
  frame: Frame,
  { maxConcurrent = DEFAULT_CONCURRENT }: Around,
  report: Report,
): number {
  const found = find(frame, "max_concurrent", report);
  return (found && wholeOf(found, [1, MAX_CONCURRENT], report)) ?? maxConcurrent;
}

const PARTS = ["verbs", "connectors", "domain", "scope", "risk", "total"] as const;
const TIERS = [1, 2, 3] as const;
/** More than any part of a request's score, and than all of them. */
const MAX_SCORE = 1_000_000;

function readScore(frame: Frame, report: Report): Score | undefined {
  const found = find(frame, "score", report);
  if (found === undefined) return undefined;
  const { at, value } = found;
  if (!isFields(value)) {
    report.refuse(at, "must be an object", "leave it out if nobody scored the request");
    return undefined;
  }
  report.noteUnknown(value, at, new Set([...PARTS, "tier", "min_depth"]));
  const part = (key: (typeof PARTS)[number]) => wholeOf(partOf(value, at, key), [0, MAX_SCORE], report) ?? 0;
  const tier = (key: "tier" | "min_depth") => {
    const written = wholeOf(partOf(value, at, key), [1, 3], report);
    return TIERS.find((one) => one === written) ?? 1;
  };
  return {
    verbs: part("verbs"),
    connectors: part("connectors"),
    domain: part("domain"),
    scope: part("scope"),
    risk: part("risk"),
    total: part("total"),
    tier: tier("tier"),
    min_depth: tier("min_depth"),
  };
}

const partOf = (fields: Fields, at: string, key: string): Found =>
  foundIn(fields, at, key) ?? { at: placeIn(at, key), value: undefined };

function readQuestions(frame: Frame, report: Report): readonly Question[] {
  const found = find(frame, "questions", report);
  if (found === undefined) return [];
  const ids = new Set<string>();
  return listOf(found, report).flatMap((value, index) => {
    const question = readQuestion({ at: `${found.at}[${index}]`, value }, index, report);
    if (question && ids.has(question.id))
      report.refuse(
        `${found.at}[${index}].id`,
        `two questions have the id "${question.id}"`,
        "give each its own",
      );
    if (question) ids.add(question.id);
    return question ? [question] : [];
  });
}

/** A text alone is a question that blocks: nobody wrote what is taken without an answer. */
function readQuestion({ at, value }: Found, index: number, report: Report): Question | undefined {
  const number = `q${index + 1}`;
  if (typeof value === "string")
    return { id: number, question: lineOf({ at, value }, report), default: "", blocking: true };
  if (!isFields(value)) {
    report.refuse(at, "must be an object with a question");
    return undefined;
  }
  report.noteUnknown(value, at, new Set(["id", "question", "default", "blocking"]));
  const id = foundIn(value, at, "id");
  const taken = foundIn(value, at, "default");
  const blocking = foundIn(value, at, "blocking");
  if (blocking && typeof blocking.value !== "boolean") report.refuse(blocking.at, "must be true or false");
  return {
    id: id ? lineOf(id, report, MAX_NAME_CHARS) : number,
    question: lineOf(partOf(value, at, "question"), report),
    default: taken ? anyLineOf(taken, report) : "",
    blocking: blocking?.value === true,
  };
}

const CONTEXT = ["files", "patterns", "tests"] as const;

function readContext(frame: Frame, report: Report): ExecutionPlan["context"] {
  const found = find(frame, "context", report);
  const fields = found && isFields(found.value) ? found.value : {};
  if (found && !isFields(found.value))
    report.refuse(found.at, `must be an object with ${CONTEXT.join(", ")}`);
  if (found) report.noteUnknown(fields, found.at, new Set(CONTEXT));
  const linesIn = (key: (typeof CONTEXT)[number]) => {
    const list = found && foundIn(fields, found.at, key);
    return list ? linesOf(list, report) : [];
  };
  return { files: linesIn("files"), patterns: linesIn("patterns"), tests: linesIn("tests") };
}
