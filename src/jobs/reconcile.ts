/** How do failures belong together? A model that can read the code is asked; without its answer the rules decide alone. */

import { readPlanAnswer } from "../core/answers/plan-answer.ts";
import { withProposals } from "../core/answers/proposals.ts";
import type { CheckBrief, PlanBrief } from "../core/brief.ts";
import type { JobId, Spent } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import type { Problem } from "../core/rules/repair.ts";
import { ROOT, type TaskSpec } from "../core/task.ts";
import type { Agent } from "../ports/agent.ts";
import { redactFields } from "../text/redact.ts";
import type { JobParts } from "./job-parts.ts";
import { runWatched } from "./watched.ts";

export type Reconciled = { readonly problems: readonly Problem[]; readonly spent?: Spent };

/** Whatever goes wrong with it, the problems are those that were found. */
export async function askReconciler(
  job: JobId,
  brief: CheckBrief & { readonly repair: NonNullable<CheckBrief["repair"]> },
  problems: readonly Problem[],
  parts: JobParts & { readonly reconciler: Agent },
  signal: AbortSignal,
): Promise<Reconciled> {
  const { workspaces, reconciler, signs, redact } = parts;
  const workspace = await workspaces.take({ job, commit: brief.tip, use: "plan" }, signal);
  if (hasFailed(workspace)) return { problems };
  const { folder, environment } = workspace;
  const asked = { job, brief: planBriefOf(brief, problems), folder, environment, maxMs: MAX_MS };
  // Landing waits for it: a model without quota, or a slow one, is not worth that.
  const said = await runWatched(
    reconciler,
    asked,
    signs,
    AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]),
  );
  await workspaces.release(workspace);
  const spent = said.spent ? { spent: said.spent } : {};
  if (said.is !== "said") return { problems, ...spent };
  const read = redactFields(readPlanAnswer(said.text), redact);
  if (read.is !== "answer") return { problems, ...spent };
  return { problems: withProposals(problems, read.answer.tasks, brief.repair), ...spent };
}

const MAX_MS = 5 * 60_000;
/** A model reads no more at once; the rest is planned for by rule. */
const MAX_PROBLEMS = 100;

function planBriefOf(
  { run, turn, tip, repair }: CheckBrief & { readonly repair: NonNullable<CheckBrief["repair"]> },
  problems: readonly Problem[],
): PlanBrief {
  const { goal, pending, maxTasks, maxFiles } = repair;
  return {
    kind: "plan",
    run,
    goal,
    task: ROOT,
    spec: SPEC,
    depth: 0,
    turn,
    tip,
    transcript: `repair-${turn}`,
    scratchpad: "",
    first: true,
    maxTasks,
    rejected: [],
    notes: [],
    news: [],
    active: [],
    concerns: [],
    steers: [],
    repair: { problems: problems.slice(0, MAX_PROBLEMS), pending, maxTasks, maxFiles },
  };
}

const SPEC: TaskSpec = {
  key: "repair",
  description: "Name fixes for what is broken on the target",
  acceptance: "Each failure is in a fix",
  scope: [],
  after: [],
  priority: 1,
  delivers: "report",
  shape: "plan",
  slug: "repair",
};
