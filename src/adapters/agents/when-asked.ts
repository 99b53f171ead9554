/** An agent that is opened by its first turn: what it needs takes a while to load, and most commands never ask it. */
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Agent } from "../../ports/agent.ts";

export const whenAsked = (open: () => Promise<{ readonly agent: Agent } | Failed>): Agent => {
  const opening = () => open().catch((error: unknown) => ({ failure: unopened(error) }));
  return {
    turn: async (ask, signal) => {
      const opened = await opening();
      return hasFailed(opened) ? { is: "failed", failure: opened.failure } : opened.agent.turn(ask, signal);
    },
    collect: async (job) => {
      const opened = await opening();
      return hasFailed(opened) ? undefined : opened.agent.collect(job);
    },
  };
};

/** A file of the installation is missing or broken: an agent must not throw, or its turn is watched for ever. */
const unopened = (error: unknown): Failure =>
  failure("agent-failed", `the agent could not be loaded: ${messageOf(error)}`, "install skein again");
