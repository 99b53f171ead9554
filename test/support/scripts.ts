/** Short functions that build the scripts of agents. */
import type { PlanTurn, ScriptStep, WorkAttempt } from "../../src/ports/agent-script.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A task whose scope is by default a file of its own name. */
export const task = (id: string, more: Fields = {}) => ({
  id,
  description: `do ${id}`,
  acceptance: `${id} is done`,
  scope: [`${id}.txt`],
  ...more,
});

export const plans = (...tasks: readonly Fields[]): PlanTurn => ({ answer: { scratchpad: "", tasks } });

export const handoff = (status: string, more: Fields = {}): WorkAttempt["end"] => ({
  handoff: { status, summary: `it is ${status}`, ...more },
});

/** An attempt that writes one file and reports complete. */
export const writes = (path: string, text = "good\n", ...steps: readonly ScriptStep[]): WorkAttempt => ({
  steps: [{ do: "write", path, text }, ...steps],
  end: handoff("complete"),
});

export const waits = (ms: number): ScriptStep => ({ do: "wait", ms });
