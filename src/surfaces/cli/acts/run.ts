/** `skein run`: from a goal, or a plan, to a run that goes on here. */

import { checkedBy, groundsOf } from "../../../compose/planning.ts";
import { baseOf, createRun, discardRun, gateOf, type Project } from "../../../compose.ts";
import type { Config, ReadConfig } from "../../../config/index.ts";
import { targetBranchOf } from "../../../core/brief.ts";
import type { ExecutionPlan } from "../../../planning/plan.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { agentText, foundText, specText } from "../agent-text.ts";
import { type Act, type Context, refuse, say } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { PlanFirst, RunOptions } from "../verbs/options.ts";
import { firstLine, harmless, onPage, plural, short } from "../words.ts";
import { settleAgents } from "./agents.ts";
import { configure } from "./configuration.ts";
import { deliverDone, refuseDelivery } from "./deliver.ts";
import { type Driven, driveRun } from "./drive-run.ts";
import { gateWarnings } from "./gate-warnings.ts";
import { readGoal } from "./goal.ts";
import { notify } from "./plan.ts";
import { costNotices } from "./plan-cost.ts";
import { type GivenPlan, planIn, planSize } from "./plan-file.ts";
import { approve, planOf, refusePlanFirst } from "./plan-run.ts";
import { type Exit, hasExit, NEVER, openHere } from "./project.ts";

type Given = RunOptions & PlanFirst & { readonly goal: string };

export const run: Act<Given> = async (context, options) => {
  const wrong = refusePlanFirst(context, options);
  if (wrong !== undefined) return wrong;
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const wanted = await wantedIn(context, project, options);
  if (hasExit(wanted)) return wanted.exit;
  const read = await configure(context, project, options);
  if (hasExit(read)) return read.exit;
  const config = wanted.plan ? followingPlan(read, wanted.plan.plan) : read.config;
  const costs = wanted.plan ? await costNotices(project, config, wanted.plan.plan) : [];
  if (options.plan && wanted.plan) {
    notify(context, costs);
    const declined = await approve(context, wanted.plan, options);
    if (declined !== undefined) return declined;
  }
  const notices = [...read.notices, ...(options.plan ? [] : costs)];
  const { plan: _first, ...given } = options;
  return (await begin(context, project, { ...given, ...wanted, config, notices })).exit;
};

/** A plan says its goal; any other file is one. */
async function wantedIn(
  context: Context,
  project: Project,
  options: Given,
): Promise<Pick<Wanted, "goal" | "plan"> | Exit> {
  const file = await planIn(context, options.goal, () => lintFacts(project));
  if (file && hasExit(file)) return file;
  if (file) return { goal: file.plan.goal, plan: file };
  const goal = await readGoal(context, options.goal);
  if (hasExit(goal) || !options.plan) return hasExit(goal) ? goal : { goal: goal.text };
  const plan = await planOf(context, goal.text, options);
  return hasExit(plan) ? plan : { goal: goal.text, plan };
}

/** What cannot be looked at is not compared. */
async function lintFacts({ located }: Project) {
  const grounds = await groundsOf(located.top, NEVER);
  return "facts" in grounds ? checkedBy(grounds) : {};
}

/** Nobody is asked to plan. What somebody says now about the number of workers counts for more than the plan. */
function followingPlan({ config, origins }: ReadConfig, { max_concurrent: workers }: ExecutionPlan): Config {
  const isSaid = /^(?:--|SKEIN_)/.test(origins["workers"] ?? "");
  return { ...config, planner: "none", ...(isSaid ? {} : { workers }) };
}

type Wanted = {
  readonly goal: string;
  readonly plan?: GivenPlan;
  readonly config: Config;
  readonly notices: readonly string[];
  readonly intoCheckout?: true;
};

/** The same for a goal of the user's and for the demo's. */
export async function begin(context: Context, project: Project, wanted: Wanted): Promise<Driven> {
  const { goal } = wanted;
  const settled = await settleAgents(context, project, wanted.config);
  if (hasExit(settled)) return settled;
  const { config, why } = settled;
  const base = await baseOf(project, config.base, NEVER);
  if (hasFailed(base)) return { exit: refuse(context, EXIT.configuration, base.failure) };
  const undeliverable = await refuseDelivery(context, project, { ...wanted, config, ...base });
  if (undeliverable !== undefined) return { exit: undeliverable };
  const gate = await gateOf(project, config, base.base, NEVER);
  if (hasFailed(gate)) return { exit: refuse(context, EXIT.configuration, gate.failure) };
  const plan = wanted.plan;
  const home = await createRun(project, { goal, ...base, config, ...(plan ? { plan: plan.plan } : {}) });
  if (hasFailed(home)) return { exit: refuse(context, EXIT.configuration, home.failure) };
  const { run: name } = home.record;
  const warnings = await gateWarnings({ ...project, config, env: context.env }, base.base);
  const notices = [...project.located.notices, ...wanted.notices, ...settled.notices, ...warnings];
  for (const text of notices)
    say(context, paint(context.out, "bad", onPage(context.out, `notice: ${harmless(text)}`, "  ")));
  const from = base.baseBranch === undefined ? short(base.base) : `${base.baseBranch} (${short(base.base)})`;
  const rows = [
    ["run", name],
    ["goal", firstLine(goal)],
    ...(plan ? [["plan", planRow(plan)] as const] : []),
    ["base", from],
    ["target", targetBranchOf(name, config.branchPrefix)],
    ["gate", gateText(config, gate)],
    [
      "agent",
      `${plan ? specText(config.agent) : agentText(config)}${why === undefined ? "" : ` (${foundText(why, config.agent)})`}`,
    ],
    ["kept in", home.folder],
  ] as const;
  for (const [key, text] of rows) {
    const tone = key === "gate" && gate.commands.length === 0 ? "bad" : "plain";
    say(context, paint(context.out, "quiet", key.padEnd(8)) + paint(context.out, tone, harmless(text)));
  }
  say(context);
  const driven = await driveRun(context, project, home, config);
  if (driven.isRefused) await discardRun(home);
  if (driven.exit !== EXIT.done || !config.deliver) return driven;
  return { ...driven, exit: await deliverDone(context, project, home, { ...wanted, config }) };
}

function planRow({ plan, from, warnings }: GivenPlan): string {
  if (from === undefined) return `${planSize(plan)}, by ${plan.planner}`;
  const look = warnings === 0 ? "" : ` (${plural(warnings, "warning")}: skein plan check ${from})`;
  return `${planSize(plan)}, from ${from}${look}`;
}

function gateText(
  config: Config,
  { found, commands }: { readonly found: string; readonly commands: readonly object[] },
) {
  if (commands.length > 0) return found;
  if (config.gate === "none") return "switched off: landings will not be gated";
  return `none found: landings will not be gated (${found.replace(/^no gate was found: /, "")})`;
}
