/** Requires agreement to what the repository asks for before an agent plans. Rules run nothing and need none. */

import type { ReadSettings } from "../../../config/index.ts";
import { hasFailed } from "../../../core/result.ts";
import { type Agrees, agreesTo, type PlanAgrees } from "../../../ports/trust.ts";
import { hasExit, NEVER, openTrusted } from "../acts/project.ts";
import type { PlanOptions } from "../commands/options.ts";
import { configure } from "../configuration.ts";
import type { Context } from "../context.ts";
import type { Exit } from "../exit-codes.ts";
import { standingHere } from "../trust.ts";

export type PlanTrust = PlanAgrees & { readonly read: Omit<ReadSettings, "asks" | "withheld"> };

/**
 * `read`: the settings, of which withheld ones would have an effect. An agent that is merely found gets only what was
 * agreed to before.
 */
export async function trustForAgent(
  context: Context,
  top: string,
  wanted: PlanOptions,
  read: ReadSettings,
): Promise<PlanTrust | Exit> {
  const { agent, model, planner, script, by } = wanted;
  const named = [agent, model, script, planner].some((one) => one !== undefined && one !== "none");
  const spec = read.config.planner ?? read.config.agent;
  const isAsked = by === "agent" || named || (spec !== undefined && spec !== "none");
  if (!isAsked && (spec === "none" || read.withheld.length === 0))
    return { read, agrees: async () => (await standingAgrees(context, top, wanted)) ?? (() => false) };
  const project = await openTrusted(context, top, wanted, NEVER);
  if (hasExit(project)) return project;
  const configured = await configure(context, project, wanted);
  if (hasExit(configured)) return configured;
  const agrees = agreesTo(configured.agreed);
  return { read: configured, also: agreesTo(project.agreed ?? []), agrees: async () => agrees };
}

async function standingAgrees(
  context: Context,
  top: string,
  wanted: PlanOptions,
): Promise<Agrees | undefined> {
  const here = await standingHere(context, top, wanted);
  return hasFailed(here) ? undefined : here.standing.agrees;
}
