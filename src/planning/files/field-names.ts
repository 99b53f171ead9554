/** Translates the field names of other tools' plan files into ours, and notes every other name. */
import { type LooseFields as Fields, isRecord } from "../../text/json.ts";
import type { Report } from "./place.ts";

/** By our name; ours first. Each is looked for in the task itself and in its `metadata`. */
const TASK_NAMES = {
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
  needs: ["needs"],
  estimate: ["estimate"],
  wave: ["wave"],
  phase_id: ["phase_id", "phaseId"],
  agent: ["agent", "delegateTo", "delegate_to"],
  parallel: ["parallel"],
  output_file: ["output_file", "outputFile"],
  depth: ["depth"],
  parent_id: ["parent_id", "parentId"],
} as const;

type TaskField = keyof typeof TASK_NAMES;

const IN_METADATA: ReadonlySet<string> = new Set<TaskField>([
  ...(["wave", "phase_id", "agent", "parallel", "output_file", "depth", "parent_id"] as const),
]);
/** What several names say of these is added up. */
const LISTS: ReadonlySet<string> = new Set<TaskField>([
  ...(["blockedBy", "blocks", "scope", "requirements", "success_criterion"] as const),
]);

const PLAN_NAMES = {
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
  coverage: ["coverage"],
  not_covered: ["not_covered", "notCovered"],
} as const;

export type NamedFields = {
  readonly path: string;
  readonly fields: Fields;
  readonly placeOf: (field: string) => string;
  /** It says which task it is by another name than `id`, as an update does. */
  readonly isReference: boolean;
};

const home = (field: string): string => (IN_METADATA.has(field) ? `metadata.${field}` : field);
const under = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

export const namedPlan = (path: string, plan: Fields, report: Report): NamedFields =>
  named([[path, plan]], PLAN_NAMES, report);

export function namedTask(path: string, task: Fields, report: Report): NamedFields {
  const { metadata, ...own } = task;
  if (metadata !== undefined && metadata !== null && !isRecord(metadata))
    report.refuse(`${path}.metadata`, "must be an object");
  const inner = isRecord(metadata) ? metadata : {};
  return named([[path, own] as const, [`${path}.metadata`, inner] as const], TASK_NAMES, report, home);
}

type Written = { readonly place: string; readonly value: unknown; readonly rank: number };

function named(
  objects: readonly (readonly [string, Fields])[],
  names: Readonly<Record<string, readonly string[]>>,
  report: Report,
  homeOf: (field: string) => string = (field) => field,
): NamedFields {
  const path = objects[0]![0];
  const known = Object.values(names).flat();
  const found = new Map<string, Written[]>();
  for (const [at, object] of objects) {
    for (const [key, value] of Object.entries(object)) {
      const field = Object.keys(names).find((one) => names[one]!.includes(key));
      if (field === undefined) report.noteUnknown(at, key, known);
      if (field === undefined || value === undefined || value === null) continue;
      const place = under(at, key);
      const isOurs = place === under(path, homeOf(field));
      if (!isOurs) report.note(place, `was read as ${homeOf(field)}`);
      const written = { place, value, rank: isOurs ? -1 : names[field]!.indexOf(key) };
      found.set(
        field,
        [...(found.get(field) ?? []), written].sort((a, b) => a.rank - b.rank),
      );
    }
  }
  return {
    path,
    fields: Object.fromEntries([...found].map(([field, all]) => [field, oneOf(field, all, report)])),
    placeOf: (field) => found.get(field)?.[0]?.place ?? under(path, homeOf(field)),
    isReference: found.get("id")?.some(({ rank }) => rank !== -1) ?? false,
  };
}

function oneOf(field: string, [first, ...others]: readonly Written[], report: Report): unknown {
  if (others.length === 0) return first!.value;
  if (LISTS.has(field)) return [first!, ...others].flatMap(({ value }) => value);
  for (const { place } of others) report.note(place, `was not read: ${first!.place} says it already`);
  return first!.value;
}
