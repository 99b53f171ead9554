/** `decomposeAndExecute`: splits a task and runs the parts on the engine without a repository; returns one handoff. */
import { runEmbedded } from "../../app/run-embedded.ts";
import { embeddedParts } from "../../compose/embedded.ts";
import { readPlanAnswer } from "../../core/answers/plan-answer.ts";
import { messageOf } from "../../core/failure.ts";
import { createFailureHandoff, type Handoff } from "../../core/handoff.ts";
import type { Event } from "../../core/log/event.ts";
import type { RunState } from "../../core/log/state.ts";
import { aggregate, endedHandoff } from "../../core/rules/aggregate.ts";
import { undoneTexts } from "../../core/rules/given-up.ts";
import { defaultPolicy, type Policy } from "../../core/rules/policy.ts";
import { EVERYTHING } from "../../core/scope.ts";
import { childId, parentId, ROOT, type Task, type TaskId, type TaskSpec } from "../../core/task.ts";
import type { EngineEnd } from "../../engine/engine.ts";
import { slugOf } from "../../text/slug.ts";
import type { DecomposeOptions, ParentTask, PolicyChanges } from "./types.ts";

/** Never throws: every error becomes a failed handoff with the reason. */
export async function decompose(parent: ParentTask, options: DecomposeOptions): Promise<Handoff> {
  try {
    const spec = readParent(parent);
    if ("reasons" in spec) return createFailureHandoff(parent, spec.reasons.join("; "));
    const signal = options.signal ?? new AbortController().signal;
    if (signal.aborted) return createFailureHandoff(parent, `aborted: ${messageOf(signal.reason)}`);
    const whole = new Whole(parent, options.onEvent);
    const history = historyOf(spec);
    for (const event of history) whole.watch(event);
    const { plan, work } = options;
    const policy = withChanges(options.policy ?? {});
    const end = await runEmbedded(
      { history, policy, watch: (event) => whole.watch(event) },
      embeddedParts({ plan, work }),
      signal,
    );
    return whole.handoff(end);
  } catch (error) {
    return createFailureHandoff({ id: String(Object(parent).id ?? "") }, error);
  }
}

/** Reasons are worded as for a planner whose task cannot be used. */
function readParent(parent: ParentTask): TaskSpec | { readonly reasons: readonly string[] } {
  const { id, description, scope, acceptance, priority } = parent;
  const task = { id, description, scope, acceptance: acceptance ?? description, priority };
  const read = readPlanAnswer(JSON.stringify({ tasks: [task] }));
  if (read.is !== "answer") return { reasons: read.reasons };
  const [answered] = read.answer.tasks;
  if (answered!.isIdMade) return { reasons: ['"id" is missing'] };
  return {
    key: answered!.id,
    description: answered!.description,
    acceptance: acceptance ?? "",
    scope: answered!.scope,
    after: [],
    priority: answered!.priority ?? DEFAULT_PRIORITY,
    delivers: "change",
    shape: "plan", // The caller has decided to split; the planner may still keep the task whole.
    slug: slugOf(answered!.description),
  };
}

const DEFAULT_PRIORITY = 5;

/** Below the root, where the rules of subplanners apply: scopes inside its own, no overlaps, depths from 0. */
const PARENT = childId(ROOT, 1);

/** The events as if a root planner had asked for this one task, and for nothing more. */
function historyOf(spec: TaskSpec): readonly Event[] {
  const at = Date.now();
  const { description: goal, priority: rank } = spec;
  const request = { run: "embedded", goal, base: "nothing" };
  const said = { scratchpad: "", addressed: [], heard: 0, steers: 0 };
  const into = [{ id: PARENT, spec, rank }];
  const root = { ...spec, key: ROOT, scope: [EVERYTHING] };
  return [
    { type: "run.opened", at, request, spec: root },
    { type: "plan.accepted", at, task: ROOT, into, replanAfter: 1, said, notes: [] },
    { type: "plan.ended", at, task: ROOT, over: "finished" },
  ];
}

function withChanges(changes: PolicyChanges): Policy {
  const merged = Object.entries(changes).map(([name, change]) => {
    const known: unknown = defaultPolicy[name as keyof Policy];
    const isGroup = typeof known === "object" && !Array.isArray(known);
    return [name, isGroup ? { ...known, ...(change as object) } : change];
  });
  return { ...defaultPolicy, ...Object.fromEntries(merged) };
}

/** Collects from the events what the handoff of the whole task needs. */
class Whole {
  readonly #parent: ParentTask;
  readonly #onEvent: DecomposeOptions["onEvent"];
  /** Kept here because the state drops diffs of done tasks, which are half of a handoff's value. */
  readonly #diffs = new Map<TaskId, string>();
  #hasWarned = false;

  constructor(parent: ParentTask, onEvent: DecomposeOptions["onEvent"]) {
    this.#parent = parent;
    this.#onEvent = onEvent;
  }

  watch(event: Event): void {
    if ((event.type === "task.handed-off" || event.type === "task.done") && event.handoff.diff !== "")
      this.#diffs.set(event.task, event.handoff.diff);
    try {
      this.#onEvent?.(event);
    } catch (error) {
      // A listener must not change what it listens to; that it throws is reported once.
      if (!this.#hasWarned) process.emitWarning(`onEvent threw: ${messageOf(error)}`, "SkeinWarning");
      this.#hasWarned = true;
    }
  }

  handoff(end: EngineEnd): Handoff {
    if (end.is === "lost") return createFailureHandoff(this.#parent, end.failure);
    const { state } = end;
    const { commit: _none, ...handoff } = handoffOf(state, this.#parent);
    const done = [...this.#diffs].filter(([id]) => state.tasks.get(id)?.state.is === "done");
    return { ...handoff, taskId: this.#parent.id, diff: done.map(([, diff]) => diff).join("\n") };
  }
}

/** There is no planner above, so undone tasks are listed among the concerns. */
function handoffOf(state: RunState, parent: ParentTask): Handoff {
  const whole = wholeOf(state, parent);
  return { ...whole, concerns: [...whole.concerns, ...undoneTexts(state, PARENT)] };
}

function wholeOf(state: RunState, { id }: ParentTask): Handoff {
  const parent = state.tasks.get(PARENT)!;
  if (parent.state.is === "done") return parent.state.handoff;
  const reason = reasonOf(state, parent);
  const parts = [...state.tasks.values()].filter((task) => parentId(task.id) === PARENT);
  if (parts.length === 0)
    return parent.state.is === "failed" ? endedHandoff(state, parent) : createFailureHandoff({ id }, reason);
  const whole = aggregate(state, PARENT);
  const isPartial = parts.some((part) => part.state.is === "done");
  const status = isPartial ? "partial" : parent.state.is === "failed" ? whole.status : "failed";
  return { ...whole, status, summary: `${reason}\n${whole.summary}`, concerns: [...whole.concerns, reason] };
}

function reasonOf({ closed, cancelling }: RunState, { state }: Task): string {
  if (cancelling !== undefined) return cancelling;
  // The summary already has the failures below it.
  if (state.is === "failed" && state.failure.kind === "children-failed") return "none of it was done";
  if (state.is === "failed") return state.failure.message;
  return closed && closed.left.length > 0 ? closed.left.join("; ") : `it is ${state.is}`;
}
