/** Decomposes a task within the test's process, with functions that plan and work, and records what they were told. */
import type { PlanBrief, WorkBrief } from "../../src/core/brief.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { PlannedPart, PlanResult, WorkResult } from "../../src/ports/agent-functions.ts";
import { decomposeAndExecute } from "../../src/surfaces/library/library.ts";
import type { DecomposeOptions, ParentTask } from "../../src/surfaces/library/types.ts";

export const LIMIT = { timeout: 30_000 };
export const PARENT: ParentTask = {
  id: "big",
  description: "Make all",
  scope: ["a.ts", "b.ts", "c.ts", "d.ts"],
};

/** By default the scope is a file of the part's own name. */
export const part = (id: string, more: Partial<PlannedPart> = {}): PlannedPart => ({
  id,
  description: `make ${id}`,
  acceptance: `${id} is there`,
  scope: [`${id}.ts`],
  ...more,
});

export const ALL = ["a", "b", "c", "d"].map((id) => part(id));

export const did = ({ spec }: WorkBrief, more: object = {}): WorkResult => ({
  status: "complete",
  summary: `made ${spec.key}`,
  filesChanged: spec.scope,
  ...more,
});

export const once =
  (tasks: readonly PlannedPart[]) =>
  ({ first }: PlanBrief): PlanResult => ({ tasks: first ? tasks : [] });

/** Executes, and gives every brief and every event as well. */
export async function execute(options: Partial<DecomposeOptions> = {}, parent = PARENT) {
  const [plans, works, events] = [[] as PlanBrief[], [] as WorkBrief[], [] as Event[]];
  const { plan = once(ALL), work = did } = options;
  const handoff = await decomposeAndExecute(parent, {
    ...options,
    plan: (brief, turn) => {
      plans.push(brief);
      return plan(brief, turn);
    },
    work: (brief, turn) => {
      works.push(brief);
      return work(brief, turn);
    },
    onEvent: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  });
  return { handoff, plans, works, events, keys: works.map(({ spec }) => spec.key) };
}
