/** The port of agents: one turn of a program or a model, with a brief, a folder, and an answer at the end. */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { JobId, Spent } from "../core/job.ts";
import type { Specialist } from "../core/specialist.ts";
import type { Facts } from "./surroundings.ts";

export type Agent = {
  /** Must not throw. Its changes are in the folder, its claims in its words. */
  turn(ask: Ask, signal: AbortSignal): Promise<Said | Called>;
  /**
   * The result of an earlier engine's turn, if the turn is known to have ended by itself, successfully or not. Called
   * only once nothing of the turn runs any more. A turn that may have been cut off never counts as complete.
   */
  collect(job: JobId): Promise<Said | Called | Cut | undefined>;
};

/** An agent that always fails: runs whose agents were functions of a program can be delivered and tidied up with it. */
export const NOBODY: Agent = {
  turn: async () => ({ is: "failed", failure: failure("agent-unreachable", "no agent is configured") }),
  collect: async () => undefined,
};

export type Ask = {
  readonly job: JobId;
  readonly brief: PlanBrief | WorkBrief;
  /** Its working folder, the only one that it may change. A planner's changes there are thrown away. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly maxMs: number;
  /** The specialist that it is in this turn; absent for an ordinary worker or planner. */
  readonly role?: Specialist;
  /** For planners: facts about the repository at `brief.tip`. */
  readonly facts?: Facts;
  /** For planners: the specialists that they can name. */
  readonly roles?: readonly Specialist[];
  /** For workers of a plan: where earlier tasks put their results, and where this task's result goes. */
  readonly scratchpad?: Scratchpad;
  /** For a subtask that begins: the text that it reads, and the job whose conversation it inherits in full. */
  readonly context?: { readonly text: string; readonly inherits?: JobId };
  /** Called at each sign of life: a word, a step, an output. A turn without one for long counts as hanging. */
  readonly onSign?: () => void;
  /** Called when the model does not answer, or hardly, in words for people; with undefined when it answers again. */
  readonly onSlow?: (doing: string | undefined) => void;
};

/** `file`: the file in the folder for its result, which exists and is empty; the only file there that it may change. */
export type Scratchpad = { readonly folder: string; readonly file?: string };

/** The whole answer of a worker with such a file. */
export const doneAnswer = (file: string): string => `DONE|${file}`;

/** `text` is empty if the turn succeeded without any output. */
export type Said =
  | { readonly is: "said"; readonly text: string; readonly spent?: Spent }
  | { readonly is: "failed"; readonly failure: Failure; readonly spent?: Spent };

/**
 * A worker's turn that ended with a call of one of Skein's own tools. When there is a response, the conversation of
 * this job goes on in another job, whose brief names this one as `goOn.session`.
 */
export type Called = {
  readonly is: "called";
  readonly tool: "spawn_subtask" | "ask";
  /** As the agent wrote it: unchecked. */
  readonly input: unknown;
  readonly spent?: Spent;
};

/** For a planner's turn: a planner has no calls, so a call is a failure. */
export const asSaid = (said: Said | Called): Said =>
  said.is === "called"
    ? {
        is: "failed",
        failure: failure("agent-failed", `a planner cannot call ${said.tool}`),
        ...(said.spent && { spent: said.spent }),
      }
    : said;

/** A turn that was cut off: only its cost so far counts. */
export type Cut = { readonly is: "cut"; readonly spent: Spent };
