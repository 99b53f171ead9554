/** Tells whether a file is a plan and whether it can be run; any other file of that kind is a goal. */
import { isUtf8 } from "node:buffer";
import path from "node:path";
import {
  type PlanProblem,
  type ReadPlan,
  type ReadPlanOptions,
  readPlan,
} from "../../../planning/files/read-plan.ts";
import { type LintFacts, lintPlan } from "../../../planning/lint.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { jsonIn } from "../../../planning/render/markdown.ts";
import { plural } from "../../../text/words.ts";
import type { Exit } from "../acts/project.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { readBytes } from "../files.ts";
import { type Where, whereIn, withLine } from "./lines.ts";

export type GivenPlan = {
  readonly plan: ExecutionPlan;
  /** The plan's file; undefined if the plan was just made. */
  readonly from?: string;
  /** The number of warnings: the plan can be run all the same. */
  readonly warnings: number;
};

/** Enough for a thousand tasks with a page of text each. */
export const MAX_PLAN_BYTES = 20_000_000;

/**
 * Undefined if the file is not a plan, but perhaps a goal. A plan that cannot be run is refused with all its problems.
 */
export async function planIn(
  context: Context,
  given: string,
  around: () => Promise<LintFacts>,
): Promise<GivenPlan | Exit | undefined> {
  const kind = kindOf(given);
  if (kind === undefined || given.includes("\0")) return undefined;
  const bytes = await readBytes(path.resolve(context.folder, given), MAX_PLAN_BYTES).catch(() => undefined);
  if (bytes === undefined || !isUtf8(bytes)) return undefined; // Read as a goal next, which reports the problem.
  const text = bytes.toString("utf8");
  if (bytes.length > MAX_PLAN_BYTES) {
    const message = "it is longer than 20 MB";
    return { exit: refusePlan(context, given, "", [{ place: "", message }]) };
  }
  const known = await around();
  const read = await readAs(kind, text, optionsIn(context, known));
  if (read.is === "none") return undefined;
  if (read.is === "broken") return { exit: refusePlan(context, given, text, read.problems) };
  const findings = lintPlan(read.plan, known);
  const errors = findings.filter(({ level }) => level === "error");
  if (errors.length > 0) return { exit: refusePlan(context, given, text, errors) };
  return { plan: read.plan, from: given, warnings: findings.length };
}

/** "20 tasks in 4 waves". */
export function planSize({ tasks }: ExecutionPlan): string {
  let waves = 0;
  for (const { metadata } of tasks) waves = Math.max(waves, metadata.wave + 1);
  return `${plural(tasks.length, "task")} in ${plural(waves, "wave")}`;
}

export type PlanKind = "json" | "markdown";

export function kindOf(file: string): PlanKind | undefined {
  if (/\.json$/i.test(file)) return "json";
  return /\.(?:md|markdown)$/i.test(file) ? "markdown" : undefined;
}

type ReadAs = ReadPlan | { readonly is: "none" };

/** Reads a text of that kind as a plan; `none`: it is about something else. */
export async function readAs(kind: PlanKind, text: string, options: ReadPlanOptions): Promise<ReadAs> {
  if (kind === "json") return isOther(text) ? { is: "none" } : readPlan(text, options);
  const { parseMarkdown } = await import("../../../planning/render/markdown.ts");
  return parseMarkdown(text, options);
}

export function optionsIn({ env }: Context, { agents }: LintFacts): ReadPlanOptions {
  const scratchpad = env["CLAUDE_SCRATCHPAD_DIR"];
  const readers = agents?.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name);
  return { ...(readers && { readOnlyAgents: readers }), ...(scratchpad ? { scratchpad } : {}) };
}

/** True for JSON about something else. Text that is not JSON is assumed to be a broken plan. */
function isOther(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return !value.some(isLikeTask);
    const { tasks, plan } = Object(value) as { readonly tasks?: unknown; readonly plan?: unknown };
    return tasks === undefined && Object(plan).tasks === undefined; // Of any type: the reader reports what is wrong.
  } catch {
    return false;
  }
}

const TASK_FIELDS = ["subject", "description", "activeForm", "title", "scopedGoal"];

const isLikeTask = (value: unknown): boolean =>
  typeof value === "object" && value !== null && TASK_FIELDS.some((field) => Object.hasOwn(value, field));

export function refusePlan(
  context: Context,
  file: string,
  text: string,
  problems: readonly PlanProblem[],
): ExitCode {
  const where = placedIn(kindOf(file), text);
  const line = ({ place, message, next }: PlanProblem) =>
    `${where(file, place, message).words}: ${message}${next === undefined ? "" : ` (${next})`}`;
  const more = problems.length - MAX_LINES;
  return refuse(context, EXIT.configuration, {
    kind: "plan-invalid",
    message: `the plan ${file} has ${plural(problems.length, "problem")}; nothing was started`,
    lines: [...problems.slice(0, MAX_LINES).map(line), ...(more > 0 ? [`and ${more} more`] : [])],
    next: "fix the file; skein plan check shows whether it is ready",
  });
}

/** Finds where in a file a problem is. */
type Placed = (file: string, place: string, message: string) => Where;

export function placedIn(kind: PlanKind | undefined, text: string): Placed {
  if (kind === "json") return whereIn(text);
  const block = jsonIn(text);
  const inJson = block && whereIn(block.json, block.line);
  return (file, place, message) =>
    inJson && !place.startsWith("line ") ? inJson(file, place, message) : withLine(file, place);
}

/** More than a screen holds. */
const MAX_LINES = 100;
