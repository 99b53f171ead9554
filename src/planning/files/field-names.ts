/** Collects the fields of a plan and its tasks, and reports every other name as not read. */
import { type LooseFields as Fields, isRecord } from "../../text/json.ts";
import type { Report } from "./place.ts";

/** Each field may be in the task itself or in its `metadata`. */
const TASK_FIELDS = [
  ...[
    "id",
    "subject",
    "description",
    "activeForm",
    "blockedBy",
    "scope",
    "reads",
    "delivers",
    "requirements",
  ],
  ...["success_criterion", "priority", "branch", "needs", "estimate"],
  ...["wave", "phase_id", "agent", "parallel", "output_file", "depth", "parent_id"],
];
const IN_METADATA: ReadonlySet<string> = new Set(TASK_FIELDS.slice(TASK_FIELDS.indexOf("wave")));

const PLAN_FIELDS = [
  ...["skein_plan", "goal", "planner", "max_concurrent", "score", "success_criteria", "assumptions"],
  ...["questions", "context", "tasks", "risks", "coverage", "not_covered"],
];

/** Names of other tools, which were read up to version 0.2; for one more version, a note says what to write instead. */
const GONE: Readonly<Record<string, readonly string[]>> = {
  id: ["taskId", "task_id"],
  subject: ["title", "name"],
  description: ["scopedGoal", "scoped_goal"],
  activeForm: ["active_form"],
  blockedBy: [
    "addBlockedBy",
    "blocked_by",
    "after",
    "dependsOn",
    "depends_on",
    "dependencies",
    "blocks",
    "addBlocks",
  ],
  scope: ["pathsAllowed", "paths_allowed", "files"],
  requirements: ["acceptance", "acceptanceCriteria", "acceptance_criteria"],
  success_criterion: ["successCriterion", "verify"],
  phase_id: ["phaseId"],
  agent: ["delegateTo", "delegate_to"],
  output_file: ["outputFile"],
  parent_id: ["parentId"],
  goal: ["objective"],
  max_concurrent: ["maxConcurrent"],
  success_criteria: ["successCriteria", "acceptance"],
  not_covered: ["notCovered"],
};
/**
 * A plan with the old name of one of these is refused: without the field, a task would start too early, change too
 * much, or count as done too soon.
 */
const REFUSED: ReadonlySet<string> = new Set([
  "id",
  "blockedBy",
  "scope",
  "requirements",
  "success_criterion",
]);
/** A task must have one of these, so an old name in the place of both is refused. */
const WORDS = ["subject", "description"] as const;

export type NamedFields = {
  readonly path: string;
  readonly fields: Fields;
  readonly placeOf: (field: string) => string;
};

const home = (field: string): string => (IN_METADATA.has(field) ? `metadata.${field}` : field);
const under = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

export const namedPlan = (path: string, plan: Fields, report: Report): NamedFields =>
  named([[path, plan]], PLAN_FIELDS, report);

export function namedTask(path: string, task: Fields, report: Report): NamedFields {
  const { metadata, ...own } = task;
  if (metadata !== undefined && metadata !== null && !isRecord(metadata))
    report.refuse(`${path}.metadata`, "must be an object");
  const inner = isRecord(metadata) ? metadata : {};
  return named([[path, own] as const, [`${path}.metadata`, inner] as const], TASK_FIELDS, report, home);
}

type Written = { readonly place: string; readonly value: unknown };

function named(
  objects: readonly (readonly [string, Fields])[],
  known: readonly string[],
  report: Report,
  homeOf: (field: string) => string = (field) => field,
): NamedFields {
  const path = objects[0]![0];
  const isSaid = objects.some(([, object]) => WORDS.some((field) => Object.hasOwn(object, field)));
  const refused = isSaid ? REFUSED : REFUSED.union(new Set(WORDS));
  const found = new Map<string, Written>();
  for (const [at, object] of objects) {
    for (const [key, value] of Object.entries(object)) {
      if (!known.includes(key)) sayGone({ at, key, known, refused }, report);
      else if (value !== undefined && value !== null)
        keep(found, key, { place: under(at, key), value }, under(path, homeOf(key)), report);
    }
  }
  return {
    path,
    fields: Object.fromEntries([...found].map(([field, { value }]) => [field, value])),
    placeOf: (field) => found.get(field)?.place ?? under(path, homeOf(field)),
  };
}

/** If a field is in both places, its own place counts. */
function keep(
  found: Map<string, Written>,
  field: string,
  written: Written,
  own: string,
  report: Report,
): void {
  const other = found.get(field);
  if (written.place !== own && other === undefined) report.note(written.place, `was read as ${own}`);
  if (other === undefined || written.place === own) found.set(field, written);
  if (other === undefined) return;
  const [read, left] = written.place === own ? [written, other] : [other, written];
  report.note(left.place, `was not read: ${read.place} says it already`);
}

type UnknownKey = {
  readonly at: string;
  readonly key: string;
  readonly known: readonly string[];
  readonly refused: ReadonlySet<string>;
};

function sayGone({ at, key, known, refused }: UnknownKey, report: Report): void {
  const field = known.find((one) => Object.hasOwn(GONE, one) && GONE[one]!.includes(key));
  if (field === undefined) report.noteUnknown(at, key, known);
  else if (refused.has(field))
    report.refuse(under(at, key), "is a name that is no longer read", instead(key, field));
  else report.note(under(at, key), `is no longer read: ${instead(key, field)}`);
}

const instead = (key: string, field: string): string =>
  /blocks$/i.test(key) ? "write blockedBy in the task that waits" : `write ${home(field)}`;
