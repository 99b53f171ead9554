/** `skein plan check`: lists the problems of a plan file with their lines. */
import { isUtf8 } from "node:buffer";
import path from "node:path";
import { checkedBy } from "../../../app/plan-grounds.ts";
import { messageOf } from "../../../core/failure.ts";
import { type Finding, lintPlan } from "../../../planning/lint.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { harmless, plural } from "../../../text/words.ts";
import type { Exit } from "../acts/project.ts";
import { type Act, type Context, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { isMissing, readBytes } from "../files.ts";
import { paint } from "../output.ts";
import {
  kindOf,
  MAX_PLAN_BYTES,
  optionsIn,
  type PlanKind,
  placedIn,
  planSize,
  readAs,
} from "../planning/file.ts";
import { groundsFor } from "../planning/make.ts";
import type { RepoOption } from "./options.ts";

type Wanted = RepoOption & { readonly file: string };

export const planCheck: Act<Wanted> = async (context, { file, repo = "." }) => {
  const text = await textOf(context, file);
  if (typeof text !== "string") return text.exit;
  const grounds = await groundsFor(context, path.resolve(context.folder, repo));
  if ("exit" in grounds) return grounds.exit;
  const known = checkedBy(grounds);
  const kind = kindOf(file) ?? (/^\s*[[{]/.test(text) ? "json" : "markdown");
  const read = await readAs(kind, text, optionsIn(context, known));
  if (read.is === "none") return tell(context, { file, kind, text, findings: [NO_PLAN], notes: [] });
  if (read.is === "broken") {
    const findings = read.problems.map((one): Finding => ({ ...one, level: "error" }));
    return tell(context, { file, kind, text, findings, notes: [] });
  }
  const { plan, notes } = read;
  return tell(context, { file, kind, text, plan, notes, findings: lintPlan(plan, known) });
};

const NO_PLAN: Finding = {
  level: "error",
  place: "",
  message: "is not a plan: it has no list of tasks",
  next: 'skein plan "<request>" --out plan.json makes one',
};

async function textOf(context: Context, file: string): Promise<string | Exit> {
  const no = (message: string, next?: string): Exit => ({ exit: usage(context, message, next) });
  try {
    const bytes =
      file === "-"
        ? await allOf(context.input())
        : await readBytes(path.resolve(context.folder, file), MAX_PLAN_BYTES);
    if (bytes.length > MAX_PLAN_BYTES) return no(`${file} is longer than 20 MB`);
    return isUtf8(bytes) ? bytes.toString("utf8") : no(`${file} is not text`, "name a plan in UTF-8");
  } catch (error) {
    return isMissing(error)
      ? no(`there is no file ${file}`, "name an existing file")
      : no(`${file} cannot be read: ${messageOf(error)}`);
  }
}

async function allOf(input: ReturnType<Context["input"]>): Promise<Buffer> {
  const bytes = await input.all(MAX_PLAN_BYTES);
  await input.close();
  return bytes;
}

type Checked = {
  readonly file: string;
  readonly kind: PlanKind;
  readonly text: string;
  readonly plan?: ExecutionPlan;
  readonly findings: readonly Finding[];
  readonly notes: readonly string[];
};

function tell(context: Context, { file, kind, text, plan, findings, notes }: Checked): ExitCode {
  const where = placedIn(kind, text);
  const name = file === "-" ? "standard input" : file;
  const found = findings.map((one) => ({ ...one, ...where(name, one.place, one.message) }));
  const errors = found.filter(({ level }) => level === "error").length;
  const exit = errors === 0 ? EXIT.done : EXIT.notAllDone;
  if (context.json) {
    const listed = found.map(({ words: _, ...one }) => one);
    writeJson(context, {
      file,
      isReady: errors === 0,
      ...(plan ? sizes(plan) : {}),
      findings: listed,
      notes,
    });
    return exit;
  }
  for (const { level, words, message, next } of found.slice(0, MAX_SHOWN)) {
    const line = `${words}: ${level === "warning" ? "warning: " : ""}${message}`;
    say(context, paint(context.out, "bad", harmless(line)));
    if (next !== undefined) say(context, harmless(`  try: ${next}`));
  }
  if (found.length > MAX_SHOWN) say(context, `and ${found.length - MAX_SHOWN} more`);
  for (const note of notes.slice(0, MAX_NOTES))
    say(context, paint(context.out, "quiet", harmless(`note: ${note}`)));
  if (notes.length > MAX_NOTES) say(context, `and ${plural(notes.length - MAX_NOTES, "more note")}`);
  say(context, verdict(plan, errors, found.length - errors));
  return exit;
}

/** More than a screen holds; --json prints all of them. */
const MAX_SHOWN = 200;
const MAX_NOTES = 20;

const sizes = ({ tasks }: ExecutionPlan) => ({
  tasks: tasks.length,
  waves: tasks.reduce((most, { metadata }) => Math.max(most, metadata.wave + 1), 0),
});

function verdict(plan: ExecutionPlan | undefined, errors: number, warnings: number): string {
  const counts = [errors > 0 && plural(errors, "error"), warnings > 0 && plural(warnings, "warning")];
  const told = counts.filter((text) => text !== false).join(", ");
  if (errors > 0) return `${told}: not ready`;
  return `${plan ? `${planSize(plan)}, ` : ""}ready${told === "" ? "" : ` (${told})`}`;
}
