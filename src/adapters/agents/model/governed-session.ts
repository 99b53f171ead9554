/** How does one turn of a model go, governed, told to people and within its time? The same for jobs and for tasks. */
import type { ToolSet } from "ai";
import type { JobId } from "../../../core/job.ts";
import type { TaskId } from "../../../core/task.ts";
import type { Ask } from "../../../ports/agent.ts";
import type { Governor } from "../../../ports/governor.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { Transcript } from "../../../ports/transcripts.ts";
import type { Model } from "../../models/providers.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import type { ToolLimits } from "../tools/place.ts";
import { type Backoff, governed } from "./governed-model.ts";
import type { Ledger } from "./ledger.ts";
import { hold, type Session, type SessionEnd } from "./session.ts";
import { Teller } from "./teller.ts";
import type { ToolParts } from "./turn-parts.ts";
import type { WorkingTime } from "./working-time.ts";

/** A model and what may stand in for it. */
export type Chain = readonly [Model, ...Model[]];

export type ModelLimits = {
  /** Calls of the model in one turn. */
  readonly maxSteps: number;
  readonly maxSilenceMs: number;
  readonly maxTransient: number;
  readonly backoff: Backoff;
  readonly tools: ToolLimits;
};

export type GovernedParts = {
  readonly governor: Governor;
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  /** Blots out secrets. */
  readonly redact: (text: string) => string;
  readonly limits: ModelLimits;
  readonly now: () => number;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
};

export type GovernedTurn = Pick<Session, "asked" | "output" | "system" | "past" | "message"> &
  Pick<Ask, "onSign" | "onSlow"> & {
    readonly job: JobId;
    readonly task: TaskId;
    readonly chain: Chain;
    readonly ledger: Ledger;
    readonly time: WorkingTime;
    readonly transcript: Transcript;
    readonly conversation: "new" | "continued";
    readonly tools: (parts: ToolParts) => Promise<ToolSet>;
    readonly onMessages: Session["onMessages"];
  };

/** Does not throw, unless the tools cannot be had. */
export async function holdGoverned(
  parts: GovernedParts,
  turn: GovernedTurn,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const { limits, programs, sandbox, ...calls } = parts;
  const { job, task, chain, ledger, time } = turn;
  const teller = new Teller(turn.transcript.write);
  const onSign = () => turn.onSign?.();
  teller.begin(chain[0].id, turn.conversation);
  const model = governed({
    ...{ ...calls, ...limits, job, task, chain, ledger, onSign },
    onPart: teller.part,
    onSlow: (doing) => turn.onSlow?.(doing),
    onTrouble: teller.trouble,
    onWait: (isWaiting) => time.pause(isWaiting),
  });
  const room = chain[0].contextTokens - chain[0].maxOutputTokens;
  const session: Session = {
    ...{
      asked: turn.asked,
      output: turn.output,
      system: turn.system,
      past: turn.past,
      message: turn.message,
    },
    model,
    tools: await turn.tools({ programs, sandbox, limits: limits.tools, onSign, write: teller.tool }),
    roomTokens: Math.floor(Math.max(room, chain[0].contextTokens / 2) * ROOM_SHARE),
    maxSteps: limits.maxSteps,
    onMessages: async (messages) => {
      teller.messages(messages);
      onSign();
      await turn.onMessages(messages);
    },
  };
  return hold(session, signal);
}

/** For all messages; the rest is for instructions, descriptions of tools, and what the estimate is wrong by. */
const ROOM_SHARE = 0.8;
