/** Runs a plan job: one turn of the planner's agent, in a folder with the target's files. */

import { readHandoff } from "../core/answers/handoff-answer.ts";
import { readPlanAnswer } from "../core/answers/plan-answer.ts";
import type { PlanBrief } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import type { Outcome } from "../core/job.ts";
import { hasFailed } from "../core/result.ts";
import { type Agent, type Ask, asSaid, type Cut, type Said } from "../ports/agent.ts";
import type { Answer } from "../ports/job-queue.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { redactFields } from "../text/redact.ts";
import { collected, failed, type JobParts, jobIdOf } from "./job-parts.ts";
import { takeTold } from "./preparing.ts";
import { runWatched } from "./watched.ts";

export async function plan(brief: PlanBrief, parts: JobParts, signal: AbortSignal): Promise<Answer> {
  const { workspaces, planner, maxTurnMs, surroundings, specialists, signs } = parts;
  if (planner === "none") return KEPT_WHOLE;
  if (typeof planner === "function") return { outcome: { is: "planned", answer: planner(brief) } };
  const job = jobIdOf(brief);
  const workspace = await takeTold({ job, commit: brief.tip, use: "plan" }, { workspaces, signs }, signal);
  if (hasFailed(workspace)) return failed(workspace.failure);
  const { folder, environment } = workspace;
  const facts = await surroundings.of(brief.tip, signal);
  const ask: Ask = {
    job,
    brief,
    folder,
    environment,
    maxMs: maxTurnMs.plan,
    // Without the facts, a planner can still look at the repository.
    ...(hasFailed(facts) ? {} : { facts }),
    roles: await specialists(),
  };
  const said = await runWatched(planner, ask, signs, signal);
  await workspaces.release(workspace); // What a planner changed there is thrown away.
  return answerOf(asSaid(said), parts);
}

/** After a restart: takes the answer that a planner gave before the engine could receive it. */
export async function finishPlan(
  brief: PlanBrief,
  { workspace, wasRunning }: { readonly workspace: Workspace | undefined; readonly wasRunning: boolean },
  parts: JobParts,
): Promise<Answer | Cut | undefined> {
  const { planner, workspaces } = parts;
  const said = isAgent(planner) ? await collected(planner, brief, wasRunning) : undefined;
  if (workspace) await workspaces.release(workspace);
  return said?.is === "cut" ? said : said && answerOf(asSaid(said), parts);
}

const isAgent = (planner: JobParts["planner"]): planner is Agent => typeof planner === "object";

/** Without a planner the whole goal goes to one worker. */
const KEPT_WHOLE: Answer = {
  outcome: {
    is: "planned",
    answer: { scratchpad: "", tasks: [], deferred: [], addressed: [], done: undefined, notes: [] },
  },
};

export function answerOf(said: Said, { redact }: Pick<JobParts, "redact">): Answer {
  const spent = said.spent ? { spent: said.spent } : {};
  return {
    outcome: said.is === "failed" ? { is: "failed", failure: said.failure } : read(said.text, redact),
    ...spent,
  };
}

/**
 * True for a handoff, or the word that ends a task of a plan file: then a program that only works was asked to plan.
 */
const isWorkers = (text: string): boolean =>
  readHandoff(text, "").is !== "none" || /^DONE\b/im.test(text.trim().split("\n").at(-1) ?? "");

/** Addressed to the person who named the program; a planner cannot do anything about it. */
const DID_YOU_MEAN = "did you mean `--planner none`? Then one worker does the whole goal";

/** An unreadable answer is a failure, and the planner is asked again; it is never an empty plan. */
function read(text: string, redact: JobParts["redact"]): Outcome {
  const found = redactFields(readPlanAnswer(text), redact);
  if (found.is === "answer") return { is: "planned", answer: found.answer };
  const kind = found.is === "invalid" ? "plan-invalid" : "plan-unreadable";
  if (isWorkers(text)) {
    const message = `this answered as a worker, not as a planner: ${found.reasons.join("; ")}`;
    return { is: "failed", failure: failure("not-a-planner", message, DID_YOU_MEAN) };
  }
  return { is: "failed", failure: failure(kind, found.reasons.join("; "), "answer again, as asked") };
}
