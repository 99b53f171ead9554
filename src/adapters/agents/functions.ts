/** How is a plain function an agent? It is called, watched for as long as it may take, and its value becomes words. */
import { type Failure, failure, messageOf } from "../../core/failure.ts";
import { readSpent } from "../../core/handoff-answer.ts";
import type { Agent, Ask, Said } from "../../ports/agent.ts";
import {
  type Place,
  type PlanFunction,
  UnreachableError,
  type WorkFunction,
} from "../../ports/agent-functions.ts";

export type Functions = { readonly plan?: PlanFunction; readonly work?: WorkFunction };

export class FunctionAgent implements Agent {
  readonly #functions: Functions;
  readonly #letGoMs: number;

  /** `letGoMs`: how long one that was told to stop is waited for, before its folder is given to others. */
  constructor(functions: Functions, letGoMs = LET_GO_MS) {
    this.#functions = functions;
    this.#letGoMs = letGoMs;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said> {
    const { folder, environment, maxMs, brief, scratchpad } = ask;
    const name = `the ${brief.kind} function`;
    if (signal.aborted) return failed(failure("interrupted", `${name} was told to stop before it began`));
    const place = { folder, environment, ...(scratchpad && { scratchpad }) };
    const call = (own: AbortSignal) => this.#call(brief, { ...place, signal: own });
    const end = await called(call, { maxMs, letGoMs: this.#letGoMs }, signal);
    switch (end.is) {
      case "stopped":
        return failed(failure("interrupted", `${name} was told to stop`));
      case "timed-out":
        return failed(failure("timed-out", `${name} did not end within ${maxMs} ms and was told to stop`));
      case "threw":
        return failed(thrownBy(name, end.error));
      case "returned":
        return saidBy(name, brief.kind, end.value);
    }
  }

  /** A function lives and dies with its process: what it had said went down with it, and is asked for again. */
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

type Ended =
  | { readonly is: "returned"; readonly value: unknown }
  | { readonly is: "threw"; readonly error: unknown }
  | { readonly is: "stopped" | "timed-out" };

/** Long enough to put things away; it cannot be ended from outside. */
const LET_GO_MS = 10_000;

/** What it returns once it was told to stop is not heard: it may have been cut off in the middle. */
async function called(
  call: (signal: AbortSignal) => unknown,
  { maxMs, letGoMs }: { readonly maxMs: number; readonly letGoMs: number },
  signal: AbortSignal,
): Promise<Ended> {
  const own = new AbortController();
  const { promise: letGo, resolve } = Promise.withResolvers<Ended>();
  let why: "stopped" | "timed-out" | undefined;
  const timers: NodeJS.Timeout[] = [];
  const stop = (reason: "stopped" | "timed-out", cause: unknown) => {
    if (why !== undefined) return;
    why = reason;
    timers.push(setTimeout(() => resolve({ is: reason }), letGoMs));
    own.abort(cause);
  };
  const heed = () => stop("stopped", signal.reason);
  signal.addEventListener("abort", heed, { once: true });
  timers.push(
    setTimeout(() => stop("timed-out", new Error("its time is up")), Math.min(maxMs, MAX_TIMER_MS)),
  );
  const ended = Promise.try(call, own.signal).then(
    (value): Ended => ({ is: "returned", value }),
    (error: unknown): Ended => ({ is: "threw", error }),
  );
  const end = await Promise.race([ended, letGo]);
  for (const timer of timers) clearTimeout(timer);
  signal.removeEventListener("abort", heed);
  return why === undefined ? end : { is: why };
}

/** Timers count in 31 bits of ms, some 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const failed = (why: Failure): Said => ({ is: "failed", failure: why });

const thrownBy = (name: string, error: unknown): Failure =>
  error instanceof UnreachableError
    ? failure(
        "agent-unreachable",
        `${name} could not reach its model: ${messageOf(error)}`,
        "see whether the model's provider answers, and whether the key is right",
      )
    : failure(
        "agent-failed",
        `${name} threw: ${messageOf(error)}`,
        "mend the function, or what it stumbled on",
      );

function saidBy(name: string, kind: Ask["brief"]["kind"], value: unknown): Said {
  if (value === undefined || value === null) return { is: "said", text: "" };
  if (typeof value === "string") return saying(value);
  const wanted = kind === "plan" ? "an object with tasks" : "an object with a status and a summary";
  if (typeof value !== "object" || Array.isArray(value))
    return failed(
      failure("agent-failed", `${name} returned ${nounOf(value)}`, `return ${wanted}, or a text`),
    );
  try {
    return saying(JSON.stringify(value));
  } catch (error) {
    const why = `${name} returned what cannot be written as JSON: ${messageOf(error)}`;
    return failed(failure("agent-failed", why, `return ${wanted}, or a text`));
  }
}

const nounOf = (value: unknown) => (Array.isArray(value) ? "a list" : `a ${typeof value}`);

function saying(text: string): Said {
  const spent = readSpent(text);
  return spent ? { is: "said", text, spent } : { is: "said", text };
}
