/** Which plan is to be foreseen? One that can be read and comes to an end; whether it is a good one is the question. */
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { groundsOf } from "../../../compose/planning.ts";
import { messageOf } from "../../../core/failure.ts";
import { orderFindings } from "../../../planning/lint/order.ts";
import { lintPlan } from "../../../planning/lint.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { kindOf, MAX_PLAN_BYTES, optionsIn, readAs, refusePlan } from "./plan-file.ts";
import { type Exit, NEVER } from "./project.ts";
import { readBytes } from "./read-file.ts";

/** `errors`: for so many a run would refuse it, though it can be foreseen: tasks that write one file, open questions. */
export type PlanToSimulate = { readonly plan: ExecutionPlan; readonly errors: number };

export async function planToSimulate(
  context: Context,
  file: string,
  repo: string,
): Promise<PlanToSimulate | Exit> {
  const text = await textIn(context, file);
  if (typeof text !== "string") return text;
  const grounds = await groundsOf(path.resolve(context.folder, repo), NEVER);
  const known = "agents" in grounds ? { agents: grounds.agents } : {};
  const read = await readAs(kindOf(file) ?? "json", text, optionsIn(context, known));
  if (read.is === "none") return noPlan(context, `${file} is about something else`);
  if (read.is === "broken") return { exit: refusePlan(context, file, text, read.problems) };
  const { plan } = read;
  const endless = orderFindings(plan.tasks).filter(({ level }) => level === "error");
  if (endless.length > 0) return { exit: refusePlan(context, file, text, endless) };
  if (plan.tasks.length === 0) return noPlan(context, `the plan ${file} has no tasks`);
  return { plan, errors: lintPlan(plan, known).filter(({ level }) => level === "error").length };
}

async function textIn(context: Context, file: string): Promise<string | Exit> {
  try {
    const bytes = await readBytes(path.resolve(context.folder, file), MAX_PLAN_BYTES);
    if (bytes.length > MAX_PLAN_BYTES) return noPlan(context, `${file} is longer than 20 MB`);
    return isUtf8(bytes) ? bytes.toString("utf8") : noPlan(context, `${file} is no text`);
  } catch (error) {
    return noPlan(context, `${file} cannot be read: ${messageOf(error)}`);
  }
}

function noPlan(context: Context, message: string): Exit {
  const next = 'a plan is a .json or .md file: skein plan "…" --out plan.json makes one';
  return { exit: refuse(context, EXIT.configuration, { kind: "plan-invalid", message, next }) };
}
