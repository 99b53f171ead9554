/** How is a run shown while it goes on? Events as JSON, as lines, or as lines above an area that is kept up to date. */
import type { Event } from "../../../core/log/event.ts";
import { type RunState, runTime, wallTime } from "../../../core/log/state.ts";
import type { Policy } from "../../../core/rules/policy.ts";
import { type Seen, viewOf } from "../../../core/view/view.ts";
import { waitOf } from "../../../core/view/view-wait.ts";
import { asJson, clockTime, harmless } from "../../../text/words.ts";
import { onPage } from "../columns.ts";
import type { Context } from "../context.ts";
import { paint } from "../output.ts";
import { LiveArea } from "./live-area.ts";
import { type Line, narrate } from "./narrate.ts";
import { areaOf, waitText } from "./running.ts";

type Progress = {
  /** Words an event with the state right after it; it is shown once it is durable. */
  readonly fold: (event: Event, state: RunState) => void;
  readonly watch: (event: Event, state: RunState) => void;
  /** The run goes on: `seen` is what there is to see of it, and the policy says until when it waits. */
  readonly show: (seen: Seen, policy: Policy) => void;
  /** Something of the command's own, between the events. */
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
  const { size } = out;
  const lines = new WeakMap<Event, Line>();
  const told: Told = (event) => lines.get(event);
  const fold: Progress["fold"] = (event, state) => {
    // The goal was said when the run was announced.
    const line = event.type === "run.opened" ? undefined : narrate(event, state, shown);
    if (line) lines.set(event, line);
  };
  const shownIn = size ? onTerminal(context, new LiveArea({ ...out, size }), told) : inLines(context, told);
  return { ...shownIn, fold };
}

type Told = (event: Event) => Line | undefined;

function inLines({ out, now }: Context, told: Told): Omit<Progress, "fold"> {
  let policy: Policy | undefined;
  let said: number | undefined;
  let soon: NodeJS.Timeout | undefined;
  /** Who reads a file of lines wants to know why there are none; once for each wait. */
  const sayWait = (state: RunState) => {
    const wait = policy && waitOf(state, policy, now());
    if (wait?.until === undefined || wait.until === said || wait.until - now() < MIN_WAIT_MS) return;
    said = wait.until;
    out.write(`${clockTime(now())}  ${paint(out, "quiet", harmless(waitText(wait, now())))}\n`);
  };
  return {
    watch: (event, state) => {
      const line = told(event);
      if (line) out.write(`${clockTime(wallTime(state, event.at))}  ${paint(out, line.tone, line.text)}\n`);
      clearTimeout(soon);
      soon = setTimeout(sayWait, TICK_MS, state).unref();
    },
    show: (_, shown) => {
      policy = shown;
    },
    say: (text) => out.write(`${text}\n`),
    end: () => clearTimeout(soon),
  };
}

/** What is shorter needs no word. */
const MIN_WAIT_MS = 5_000;

/** Often enough to look alive, seldom enough to cost nothing. */
const MIN_REDRAW_MS = 80;
const TICK_MS = 1_000;

function onTerminal({ out, now }: Context, area: LiveArea, told: Told): Omit<Progress, "fold"> {
  const openedAt = now();
  let shown: { readonly seen: Seen; readonly policy: Policy; readonly begun: number } | undefined;
  let soon: NodeJS.Timeout | undefined;
  let isOver = false; // What is still heard afterwards is in the log; the area must not come back.
  const draw = () => {
    soon = undefined;
    if (!shown) return;
    const { seen, policy, begun } = shown;
    const startedAt = wallTime(seen.state, begun);
    const wait = waitOf(seen.state, policy, now());
    const about = { now: now(), startedAt, ...(wait === undefined ? {} : { wait }) };
    area.show(areaOf(viewOf(seen), about));
  };
  const tick = setInterval(() => {
    if (!shown?.seen.state.closed) draw();
  }, TICK_MS);
  return {
    watch: (event, state) => {
      if (isOver) return;
      const line = told(event);
      if (line)
        area.print(
          `${paint(out, "quiet", clockTime(wallTime(state, event.at)))}  ${paint(out, line.tone, besideClock(out, line.text))}`,
        );
      soon ??= setTimeout(draw, MIN_REDRAW_MS);
    },
    show: (seen, policy) => {
      shown = { seen, policy, begun: runTime(seen.state, openedAt) };
    },
    say: (text) => area.print(text),
    end: () => {
      isOver = true;
      clearInterval(tick);
      clearTimeout(soon);
      area.clear();
    },
  };
}

/** "12:00:00  " and then the text, below each other. */
const besideClock = (out: Context["out"], text: string): string =>
  onPage(out, " ".repeat(10) + text, " ".repeat(10)).trimStart();
