/** By which names do plan files of other tools call what a task has? */
import { type Fields, type Found, placeIn, type Report, valueIn } from "./place.ts";

/** Ours first. Each is looked for in the task itself and in its `metadata`, wherever we would write it. */
const NAMES = {
  id: ["id", "taskId", "task_id"],
  subject: ["subject", "title", "name"],
  description: ["description", "scopedGoal", "scoped_goal"],
  activeForm: ["activeForm", "active_form"],
  blockedBy: [
    ...["blockedBy", "addBlockedBy", "blocked_by", "after"],
    ...["dependsOn", "depends_on", "dependencies"],
  ],
  blocks: ["blocks", "addBlocks"],
  scope: ["scope", "pathsAllowed", "paths_allowed", "files"],
  reads: ["reads"],
  delivers: ["delivers"],
  requirements: ["requirements", "acceptance", "acceptanceCriteria", "acceptance_criteria"],
  success_criterion: ["success_criterion", "successCriterion", "verify"],
  priority: ["priority"],
  branch: ["branch"],
  estimate: ["estimate"],
  wave: ["wave"],
  phase_id: ["phase_id", "phaseId"],
  agent: ["agent", "delegateTo", "delegate_to"],
  parallel: ["parallel"],
  output_file: ["output_file", "outputFile"],
  depth: ["depth"],
  parent_id: ["parent_id", "parentId"],
} as const;

export type TaskField = keyof typeof NAMES;

const IN_METADATA: ReadonlySet<TaskField> = new Set([
  ...(["wave", "phase_id", "agent", "parallel", "output_file", "depth", "parent_id"] as const),
]);

/** A task as it was written. */
export type WrittenTask = {
  /** `tasks[3]`. */
  readonly path: string;
  readonly fields: Fields;
  readonly metadata: Fields;
};

/** All that was written for a field, ours first; other names are noted. */
export function writtenFor(task: WrittenTask, field: TaskField, report: Report): readonly Found[] {
  const found: Found[] = [];
  const home = IN_METADATA.has(field) ? "metadata" : "fields";
  for (const name of NAMES[field]) {
    for (const where of home === "fields" ? TASK_FIRST : METADATA_FIRST) {
      const value = valueIn(task[where], name);
      if (value === undefined) continue;
      const at = placeIn(where === "metadata" ? placeIn(task.path, "metadata") : task.path, name);
      if (name !== field || where !== home) report.note(at, `was read as ${nameOf(field)}`);
      found.push({ at, value });
    }
  }
  return found;
}

const TASK_FIRST = ["fields", "metadata"] as const;
const METADATA_FIRST = ["metadata", "fields"] as const;

const nameOf = (field: TaskField) => (IN_METADATA.has(field) ? `metadata.${field}` : field);

/** Where there can be only one. */
export function oneFor(task: WrittenTask, field: TaskField, report: Report): Found | undefined {
  const [first, ...others] = writtenFor(task, field, report);
  for (const { at } of others)
    report.note(at, `was not read: ${first!.at.split(".").at(-1)} says it already`);
  return first;
}

const KNOWN: ReadonlySet<string> = new Set([...Object.values(NAMES).flat(), "metadata"]);

export function noteUnknownIn({ path, fields, metadata }: WrittenTask, report: Report): void {
  report.noteUnknown(fields, path, KNOWN);
  report.noteUnknown(metadata, placeIn(path, "metadata"), KNOWN);
}

/**
 * `TaskUpdate` among the tasks: it names one of them, says what it waits for or holds up, and nothing that would make a
 * task.
 */
export function isUpdate(fields: Fields): boolean {
  const has = (names: readonly string[]) => names.some((name) => valueIn(fields, name) !== undefined);
  const makesTask = has(NAMES.subject) || has(NAMES.description);
  return !makesTask && has(["taskId", "task_id"]) && (has(NAMES.blockedBy) || has(NAMES.blocks));
}
