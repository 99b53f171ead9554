/** Act of `skein run --plan`: makes a plan, shows it, and runs it only after a yes. */
import path from "node:path";
import { lintPlan } from "../../../planning/lint.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { harmless } from "../../../text/words.ts";
import type { PlanFirst, RunOptions } from "../commands/options.ts";
import { jsonText, notify, sayPlan } from "../commands/plan.ts";
import { type Context, refuse, say, usage } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { writeNew } from "../files.ts";
import { processInput, type TypedInput } from "../input.ts";
import { type GivenPlan, refusePlan } from "../planning/file.ts";
import { makePlan } from "../planning/make.ts";
import { canAsk } from "./can-ask.ts";
import type { Exit } from "./project.ts";

type Wanted = RunOptions & PlanFirst & { readonly goal: string };

/** Refuses contradicting options, and a question that no person can answer, before anything is made or paid for. */
export function refusePlanFirst(
  context: Context,
  { plan, yes, by, goal }: Wanted,
  input: () => TypedInput = processInput,
): ExitCode | undefined {
  if (plan !== true) {
    const alone = yes ? "--yes" : by === undefined ? undefined : "--by";
    return alone && usage(context, `${alone} belongs to --plan`, "skein run --help");
  }
  if (yes || canAsk(context, input)) return undefined;
  return usage(
    context,
    "there is no terminal here to ask for your approval of the plan",
    `add --yes to run it without asking; or read it first: skein plan ${goal.length > 60 ? "…" : `"${goal}"`} --out plan.json, then skein run plan.json`,
  );
}

/** Makes a plan of the request, as `skein plan` does. */
export async function planOf(
  context: Context,
  request: string,
  { repo, config, set, trust, workers, by, yes, agent, model, planner, script }: Wanted,
): Promise<GivenPlan | Exit> {
  const who = by === "rules" ? {} : { agent, model, planner, script };
  const options = { repo, config, set, trust, by, maxConcurrent: workers, ...who };
  const given = Object.entries({ ...options, ask: yes ? false : undefined });
  const wanted = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const made = await makePlan(context, { ...wanted, request });
  if ("exit" in made) return made;
  notify(context, made.notices);
  const { plan, grounds } = made;
  const findings = lintPlan(plan, { agents: grounds.agents });
  const errors = findings.filter(({ level }) => level === "error");
  if (errors.length > 0) return { exit: refusePlan(context, "that was made", "", errors) };
  return { plan, warnings: findings.length };
}

/** Undefined if the person agreed. */
export async function approve(
  context: Context,
  { plan }: GivenPlan,
  { yes }: PlanFirst,
  input: () => TypedInput = processInput,
): Promise<ExitCode | undefined> {
  await sayPlan(context, plan, { isAsked: true });
  say(context);
  if (yes) return undefined;
  context.err.write("Run this plan? [y/N, or e to write it to a file and edit it] ");
  const typing = input();
  const line = await typing.line();
  if (line === undefined) context.err.write("\n");
  const answer = (line ?? "").trim().toLowerCase();
  await typing.close();
  if (answer === "y" || answer === "yes") return undefined;
  if (answer === "e" || answer === "edit") return writeAside(context, plan);
  return refuse(context, EXIT.notAllDone, { kind: "declined", message: "the plan was not started" });
}

/** Writes the plan under the first free name, because an earlier plan may have been edited. */
async function writeAside(context: Context, plan: ExecutionPlan): Promise<ExitCode> {
  let why = "";
  for (const name of NAMES) {
    const written = await writeNew(path.join(context.folder, name), jsonText(plan), false);
    if (!("why" in written)) {
      say(context, `wrote ${name}; edit it, then: skein plan check ${name} && skein run ${name}`);
      return EXIT.notAllDone;
    }
    why = written.why;
    if (!written.isThere) break;
  }
  const message = `the plan could not be written here: ${harmless(why)}`;
  return refuse(context, EXIT.notAllDone, { kind: "configuration", message });
}

const NAMES: readonly string[] = ["plan.json", ...Array.from({ length: 98 }, (_, i) => `plan-${i + 2}.json`)];
