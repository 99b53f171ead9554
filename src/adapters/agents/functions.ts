/** Makes plain functions an agent: calls them within a time limit, and turns what they return into an answer. */
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import type { Agent, Ask, Said } from "../../ports/agent.ts";
import {
  type Place,
  type PlanFunction,
  UnreachableError,
  type WorkFunction,
} from "../../ports/agent-functions.ts";
import { fails, MAX_TIMER_MS, says } from "./ends.ts";

export type Functions = { readonly plan?: PlanFunction; readonly work?: WorkFunction };

/** Time for a stopped function to clean up; a function cannot be ended from outside. */
const LET_GO_MS = 10_000;

export class FunctionAgent implements Agent {
  readonly #functions: Functions;
  readonly #letGoMs: number;

  /** `letGoMs`: how long a stopped function is waited for before its folder is reused. */
  constructor(functions: Functions, letGoMs = LET_GO_MS) {
    this.#functions = functions;
    this.#letGoMs = letGoMs;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said> {
    const { folder, environment, maxMs, brief, scratchpad } = ask;
    const name = `the ${brief.kind} function`;
    if (signal.aborted) return fails(failure("interrupted", `${name} was stopped before it began`));
    const place = { folder, environment, ...(scratchpad && { scratchpad }) };
    const time = new AbortController();
    const stop = AbortSignal.any([signal, time.signal]);
    const called = Promise.try(() => this.#call(brief, { ...place, signal: stop })).then(
      (value) => saidBy(name, brief.kind, value),
      (error: unknown) => fails(thrownBy(name, error)),
    );
    const late = Promise.withResolvers<undefined>();
    const timers = [setTimeout(() => time.abort(), Math.min(maxMs, MAX_TIMER_MS))];
    stop.addEventListener("abort", () => {
      timers.push(setTimeout(() => late.resolve(undefined), this.#letGoMs));
    });
    const said = await Promise.race([called, late.promise]);
    for (const timer of timers) clearTimeout(timer);
    // A result after a stop does not count: the function may have been cut off in the middle.
    if (said && !stop.aborted) return said;
    return fails(
      signal.aborted
        ? failure("interrupted", `${name} was stopped`)
        : failure("timed-out", `${name} did not end within ${maxMs} ms and was stopped`),
    );
  }

  /** A function ends with its process, so its answer is lost and the turn is repeated. */
  async collect(): Promise<undefined> {
    return undefined;
  }

  #call(brief: Ask["brief"], place: Place): unknown {
    const { plan, work } = this.#functions;
    if (brief.kind === "plan" && plan) return plan(brief, place);
    if (brief.kind === "work" && work) return work(brief, place);
    throw new Error("there is none");
  }
}

const thrownBy = (name: string, error: unknown): Failure =>
  error instanceof UnreachableError
    ? failure(
        "agent-unreachable",
        `${name} could not reach its model: ${messageOf(error)}`,
        "see whether the model's provider answers, and whether the key is right",
      )
    : failure("agent-failed", `${name} threw: ${messageOf(error)}`, "fix the function, or what it failed on");

function saidBy(name: string, kind: Ask["brief"]["kind"], value: unknown): Said {
  if (value === undefined || value === null) return says("");
  if (typeof value === "string") return says(value);
  const wanted = kind === "plan" ? "an object with tasks" : "an object with a status and a summary";
  const refuse = (why: string) =>
    fails(failure("agent-failed", `${name} returned ${why}`, `return ${wanted}, or a text`));
  if (Array.isArray(value)) return refuse("a list");
  if (typeof value !== "object") return refuse(`a ${typeof value}`);
  try {
    return says(JSON.stringify(value));
  } catch (error) {
    return refuse(`what cannot be written as JSON: ${messageOf(error)}`);
  }
}
