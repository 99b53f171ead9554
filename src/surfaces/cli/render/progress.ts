/** Shows a run while it goes on: events as JSON, or as lines. */
import type { Event } from "../../../core/log/event.ts";
import { type RunState, wallTime } from "../../../core/log/state.ts";
import type { Policy } from "../../../core/rules/policy.ts";
import { type Line, narrate } from "../../../core/view/narrate.ts";
import { waitOf } from "../../../core/view/view-wait.ts";
import { asJson, clockTime, harmless } from "../../../text/words.ts";
import { onPage } from "../columns.ts";
import type { Context } from "../context.ts";
import { paint } from "../output.ts";
import { waitText } from "./running.ts";

type Progress = {
  /** Words an event with the state directly after it; the line is shown once the event is durable. */
  readonly fold: (event: Event, state: RunState) => void;
  readonly watch: (event: Event, state: RunState) => void;
  /** The run has begun: its policy says how long it waits. */
  readonly show: (policy: Policy) => void;
  /** Prints a message of the command itself, between the events. */
  readonly say: (text: string) => void;
  readonly end: () => void;
};

/** `hasPlanner`: see `narrate`. */
export function startProgress(context: Context, shown: { readonly hasPlanner: boolean }): Progress {
  const { out, json } = context;
  if (json) {
    const watch = (event: Event) => out.write(`${asJson(event)}\n`);
    const say = (notice: string) => context.err.write(`${asJson({ notice })}\n`);
    return { fold: () => {}, watch, show: () => {}, say, end: () => {} };
  }
  const lines = new WeakMap<Event, Line>();
  const told: Told = (event) => lines.get(event);
  const fold: Progress["fold"] = (event, state) => {
    // The goal was printed when the run was announced.
    const line = event.type === "run.opened" ? undefined : narrate(event, state, shown);
    if (line) lines.set(event, line);
  };
  return { ...inLines(context, told), fold };
}

type Told = (event: Event) => Line | undefined;

function inLines({ out, now }: Context, told: Told): Omit<Progress, "fold"> {
  let policy: Policy | undefined;
  let said: number | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Says once per wait why there are no lines, for a person who reads them in a file. */
  const sayWait = (state: RunState) => {
    const wait = policy && waitOf(state, policy, now());
    if (wait?.until === undefined || wait.until === said || wait.until - now() < MIN_WAIT_MS) return;
    said = wait.until;
    out.write(`${clockTime(now())}  ${paint(out, "quiet", harmless(waitText(wait, now())))}\n`);
  };
  return {
    watch: (event, state) => {
      const line = told(event);
      if (line) {
        const at = paint(out, "quiet", clockTime(wallTime(state, event.at)));
        out.write(`${at}  ${paint(out, line.tone, besideClock(out, line.text))}\n`);
        for (const text of line.below ?? []) out.write(`${paint(out, "quiet", besideAll(out, text))}\n`);
      }
      clearTimeout(soon);
      soon = setTimeout(sayWait, TICK_MS, state).unref();
    },
    show: (shown) => {
      policy = shown;
    },
    say: (text) => out.write(`${text}\n`),
    end: () => clearTimeout(soon),
  };
}

/** A shorter wait is not mentioned. */
const MIN_WAIT_MS = 5_000;

const TICK_MS = 1_000;

const besideAll = (out: Context["out"], text: string): string =>
  onPage(out, " ".repeat(10) + text, " ".repeat(10));

/** "12:00:00  " and then the text, with wrapped lines aligned. */
const besideClock = (out: Context["out"], text: string): string =>
  onPage(out, " ".repeat(10) + text, " ".repeat(10)).trimStart();
