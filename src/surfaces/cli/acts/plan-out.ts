/** `skein plan --out`: may the file be written, and as what? */
import path from "node:path";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { type Context, refuse } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { kindOf, MAX_PLAN_BYTES, readAs } from "./plan-file.ts";
import { readBounded } from "./read-file.ts";
import { lookAt, writeNew } from "./write-new.ts";

/** As it is in a file, for people to edit. */
export const jsonText = (plan: ExecutionPlan): string => `${JSON.stringify(plan, undefined, 2)}\n`;

/** Undefined once it is written. An older plan is replaced; anything else only by force. */
export async function writePlan(
  context: Context,
  plan: ExecutionPlan,
  { out, force }: { readonly out: string; readonly force?: true },
): Promise<ExitCode | undefined> {
  const file = path.resolve(context.folder, out);
  const kind = kindOf(out) ?? "json";
  const text = kind === "json" ? jsonText(plan) : (await markdown()).renderMarkdown(plan);
  const mayReplace = force === true || (await isPlan(file, kind));
  const written = await writeNew(file, text, mayReplace);
  if (!("why" in written)) return undefined;
  const no = (message: string, next: string) =>
    refuse(context, EXIT.notAllDone, { kind: "configuration", message, next });
  return written.isThere
    ? no(`${out} is there already and is no plan; nothing was written`, "choose another name, or add --force")
    : no(`${out} cannot be written: ${written.why}`, "see whether the folder is there and may be written");
}

const markdown = () => import("../../../planning/render/markdown.ts");

/** A link is none, wherever it leads. */
async function isPlan(file: string, kind: "json" | "markdown"): Promise<boolean> {
  if (!(await lookAt(file))?.isFile()) return false;
  const text = await readBounded(file, MAX_PLAN_BYTES).catch(() => "");
  return (await readAs(kind, text, {})).is === "plan";
}
