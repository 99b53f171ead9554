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

/** A task as it was written: by our names for its fields, what was found, ours first. */
export type WrittenTask = {
  /** `tasks[3]`. */
  readonly path: string;
  readonly found: ReadonlyMap<TaskField, readonly Ranked[]>;
};

type Ranked = Found & { readonly name: string; readonly rank: number };
type Meaning = {
  readonly field: TaskField;
  readonly rank: number;
  readonly isAtHome: readonly [boolean, boolean];
};

/** By key: one look for each key that was written, not one for each that could have been. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  (Object.keys(NAMES) as TaskField[]).flatMap((field) =>
    NAMES[field].map((name, rank) => {
      const inMetadata = IN_METADATA.has(field);
      const isOurs = name === field;
      return [name, { field, rank, isAtHome: [isOurs && !inMetadata, isOurs && inMetadata] }] as const;
    }),
  ),
);
const KNOWN: ReadonlySet<string> = new Set([...MEANINGS.keys(), "metadata"]);

/** Other names than ours are noted, and those that nobody knows, too. */
export function writtenTask(path: string, fields: Fields, metadata: Fields, report: Report): WrittenTask {
  const found = new Map<TaskField, Ranked[]>();
  for (const [where, object] of [fields, metadata].entries()) {
    const at = where === 0 ? path : placeIn(path, "metadata");
    for (const name of Object.keys(object)) {
      const meaning = MEANINGS.get(name);
      const value = valueIn(object, name);
      if (meaning === undefined || value === undefined) continue;
      const isAtHome = meaning.isAtHome[where] === true;
      if (!isAtHome) report.note(placeIn(at, name), `was read as ${nameOf(meaning.field)}`);
      const entry = { at: placeIn(at, name), value, name, rank: isAtHome ? -1 : meaning.rank };
      const others = found.get(meaning.field);
      if (others) others.push(entry);
      else found.set(meaning.field, [entry]);
    }
    report.noteUnknown(object, at, KNOWN);
  }
  for (const entries of found.values()) if (entries.length > 1) entries.sort((a, b) => a.rank - b.rank);
  return { path, found };
}

const nameOf = (field: TaskField) => (IN_METADATA.has(field) ? `metadata.${field}` : field);

const NOTHING: readonly Ranked[] = Object.freeze([]);

export const writtenFor = ({ found }: WrittenTask, field: TaskField): readonly Found[] =>
  found.get(field) ?? NOTHING;

/** Where there can be only one. */
export function oneFor({ found }: WrittenTask, field: TaskField, report: Report): Found | undefined {
  const [first, ...others] = found.get(field) ?? NOTHING;
  for (const { at } of others) report.note(at, `was not read: ${first!.name} says it already`);
  return first;
}

/**
 * `TaskUpdate` among the tasks: it names one of them, says what it waits for or holds up, and nothing that would make a
 * task.
 */
export function isUpdate({ found }: WrittenTask): boolean {
  const makesTask = found.has("subject") || found.has("description");
  const namesOne = found.get("id")?.some(({ name }) => name !== "id") ?? false;
  return !makesTask && namesOne && (found.has("blockedBy") || found.has("blocks"));
}
