/** Wraps an agent that is opened by its first turn: its modules load slowly, and most commands never use it. */
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

/** A file of the installation is missing or broken. An agent must not throw: its turn would be watched for ever. */
const unopened = (error: unknown): Failure =>
  failure("agent-failed", `the agent could not be loaded: ${messageOf(error)}`, "install skein again");
