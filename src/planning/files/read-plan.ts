/** What does a plan file say? Read from any text, in our format or one like it, with every problem at once. */

import { orderFindings } from "../lint/order.ts";
import type { ExecutionPlan, PlanTask } from "../plan.ts";
import { wavesOf } from "../waves.ts";
import { doubledKeys } from "./doubled-keys.ts";
import { isUpdate, oneFor, type WrittenTask, writtenTask } from "./foreign-fields.ts";
import { jsonFault } from "./json-fault.ts";
import { foundIn, isFields, MAX_TASKS, type PlanProblem, placeIn, Report, valueIn } from "./place.ts";
import { type Frame, readFrame } from "./read-frame.ts";
import { type ReadTask, readTask, readUpdate, type TaskOptions, type Update } from "./read-task.ts";
import { listOf } from "./read-value.ts";

export type { PlanProblem } from "./place.ts";

export type ReadPlanOptions = {
  /** Absolute paths in it are a plan's output files, too. */
  readonly scratchpad?: string;
  /** Where the plan does not say how many agents work at once. */
  readonly maxConcurrent?: number;
  /** Names of agents that change nothing: without a scope, their tasks deliver reports. */
  readonly readOnlyAgents?: readonly string[];
};

export type ReadPlan =
  /** `notes`: what was derived, mapped or not read, in words for people. */
  | { readonly is: "plan"; readonly plan: ExecutionPlan; readonly notes: readonly string[] }
  | { readonly is: "broken"; readonly problems: readonly PlanProblem[] };

/** More than any plan that a person or a model wrote. */
const MAX_CHARS = 20_000_000;

/** Never throws, and takes time in proportion to the text. Whether the plan is a good one is for `lintPlan` to say. */
export function readPlan(text: string, options: ReadPlanOptions = {}): ReadPlan {
  if (text.length > MAX_CHARS)
    return broken(`the text is longer than ${MAX_CHARS / 1_000_000} million characters`);
  const parsed = parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  if ("problem" in parsed) return broken(parsed.problem);
  const read = readValue(parsed.value, options);
  const doubled = doubledKeys(text).map((place) => ({
    place,
    message: "stands twice",
    next: "keep one of them",
  }));
  if (doubled.length === 0) return read;
  return { is: "broken", problems: [...doubled, ...(read.is === "broken" ? read.problems : [])] };
}

const broken = (message: string, next?: string): ReadPlan => ({
  is: "broken",
  problems: [{ place: "", message, ...(next !== undefined && { next }) }],
});

function parse(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    const fault = jsonFault(text); // What was thrown names the place only sometimes, and in other words each time.
    const where = fault ? `: line ${fault.line}, column ${fault.column}: ${fault.why}` : "";
    return { problem: `the plan is not JSON${where}` };
  }
}

/** Read already: for those who have the value and not its text. */
export function readValue(value: unknown, options: ReadPlanOptions = {}): ReadPlan {
  const report = new Report();
  const whole = frameOf(value, report);
  if (whole === undefined)
    return broken("a plan is an object with a list of tasks, or such a list", 'write {"tasks": […]}');
  const read = readTasks(whole, options, report);
  const frame = readFrame(whole, { subjects: read.map(({ rest }) => rest.subject), ...options }, report);
  if (read.length === 0 && frame.questions.length === 0 && !report.isBroken)
    report.refuse(placeIn(whole.path, "tasks"), "there are no tasks", "name at least one");
  const tasks = finished(read, report);
  if (!report.isBroken) return { is: "plan", plan: { ...frame, tasks }, notes: report.notes() };
  // Not where an id is missing: each would be missed by others, too.
  const faults = tasks.every(({ id }) => id !== "") ? orderFindings(tasks) : [];
  return {
    is: "broken",
    problems: [...report.problems(), ...faults.map(({ level: _level, ...fault }) => fault)],
  };
}

function frameOf(value: unknown, report: Report): Frame | undefined {
  if (Array.isArray(value)) {
    report.note("", "only a list of tasks was found; everything else was derived");
    return { path: "", fields: { tasks: value } };
  }
  if (!isFields(value)) return undefined;
  const inner = valueIn(value, "plan");
  const isWrapped = valueIn(value, "tasks") === undefined && isFields(inner);
  return isWrapped ? { path: "plan", fields: inner } : { path: "", fields: value };
}

function readTasks({ path, fields }: Frame, options: ReadPlanOptions, report: Report): readonly Named[] {
  const found = foundIn(fields, path, "tasks");
  const list = found ? listOf(found, report) : [];
  if (list.length > MAX_TASKS) {
    report.refuse(
      found!.at,
      `there are ${list.length} tasks; at most ${MAX_TASKS} are read`,
      "split the plan",
    );
    return [];
  }
  const written = list.flatMap((task, index) => oneTask(task, `${found!.at}[${index}]`, report));
  const taskOptions: TaskOptions = {
    ...options,
    readOnlyAgents: new Set(options.readOnlyAgents ?? READ_ONLY_AGENTS),
  };
  const isOwn = Map.groupBy(written, (task) => !isUpdate(task));
  const tasks = withIds((isOwn.get(true) ?? []).map((task) => readTask(task, taskOptions, report)));
  const updates = (isOwn.get(false) ?? []).map((update) => readUpdate(update, report));
  return withOrder(tasks, updates, report);
}

/** Where nobody says which. */
const READ_ONLY_AGENTS = ["Explore", "codebase-context-analyzer"];

function oneTask(value: unknown, path: string, report: Report): readonly WrittenTask[] {
  if (!isFields(value)) {
    report.refuse(path, "is not an object", "write subject, description and what else the task needs");
    return [];
  }
  const metadata = foundIn(value, path, "metadata");
  if (metadata && !isFields(metadata.value)) report.refuse(metadata.at, "must be an object");
  return [writtenTask(path, value, metadata && isFields(metadata.value) ? metadata.value : {}, report)];
}

type Named = ReadTask & { readonly id: string };

/** Its number, for a task without an id: the next that no other has. */
function withIds(tasks: readonly ReadTask[]): readonly Named[] {
  const taken = new Set(tasks.map(({ id }) => id));
  let next = 0;
  return tasks.map((task, index) => {
    if (task.id !== undefined) return { ...task, id: task.id };
    next = Math.max(next, index);
    do next += 1;
    while (taken.has(`${next}`));
    return { ...task, id: `${next}` };
  });
}

/** What tasks and updates say of others is added to those: all of it ends in `blockedBy`. */
function withOrder(tasks: readonly Named[], updates: readonly Update[], report: Report): readonly Named[] {
  const after = new Map(tasks.map(({ id, blockedBy }) => [id, new Set(blockedBy)]));
  const waits = (id: string, before: string, at: string) => {
    const found = after.get(id);
    if (found) found.add(before);
    else report.refuse(at, `there is no task "${id}"`, "name one of the tasks");
  };
  for (const { id, written, blocks } of tasks) for (const other of blocks) waits(other, id, written.path);
  for (const { id, at, blockedBy, blocks } of updates) {
    for (const before of blockedBy) waits(id, before, at);
    for (const other of blocks) waits(other, id, at);
  }
  return tasks.map((task) => ({ ...task, blockedBy: [...after.get(task.id)!] }));
}

/** With their waves: those that were written are a copy of what the dependencies say. */
function finished(read: readonly Named[], report: Report): readonly PlanTask[] {
  const waves = wavesOf(read);
  const waveOf = ({ id }: Named) => (waves.is === "waves" ? waves.byId.get(id)! : 0);
  const sizes = new Map<number, number>();
  for (const task of read) sizes.set(waveOf(task), (sizes.get(waveOf(task)) ?? 0) + 1);
  return read.map((task) => {
    const { id, blockedBy, rest, metadata, written } = task;
    const wave = waveOf(task);
    const parallel = sizes.get(wave)! > 1;
    if (waves.is === "waves") noteOther(written, { wave, parallel }, report);
    return { id, blockedBy, ...rest, metadata: { ...metadata, wave, phase_id: id, parallel } };
  });
}

function noteOther(
  written: WrittenTask,
  derived: { readonly wave: number; readonly parallel: boolean },
  report: Report,
) {
  for (const field of ["wave", "parallel"] as const) {
    const found = oneFor(written, field, report);
    if (found && found.value !== derived[field])
      report.note(found.at, `is ${derived[field]} by the dependencies, whatever was written`);
  }
}
