/** `skein run`: from a goal to a run that goes on here. */
import { baseOf, createRun, discardRun, gateOf, type Project } from "../../../compose.ts";
import type { Config } from "../../../config/index.ts";
import { targetBranchOf } from "../../../core/brief.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { agentText, foundText } from "../agent-text.ts";
import { type Act, type Context, refuse, say } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { RunOptions } from "../verbs/options.ts";
import { firstLine, harmless, onPage, short } from "../words.ts";
import { settleAgents } from "./agents.ts";
import { configure } from "./configuration.ts";
import { deliverDone, refuseDelivery } from "./deliver.ts";
import { type Driven, driveRun } from "./drive-run.ts";
import { readGoal } from "./goal.ts";
import { hasExit, NEVER, openHere } from "./project.ts";

export const run: Act<RunOptions & { readonly goal: string }> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const goal = await readGoal(context, options.goal);
  if (hasExit(goal)) return goal.exit;
  const read = await configure(context, project, options);
  if (hasExit(read)) return read.exit;
  const { config, notices } = read;
  return (await begin(context, project, { ...options, goal: goal.text, config, notices })).exit;
};

type Wanted = {
  readonly goal: string;
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
  const home = await createRun(project, { goal, ...base, config });
  if (hasFailed(home)) return { exit: refuse(context, EXIT.configuration, home.failure) };
  const { run: name } = home.record;
  const notices = [...project.located.notices, ...wanted.notices, ...settled.notices];
  for (const text of notices)
    say(context, paint(context.out, "bad", onPage(context.out, `notice: ${harmless(text)}`, "  ")));
  const from = base.baseBranch === undefined ? short(base.base) : `${base.baseBranch} (${short(base.base)})`;
  const rows = [
    ["run", name],
    ["goal", firstLine(goal)],
    ["base", from],
    ["target", targetBranchOf(name, config.branchPrefix)],
    ["gate", gateText(config, gate)],
    ["agent", `${agentText(config)}${why === undefined ? "" : ` (${foundText(why, config.agent)})`}`],
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

function gateText(
  config: Config,
  { found, commands }: { readonly found: string; readonly commands: readonly object[] },
) {
  if (commands.length > 0) return found;
  if (config.gate === "none") return "switched off: landings will not be gated";
  return `none found: landings will not be gated (${found.replace(/^no gate was found: /, "")})`;
}
