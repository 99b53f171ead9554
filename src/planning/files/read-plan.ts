/** Reads a plan file, and reports all its problems at once. */
import type * as z from "zod";

export type { PlanProblem } from "./place.ts";

import { LineCounter, parseDocument } from "yaml";
import type { Delivers } from "../../core/task.ts";
import { isRecord } from "../../text/json.ts";
import { orderFindings } from "../lint/order.ts";
import {
  type ExecutionPlan,
  GENERAL_PURPOSE,
  PLAN_FORMAT,
  type PlanTask,
  type Question,
  SCRATCHPAD,
} from "../plan.ts";
import { wavesOf } from "../waves.ts";
import { activeFormOf, isReadingVerb, isVerb, subjectOf } from "../wording.ts";
import { type NamedFields, namedPlan, namedTask } from "./field-names.ts";
import { outputNameIn } from "./output-name.ts";
import { MAX_TASKS, type PlanProblem, Report } from "./place.ts";
import { planSchema, taskSchema } from "./schema.ts";

export type ReadPlanOptions = {
  /** Absolute paths in this folder also count as output files of the plan. */
  readonly scratchpad?: string;
  /** Used if the plan does not say how many agents work at once. */
  readonly maxConcurrent?: number;
  /** Names of agents that change nothing: their tasks without a scope deliver reports. */
  readonly readOnlyAgents?: readonly string[];
};

export type ReadPlan =
  /** `notes`: what was derived, mapped or not read, in words for people. */
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly notes: readonly string[] }
  | { readonly is: "broken"; readonly problems: readonly PlanProblem[] };

/** Never throws. `lintPlan` checks whether the plan is a good one. */
export function readPlan(text: string, options: ReadPlanOptions = {}): ReadPlan {
  const parsed = parseText(text);
  return "problem" in parsed ? broken(parsed.problem) : readValue(parsed.value, options);
}

const broken = (message: string, next?: string): ReadPlan => ({
  is: "broken",
  problems: [{ place: "", message, ...(next !== undefined && { next }) }],
});

export function readValue(value: unknown, options: ReadPlanOptions = {}): ReadPlan {
  const report = new Report();
  const whole = planIn(value, report);
  if (whole === undefined)
    return broken("a plan is an object with a list of tasks, or such a list", 'write {"tasks": […]}');
  const read = readTasks(whole, options, report);
  const frame = readFrame(whole, read, options, report);
  if (read.length === 0 && frame.questions.length === 0 && !report.isBroken)
    report.refuse(whole.placeOf("tasks"), "there are no tasks", "name at least one");
  const tasks = withWaves(read, report);
  if (!report.isBroken) return { is: "plan", plan: { ...frame, tasks }, notes: report.notes() };
  // If an id is missing, every task that names it would be reported too.
  const faults = tasks.every(({ id }) => id !== "") ? orderFindings(tasks) : [];
  return {
    is: "broken",
    problems: [...report.problems(), ...faults.map(({ level: _level, ...fault }) => fault)],
  };
}

function planIn(value: unknown, report: Report): NamedFields | undefined {
  if (Array.isArray(value)) {
    report.note("", "only a list of tasks was found; everything else was derived");
    return namedPlan("", { tasks: value }, report);
  }
  if (!isRecord(value)) return undefined;
  const inner = Object.hasOwn(value, "plan") ? value["plan"] : undefined;
  const isWrapped = !Object.hasOwn(value, "tasks") && isRecord(inner);
  return isWrapped ? namedPlan("plan", inner, report) : namedPlan("", value, report);
}

/** Leaves out fields that are refused and reads the others, so that all problems are reported at once. */
function readFields<T extends z.ZodObject>(
  schema: T,
  named: NamedFields,
  report: Report,
): Partial<z.output<T>> {
  const read = schema.safeParse(named.fields);
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues)
    report.refuse(placeIn(named, path), message.startsWith("Invalid input") ? "is missing" : message);
  const refused = new Set(read.error.issues.map(({ path }) => path[0]));
  const rest = Object.fromEntries(Object.entries(named.fields).filter(([field]) => !refused.has(field)));
  return schema.partial().safeParse(rest).data as Partial<z.output<T>>;
}

/** A place such as `metadata.output_file` or `scope[2]`, with the names as written; a text has no parts. */
function placeIn({ fields, placeOf }: NamedFields, [field, ...inner]: readonly PropertyKey[]): string {
  let place = placeOf(String(field));
  let value = fields[String(field)];
  for (const part of inner) {
    if (typeof value !== "object" || value === null) break;
    place += typeof part === "number" ? `[${part}]` : `.${String(part)}`;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return place;
}

const DEFAULT_CONCURRENT = 8;

function readFrame(
  named: NamedFields,
  tasks: readonly ReadTask[],
  { maxConcurrent = DEFAULT_CONCURRENT }: ReadPlanOptions,
  report: Report,
): Omit<ExecutionPlan, "tasks"> {
  const read = readFields(planSchema, named, report);
  const [first = "", ...more] = tasks.map(({ rest }) => rest.subject);
  const derived =
    more.length === 0 ? first : `${first}, and ${more.length} more ${more.length === 1 ? "task" : "tasks"}`;
  const { files = [], patterns = [], tests = [] } = read.context ?? {};
  return {
    skein_plan: PLAN_FORMAT,
    goal: read.goal || derived,
    planner: read.planner ?? "file",
    max_concurrent: read.max_concurrent ?? maxConcurrent,
    ...(read.score && { score: read.score }),
    success_criteria: read.success_criteria ?? [],
    assumptions: read.assumptions ?? [],
    questions: questionsOf(read.questions ?? [], named, report),
    context: { files, patterns, tests },
    risks: read.risks ?? [],
    ...(read.coverage && read.coverage.length > 0 && { coverage: read.coverage }),
    ...(read.not_covered && read.not_covered.length > 0 && { not_covered: read.not_covered }),
  };
}

type WrittenQuestion = NonNullable<z.output<typeof planSchema>["questions"]>[number];

function questionsOf(
  all: readonly WrittenQuestion[],
  named: NamedFields,
  report: Report,
): readonly Question[] {
  const ids = new Set<string>();
  return all.map((written, index) => {
    const { id = `q${index + 1}`, question, default: taken = "", blocking = false } = written;
    if (ids.has(id))
      report.refuse(
        `${named.placeOf("questions")}[${index}].id`,
        `two questions have the id "${id}"`,
        "give each its own",
      );
    ids.add(id);
    return { id, question, default: taken, blocking };
  });
}

/** A task before its wave is known, which depends on all tasks. */
type ReadTask = {
  readonly named: NamedFields;
  /** Empty if the id was refused. */
  readonly id: string;
  readonly blockedBy: readonly string[];
  readonly rest: Omit<PlanTask, "id" | "blockedBy" | "metadata">;
  readonly metadata: Omit<PlanTask["metadata"], "wave" | "phase_id" | "parallel">;
};
type TaskFields = Partial<z.output<typeof taskSchema>> & { readonly named: NamedFields };

function readTasks(plan: NamedFields, options: ReadPlanOptions, report: Report): readonly ReadTask[] {
  const at = plan.placeOf("tasks");
  const { tasks: list = [] } = plan.fields;
  if (!Array.isArray(list)) report.refuse(at, "must be a list");
  else if (list.length > MAX_TASKS)
    report.refuse(at, `there are ${list.length} tasks; at most ${MAX_TASKS} are read`, "split the plan");
  else {
    const named = list.flatMap((task: unknown, index) => {
      if (isRecord(task)) return [namedTask(`${at}[${index}]`, task, report)];
      report.refuse(
        `${at}[${index}]`,
        "is not an object",
        "write subject, description and what else it needs",
      );
      return [];
    });
    const read = named.map((one): TaskFields => ({ named: one, ...readFields(taskSchema, one, report) }));
    return withIds(read, report).map((one) => readTask(one, options, report));
  }
  return [];
}

type WithId = TaskFields & { readonly id: string };

/** `phase_id` is an id too. A task without either gets its number in the list, or the next free number. */
function withIds(tasks: readonly TaskFields[], report: Report): readonly WithId[] {
  const taken = new Set(tasks.map(({ id, phase_id }) => id ?? phase_id));
  let next = 0;
  return tasks.map((task, index) => {
    const { id, phase_id, named } = task;
    if (id !== undefined && phase_id !== undefined && id !== phase_id)
      report.note(named.placeOf("phase_id"), "was not read: the id says it already, and otherwise");
    const written = id ?? phase_id;
    if (written !== undefined) return { ...task, id: written };
    if (Object.hasOwn(named.fields, "id") || Object.hasOwn(named.fields, "phase_id"))
      return { ...task, id: "" };
    next = Math.max(next, index);
    do next += 1;
    while (taken.has(`${next}`));
    return { ...task, id: `${next}` };
  });
}

const MAX_MADE_SUBJECT_CHARS = 80;
/** Used if the caller does not name the read-only agents. */
const READ_ONLY_AGENTS = ["Explore", "codebase-context-analyzer"];

function readTask(task: WithId, options: ReadPlanOptions, report: Report): ReadTask {
  const { named, id, scope = [], agent = GENERAL_PURPOSE, estimate } = task;
  const isSaid = Object.hasOwn(named.fields, "subject") || Object.hasOwn(named.fields, "description");
  if (!isSaid) report.refuse(named.path, "has no subject and no description", "say what should be done");
  const subject = task.subject ?? titleOf(task.description ?? "");
  const isReader = (options.readOnlyAgents ?? READ_ONLY_AGENTS).includes(agent);
  const derived: Delivers = scope.length === 0 && (isReader || isReadingVerb(subject)) ? "report" : "change";
  const output = outputOf(task, options, report);
  return {
    named,
    id,
    blockedBy: task.blockedBy ?? [],
    rest: {
      subject,
      description: task.description ?? subject,
      activeForm: task.activeForm ?? activeFormOf(subject, isVerb(subject)),
      scope,
      reads: task.reads ?? [],
      delivers: task.delivers ?? derived,
      requirements: task.requirements ?? [],
      ...(task.success_criterion !== undefined && { success_criterion: task.success_criterion }),
      ...(task.priority !== undefined && { priority: task.priority }),
      ...(task.branch !== undefined && { branch: task.branch }),
      ...(task.needs !== undefined && task.needs.length > 0 && { needs: task.needs }),
      ...(estimate && { estimate: estimate as NonNullable<PlanTask["estimate"]> }),
    },
    metadata: {
      agent,
      depth: task.depth ?? 1,
      ...(task.parent_id !== undefined && { parent_id: task.parent_id }),
      ...(output !== undefined && { output_file: output }),
    },
  };
}

/** The first sentence of the first line. */
function titleOf(description: string): string {
  const [first = ""] = description.split("\n", 1);
  const stop = /[.!?](?=\s)/.exec(first);
  return subjectOf(stop ? first.slice(0, stop.index) : first, MAX_MADE_SUBJECT_CHARS) || "Task";
}

function outputOf(
  { output_file, named }: TaskFields,
  { scratchpad }: ReadPlanOptions,
  report: Report,
): string | undefined {
  if (output_file === undefined) return undefined;
  const found = outputNameIn(output_file, scratchpad);
  if ("name" in found) return `${SCRATCHPAD}/${found.name}`;
  report.refuse(named.placeOf("output_file"), found.problem, found.next);
  return undefined;
}

/** Derives the waves from the dependencies; waves in the file are only compared with them. */
function withWaves(read: readonly ReadTask[], report: Report): readonly PlanTask[] {
  const waves = wavesOf(read);
  const waveOf = ({ id }: ReadTask) => (waves.is === "waves" ? waves.byId.get(id)! : 0);
  const sizes = Map.groupBy(read, waveOf);
  return read.map((task) => {
    const { id, blockedBy, rest, metadata, named } = task;
    const wave = waveOf(task);
    const derived = { wave, parallel: sizes.get(wave)!.length > 1 };
    for (const field of ["wave", "parallel"] as const) {
      const isOther = Object.hasOwn(named.fields, field) && named.fields[field] !== derived[field];
      if (isOther && waves.is === "waves")
        report.note(named.placeOf(field), `is ${derived[field]} by the dependencies, whatever was written`);
    }
    return { id, blockedBy, ...rest, metadata: { ...metadata, ...derived, phase_id: id } };
  });
}

/** The value of a plan file: JSON, or YAML of the same value. A problem has its line and column. */
type ParsedText = { readonly value: unknown } | { readonly problem: string };

/** More than any plan that a person or a model wrote. */
const MAX_CHARS = 5_000_000;
/** The YAML parser is a thousand times slower than JSON's, and compares every two keys of an object. */
const MAX_YAML_CHARS = 100_000;

/** Never throws. */
function parseText(written: string): ParsedText {
  if (written.length > MAX_CHARS)
    return { problem: `the text is longer than ${MAX_CHARS / 1_000_000} million characters` };
  const text = written.startsWith("\uFEFF") ? written.slice(1) : written;
  try {
    const value: unknown = JSON.parse(text);
    return hasDoubledKey(text, value) ? parseYaml(text, "a key stands twice in one object") : { value };
  } catch (error) {
    return parseYaml(text, error instanceof Error ? error.message : "it cannot be parsed");
  }
}

function parseYaml(text: string, why: string): ParsedText {
  if (text.trim() === "") return { problem: "the text is empty" };
  if (text.length > MAX_YAML_CHARS) return { problem: `the plan is not JSON: ${why.slice(0, 200)}` };
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
    const [error] = document.errors;
    if (error === undefined) return { value: document.toJS() };
    const { line, col } = lines.linePos(error.pos[0]);
    return { problem: `the plan is not JSON: line ${line}, column ${col}: ${error.message}` };
  } catch {
    return { problem: "the plan is not JSON: it is nested too deeply, or repeats itself by aliases" };
  }
}

/** JSON.parse keeps the last of two equal keys, so the text then has more keys than the value. */
function hasDoubledKey(text: string, value: unknown): boolean {
  // Every string is matched as a whole: a match that could fail would start again at every quote inside it.
  let inText = 0;
  for (const [, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)) if (colon) inText += 1;
  let inValue = 0;
  const open = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== "object" || one === null) continue;
    if (!Array.isArray(one)) inValue += Object.keys(one).length;
    for (const inner of Object.values(one)) open.push(inner);
  }
  return inText > inValue;
}
