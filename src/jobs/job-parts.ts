/** Types and functions that all jobs share: their ports, their ids, and their failures. */

import type { PlanAnswer } from "../core/answers/plan-answer.ts";
import type { Brief, PlanBrief, WorkBrief } from "../core/brief.ts";
import type { Failure } from "../core/failure.ts";
import { type Job, type JobId, jobId } from "../core/job.ts";
import type { Specialist } from "../core/specialist.ts";
import type { Agent, Called, Cut, Said } from "../ports/agent.ts";
import type { Checkout } from "../ports/checkout.ts";
import type { Criteria } from "../ports/criteria.ts";
import type { Gate } from "../ports/gate.ts";
import type { Answer } from "../ports/job-queue.ts";
import type { Outbox } from "../ports/outbox.ts";
import type { Repository } from "../ports/repository.ts";
import type { Signs } from "../ports/signs.ts";
import type { Artefacts, ContextFiles } from "../ports/subtasks.ts";
import type { Surroundings } from "../ports/surroundings.ts";
import type { Workspace, Workspaces } from "../ports/workspaces.ts";
import type { TemplateRegistry } from "../subtasks/registry.ts";

export type JobParts = {
  readonly repository: Repository;
  readonly workspaces: Workspaces;
  readonly gate: Gate;
  /** `none`: every goal goes whole to one worker. A function: the plan was made before the run. */
  readonly planner: Agent | "none" | FixedPlanner;
  readonly worker: Agent;
  readonly checkout: Checkout;
  /**
   * Makes an answer outlive the process before the job's workspace is given back: until then the answer could be found
   * there.
   */
  readonly remember: (job: JobId, answer: Answer) => Promise<void>;
  /**
   * Turns that succeeded, but whose work could not be judged because of the machine: the next attempt continues from
   * them.
   */
  readonly unkept: Map<JobId, JobTurn>;
  /** Removes secrets, because what an agent says goes into the log. */
  readonly redact: (text: string) => string;
  readonly surroundings: Surroundings;
  readonly specialists: () => Promise<readonly Specialist[]>;
  readonly signs: Signs;
  readonly outbox: Outbox;
  readonly subtasks: SubtaskParts;
  readonly criteria: Criteria;
  /** The longest that a turn may take, in ms: after that its answer is not waited for. */
  readonly maxTurnMs: { readonly plan: number; readonly work: number };
};

type SubtaskParts = {
  readonly templates: () => Promise<TemplateRegistry>;
  readonly filesIn: (folder: string) => ContextFiles;
  /** Where long results are kept whole. */
  readonly artefacts: Artefacts;
};

/** A turn that has ended, and the workspace with its work. */
export type JobTurn = {
  readonly workspace: Workspace;
  readonly said: Said | Called;
  readonly strays: readonly string[];
};

/** Answers at once and by rule, without an agent. */
type FixedPlanner = (brief: PlanBrief) => PlanAnswer;

export const failed = (why: Failure): Answer => ({ outcome: { is: "failed", failure: why } });

/** A failure quotes what programs wrote, and goes into the log, onto the screen and into later briefs. */
export const withoutSecrets = (why: Failure, redact: JobParts["redact"]): Failure => ({
  ...why,
  message: redact(why.message),
  ...(why.next === undefined ? {} : { next: redact(why.next) }),
  ...(why.detail === undefined ? {} : { detail: redact(why.detail) }),
});

/** The id of the job that a brief was made for. */
export const jobIdOf = (brief: Brief): JobId => jobId(jobOf(brief));

function jobOf(brief: Brief): Job {
  switch (brief.kind) {
    case "plan":
      return { kind: "plan", task: brief.task, turn: brief.turn };
    case "work":
      return { kind: "work", task: brief.task, attempt: brief.attempt };
    case "land":
      return { kind: "land", turn: brief.turn, members: brief.members };
    case "check":
      return { kind: "check", turn: brief.turn, ...(brief.probe && { probe: brief.probe }) };
  }
}

/**
 * The result of a turn of an earlier engine. If the turn was still running and had to be ended, only its cost counts.
 */
export async function collected(
  agent: Agent,
  brief: PlanBrief | WorkBrief,
  wasRunning: boolean,
): Promise<Said | Called | Cut | undefined> {
  const found = await agent.collect(jobIdOf(brief));
  if (!wasRunning || found === undefined || found.is === "cut") return found;
  return found.spent && { is: "cut", spent: found.spent };
}
