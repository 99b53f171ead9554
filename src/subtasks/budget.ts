/** The budget of a task: a part of its parent's budget, never more than the parent has left. */
import type { TaskError } from "../ports/subtasks.ts";
import { exhausted } from "./errors.ts";
import type { Allowance } from "./limits.ts";

/** Use counts for this budget and for each budget above it, once each. */
export class Budget {
  readonly #limit: Allowance;
  readonly #startedAt: number;
  /** When its time is over: the same number as in the budget above, if it was given all the time that is left there. */
  readonly #until: number;
  readonly #from: Budget | undefined;
  #tasks = 0;
  #tokens = 0;
  #isTimeUp = false;

  constructor(limit: Allowance, startedAt: number, from?: Budget) {
    this.#limit = limit;
    this.#startedAt = startedAt;
    this.#until = Math.min(startedAt + limit.ms, from?.until ?? Infinity);
    this.#from = from;
  }

  get until(): number {
    return this.#until;
  }

  /** A new budget of at most what is left here. Without a wish the task shares this budget. */
  carve(wish: Partial<Allowance> | undefined, now: number): Budget {
    if (wish === undefined) return this;
    const left = this.left(now);
    const least = (what: "tasks" | "tokens") => Math.max(0, Math.min(left[what], wish[what] ?? left[what]));
    const ms = wish.ms ?? Infinity; // The budgets above end it too.
    return new Budget({ tasks: least("tasks"), ms, tokens: least("tokens") }, now, this);
  }

  left(now: number): Allowance {
    const { tasks, tokens } = this.#limit;
    const own = { tasks: tasks - this.#tasks, ms: this.#until - now, tokens: tokens - this.#tokens };
    const above = this.#from?.left(now);
    if (above === undefined) return own;
    return {
      tasks: Math.min(own.tasks, above.tasks),
      ms: Math.min(own.ms, above.ms),
      tokens: Math.min(own.tokens, above.tokens),
    };
  }

  /** Why a turn that needs so many tokens cannot begin; undefined if it can. */
  lacks(tokens: number, now: number): TaskError | undefined {
    const { tokens: limit } = this.#limit;
    if (this.#isTimeUp || now >= this.#until) return this.#outOfTime(now);
    if (this.#tokens + tokens > limit) return exhausted("tokens", { used: this.#tokens, limit });
    return this.#from?.lacks(tokens, now);
  }

  /**
   * A timer may fire slightly early, so all budgets that end now are ended together, and none of their tasks continues.
   */
  endTime(now: number): TaskError {
    for (let at: Budget | undefined = this; at?.until === this.until; at = at.#from) at.#isTimeUp = true;
    return this.#outOfTime(now);
  }

  #outOfTime(now: number): TaskError {
    const limit = Math.round(this.#until - this.#startedAt);
    return exhausted("time", { used: Math.max(limit, Math.round(now - this.#startedAt)), limit });
  }

  /** Counts one more task, or returns why it is refused. */
  takeTask(): TaskError | undefined {
    const full = this.#fullOfTasks();
    if (full) return full;
    for (let at: Budget | undefined = this; at; at = at.#from) at.#tasks += 1;
    return undefined;
  }

  #fullOfTasks(): TaskError | undefined {
    const { tasks: limit } = this.#limit;
    if (this.#tasks >= limit) return exhausted("tasks", { used: this.#tasks, limit });
    return this.#from === undefined ? undefined : this.#from.#fullOfTasks();
  }

  charge(tokens: number): void {
    for (let at: Budget | undefined = this; at; at = at.#from) at.#tokens += tokens;
  }
}
