/** The type of a template (a task or a group of tasks that requests find by type, hints and words) and its reader. */
import * as z from "zod";
import { unusableExpectation } from "./expectations.ts";
import type { Allowance } from "./limits.ts";
import { expectations, filePaths, problemsIn, word } from "./request.ts";
import { type ContextManagement, contextManagementSchema, mergeLayers, settingsOf } from "./settings.ts";

export type TaskTemplate = {
  /** Made from the description unless given. */
  readonly name?: string | undefined;
  /** The type that requests name; "atomic" unless given. "*" accepts any type, after templates of that type. */
  readonly type?: string | undefined;
  readonly subtype?: string | undefined;
  readonly description: string;
  /** Instructions for its handler besides the description. */
  readonly instructions?: string | undefined;
  readonly hints?: readonly string[] | undefined;
  readonly inputs?: Readonly<Record<string, TemplateInput>> | undefined;
  /** For a group: the settings of its tasks that have none themselves. */
  readonly context_management?: ContextManagement | undefined;
  readonly file_paths?: readonly string[] | undefined;
  readonly max_depth?: number | undefined;
  readonly return_expectations?: string | Readonly<Record<string, unknown>> | undefined;
  /** The name of a handler, for another role or model. */
  readonly handler?: string | undefined;
  /** The most that it may use of what its parent has left. */
  readonly budget?: Partial<Allowance> | undefined;

  /** A sequence: these tasks, one after the other. */
  readonly steps?: readonly TaskRef[] | undefined;

  /** A map: `each` for every input in the list `over`, side by side; `reduce` combines the results. */
  readonly each?: TaskRef | undefined;
  readonly over?: string | undefined;
  readonly max_parallel?: number | undefined;
  readonly reduce?: TaskRef | undefined;

  /** A loop: the director makes a draft, the script tries it, the evaluator accepts or refuses it. */
  readonly director?: TaskRef | undefined;
  readonly script?: string | undefined;
  readonly evaluator?: TaskRef | undefined;
  readonly max_iterations?: number | undefined;
};

export type TemplateInput = {
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
};

/** A template, or the name of a registered one. */
export type TaskRef = string | TaskTemplate;

/** A template whose name and type are filled in. */
export type Template = TaskTemplate & { readonly name: string; readonly type: string };

export type ReadTemplate = { readonly template: Template } | { readonly problem: string };

/** Reads what a program or an XML file gave. Every mistake is named with its place, also in the tasks of a group. */
export function readTemplate(value: unknown): ReadTemplate {
  const problem = problemOf(value, undefined, "template", 0);
  return problem === undefined ? { template: named(value as TaskTemplate) } : { problem };
}

export const named = (template: TaskTemplate): Template => ({
  ...template,
  name: template.name ?? nameFrom(template.description),
  type: template.type ?? "atomic",
});

const nameFrom = (description: string) => {
  const words = description.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["task"];
  return words.join("-").slice(0, 60);
};

const texts = z.string().min(1).max(50_000);
const amount = z.number().min(0);
/** The tasks of a group are read one by one, so that each mistake has its place. */
const part = z.unknown().optional();

const schema = z.strictObject({
  name: word.optional(),
  type: word.optional(),
  subtype: word.optional(),
  description: texts,
  instructions: texts.optional(),
  hints: z.array(word).max(100).optional(),
  inputs: z
    .record(word, z.strictObject({ description: texts.optional(), required: z.boolean().optional() }))
    .optional(),
  context_management: contextManagementSchema.optional(),
  file_paths: filePaths.optional(),
  max_depth: z.int().min(0).optional(),
  return_expectations: expectations.optional(),
  handler: word.optional(),
  budget: z
    .strictObject({ tasks: amount.optional(), ms: amount.optional(), tokens: amount.optional() })
    .optional(),
  steps: z.array(z.unknown()).min(1).max(1_000).optional(),
  each: part,
  over: word.optional(),
  max_parallel: z.int().min(1).optional(),
  reduce: part,
  director: part,
  script: texts.optional(),
  evaluator: part,
  max_iterations: z.int().min(0).optional(),
});

type Group = ContextManagement | undefined;

function problemOf(value: unknown, group: Group, at: string, level: number): string | undefined {
  if (level > MAX_LEVELS) return `${at}: groups within groups, more than ${MAX_LEVELS} deep`;
  const read = schema.safeParse(value);
  if (!read.success) return `${at}: ${problemsIn(read.error)}`;
  const task = read.data as TaskTemplate;
  const kinds = (["steps", "each", "director"] as const).filter((kind) => task[kind] !== undefined);
  if (kinds.length > 1) return `${at}: ${kinds.join(" and ")} belong to different groups`;
  for (const [given, needed] of NEEDED)
    if (task[given] !== undefined && task[needed] === undefined) return `${at}: ${given} needs ${needed}`;
  const layers = mergeLayers([task.context_management, group]);
  const settled = settingsOf([layers]);
  if ("problem" in settled) return `${at}: ${settled.problem}`;
  const unusable = task.return_expectations && unusableExpectation(task.return_expectations);
  if (unusable) return `${at}: return_expectations: ${unusable}`;
  return firstProblem(task, layers, at, level);
}

function firstProblem(task: TaskTemplate, group: Group, at: string, level: number): string | undefined {
  for (const part of ["steps", "each", "reduce", "director", "evaluator"] as const)
    for (const [i, inner] of [task[part] ?? []].flat().entries()) {
      if (typeof inner === "string" && inner !== "") continue;
      const place = part === "steps" ? `${at} › step ${i + 1}` : `${at} › ${part}`;
      const problem = problemOf(inner, group, place, level + 1);
      if (problem !== undefined) return problem;
    }
  return undefined;
}

const MAX_LEVELS = 10;

const NEEDED: readonly (readonly [keyof TaskTemplate, keyof TaskTemplate])[] = [
  ["each", "over"],
  ["over", "each"],
  ["max_parallel", "each"],
  ["reduce", "each"],
  ["director", "evaluator"],
  ["evaluator", "director"],
  ["script", "director"],
  ["max_iterations", "director"],
];
