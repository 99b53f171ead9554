/** Who does a turn of work? A program or a model; it gets a brief and a folder, and says something at the end. */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { JobId, Spent } from "../core/job.ts";
import type { Specialist } from "../core/specialist.ts";
import type { Facts } from "./surroundings.ts";

export type Agent = {
  /** Must not throw. What it changed is in the folder; what it claims is in its words. */
  turn(ask: Ask, signal: AbortSignal): Promise<Said | Called>;
  /**
   * The result of a turn of an earlier engine, if it is known to have ended by itself, well or badly; asked only
   * once nothing of it runs any more. That its work is complete is not taken from one that may have been cut off.
   */
  collect(job: JobId): Promise<Said | Called | Cut | undefined>;
};

/** A run whose agents were functions of a program can be delivered and tidied up without them. */
export const NOBODY: Agent = {
  turn: async () => ({ is: "failed", failure: failure("agent-unreachable", "no agent is configured") }),
  collect: async () => undefined,
};

export type Ask = {
  readonly job: JobId;
  readonly brief: PlanBrief | WorkBrief;
  /** Its working folder: all that it may change. What a planner changes there is thrown away. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly maxMs: number;
  /** The role that it plays in this turn; none: a worker or planner like any other. */
  readonly role?: Specialist;
  /** For planners: what is worth knowing of the repository at `brief.tip`. */
  readonly facts?: Facts;
  /** For planners: the roles that they can name. */
  readonly roles?: readonly Specialist[];
  /** For workers of a plan: where earlier tasks have put their results, and where this one's goes. */
  readonly scratchpad?: Scratchpad;
  /** Of a subtask that begins: what it is given to read, and the job whose conversation it inherits in full. */
  readonly context?: { readonly text: string; readonly inherits?: JobId };
  /** Called at each sign of life: a word, a step, an output. A turn without one for long is taken to hang. */
  readonly onSign?: () => void;
  /** Called when the model does not answer, or hardly, in words for people; undefined: it does again. */
  readonly onSlow?: (doing: string | undefined) => void;
};

/** `file`: what its result goes to, in the folder, already there and empty; all that may be changed there. */
export type Scratchpad = { readonly folder: string; readonly file?: string };

/** What a worker with such a file says at its end, and nothing else. */
export const doneAnswer = (file: string): string => `DONE|${file}`;

/** `text` is empty if it ended well without a word. */
export type Said =
  | { readonly is: "said"; readonly text: string; readonly spent?: Spent }
  | { readonly is: "failed"; readonly failure: Failure; readonly spent?: Spent };

/**
 * A worker's turn that ended with a call of one of Skein's own tools. The conversation of this job goes on, in another
 * job whose brief names this one as `goOn.session`, when there is a response.
 */
export type Called = {
  readonly is: "called";
  readonly tool: "spawn_subtask" | "ask";
  /** As the agent wrote it: unchecked. */
  readonly input: unknown;
  readonly spent?: Spent;
};

/** Of a planner, which cannot call for anything: a call is a failure. */
export const asSaid = (said: Said | Called): Said =>
  said.is === "called"
    ? {
        is: "failed",
        failure: failure("agent-failed", `a planner cannot call ${said.tool}`),
        ...(said.spent && { spent: said.spent }),
      }
    : said;

/** A turn that was cut off: nothing of it counts but what it had cost by then. */
export type Cut = { readonly is: "cut"; readonly spent: Spent };
