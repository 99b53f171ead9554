/** Plays a script as a model: finds its place in the conversation at each call, and makes the script's next call. */
import { setTimeout as sleep } from "node:timers/promises";
import { awaited } from "../../../src/adapters/agents/scripted-await.ts";
import type { Fault as End, Script } from "../../../src/ports/agent-script.ts";
import { PLACE, placeIn } from "../place.ts";
import type { Answerer, Reply, SeenCall, SeenMessage } from "./reply.ts";
import { type Called, isRefused, type Move, movesOf, type Pause } from "./script-moves.ts";

export type PlayOptions = {
  /** How to wait for a script's pause; by default for as long as it says. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
  /**
   * How a worker waits for another task, for example `byRecords`; by default it does not wait. Gives the problem, if
   * any.
   */
  readonly until?: (step: Await, signal: AbortSignal) => Promise<string | undefined>;
  /** For agents with tools other than Skein's: the call of their tool instead of Skein's. */
  readonly translate?: (called: Called) => Called;
};

export type Await = Extract<Pause, { readonly do: "await" }>;

/**
 * Nothing is remembered between calls: a call that is made again gets the same answer, from any player. A fault lasts
 * for its turn or attempt. An agent without the tool `plan` or `handoff` is answered in JSON.
 */
export function playsScript(script: Script, options: PlayOptions = {}): Answerer {
  return async (call, signal) => {
    const asked = askedIn(call.messages);
    if (asked === undefined) return wrong("nothing in the conversation says which task it is about");
    // Some agents ask for a title or a summary of the conversation.
    if (call.tools.length === 0) return { text: `About ${asked.key}` };
    const next = asked.kind === "plan" ? planning(script, asked) : working(script, asked);
    for (const pause of next.pauses) {
      const problem = await take(pause, options, signal);
      if (problem !== undefined) return spoken(handsOff(failed(problem)), call, options);
    }
    return "reply" in next ? next.reply : spoken(next, call, options);
  };
}

/** Waits for answers in a run's folder of jobs, which scripted agents read, too. */
export function byRecords(jobs: string | (() => string)): NonNullable<PlayOptions["until"]> {
  return async (step, signal) => {
    const look = () => awaited({ ...step, ms: 0 }, typeof jobs === "string" ? jobs : jobs(), () => {});
    const end = Date.now() + step.ms;
    let missing = look();
    while (missing !== undefined && Date.now() < end) {
      await sleep(POLL_MS, undefined, { signal });
      missing = look();
    }
    return missing;
  };
}

/** The run gives no signal when it writes an answer, so the folder is polled. */
const POLL_MS = 20;

type Asked = {
  readonly kind: "plan" | "work";
  readonly task: string;
  readonly key: string;
  /** The number of the turn or attempt. */
  readonly number: number;
  readonly message: string;
  /** The messages after it, oldest first. */
  readonly since: readonly SeenMessage[];
};

/** Takes the first of the messages that name the newest turn, because a turn can be named again. */
function askedIn(messages: readonly SeenMessage[]): Asked | undefined {
  const marked = messages.flatMap(({ role, text }, at) => {
    const mark = role === "user" ? PLACE.exec(text)?.[0] : undefined;
    return mark === undefined ? [] : [{ at, mark, text }];
  });
  const last = marked.at(-1);
  if (last === undefined) return undefined;
  const before = marked.findLastIndex(({ mark }) => mark !== last.mark);
  const since = messages.slice(marked[before + 1]!.at + 1);
  const kind = last.mark.includes("\nTurn: ") ? "plan" : "work";
  return { kind, ...placeIn(last.text)!, message: last.text, since };
}

/** After the pauses comes a text, a call, or a fault. */
type Next = Move | { readonly pauses: readonly Pause[]; readonly reply: Reply };

function planning(script: Script, { task, key, number, message }: Asked): Next {
  const turns = listFor(script.plans, task, key) ?? [];
  // A planner's scratchpad is in every message to it, and holds the number of its accepted answers.
  const given = Number([...message.matchAll(/\[script: answer (\d+)\]/g)].at(-1)?.[1] ?? 0);
  const accident = turns[number - 1];
  const turn = accident && !("answer" in accident) ? accident : turns.filter((t) => "answer" in t)[given];
  const pauses = [{ do: "wait", ms: turn?.delayMs ?? 0 }] as const;
  if (turn === undefined) {
    const scratchpad = given === 0 ? "" : markOf(given);
    return { pauses, text: "", call: { name: "plan", input: { scratchpad, tasks: [] } } };
  }
  if ("end" in turn) return { pauses, reply: ended(turn.end) };
  if ("text" in turn) return { pauses, text: turn.text };
  const scratchpad = `${turn.answer["scratchpad"] ?? ""}\n${markOf(given + 1)}`.trim();
  return { pauses, text: "", call: { name: "plan", input: { ...turn.answer, scratchpad } } };
}

const markOf = (given: number) => `[script: answer ${given}]`;

function working(script: Script, { task, key, number, message, since }: Asked): Next {
  const attempts = listFor(script.work, task, key);
  if (!attempts) return { pauses: [], reply: wrong(`the script has no work for ${task} ("${key}")`) };
  const { steps = [], end } = attempts[Math.min(number, attempts.length) - 1]!;
  const { move, refused } = placeAmong(movesOf(steps), since);
  if (refused !== undefined) return handsOff(failed(refused));
  if (move.call) return move;
  if (typeof end === "object" && "handoff" in end) return { ...handsOff(end.handoff), ...move };
  const output = /into your output file: (.*)/.exec(message)?.[1];
  if (end === "done") {
    const summary = output === undefined ? "it is done" : `DONE|${output}`;
    return { ...handsOff({ status: "complete", summary }), ...move };
  }
  if (typeof end === "object" && "answer" in end)
    return { pauses: move.pauses, text: end.answer.replaceAll("$OUTPUT", () => output ?? "") };
  if (typeof end === "object" && !("exit" in end))
    return { pauses: [], reply: wrong("a model does not follow a script that calls") };
  // A silent worker that is asked once more gives an answer.
  const isAskedAgain = since.some(({ role, text }) => role === "user" && text.trim() !== "");
  return end === "silent" && isAskedAgain
    ? handsOff({ status: "complete", summary: "it is done" })
    : { pauses: move.pauses, reply: ended(end) };
}

/** Finds the next move by the calls made in this attempt, or the error of the last one. */
function placeAmong(
  moves: readonly Move[],
  since: readonly SeenMessage[],
): { readonly move: Move; readonly refused?: string } {
  const results = new Map(
    since.flatMap(({ toolResults }) => toolResults.map(({ id, text }) => [id, text] as const)),
  );
  const calls = since.flatMap(({ toolCalls }) => toolCalls).filter(({ name }) => name !== "handoff");
  let at = 0;
  let isSecond = false;
  for (const { id } of calls) {
    const result = results.get(id) ?? "";
    const { otherwise } = moves[at]!;
    if (!isRefused(result)) at = Math.min(at + 1, moves.length - 1);
    else if (otherwise === undefined || isSecond) return { move: moves[at]!, refused: result };
    isSecond = isRefused(result);
  }
  const { otherwise, ...move } = moves[at]!;
  return { move: isSecond && otherwise ? { pauses: [], text: "", call: otherwise } : move };
}

const failed = (why: string) => ({ status: "failed", summary: `a step failed: ${why}` });

const handsOff = (handoff: Readonly<Record<string, unknown>>): Move => ({
  pauses: [],
  text: "",
  call: { name: "handoff", input: { concerns: [], suggestions: [], ...handoff } },
});

function ended(end: End): Reply {
  switch (end) {
    case "crash":
      return { fault: { is: "cut", afterPieces: 2, reply: { text: "let me see" } } };
    case "hang":
      return { fault: { is: "hang" } };
    case "outage":
      return { fault: { is: "status", status: 503 } };
    case "silent":
      return { text: "" };
    default:
      break;
  }
  if (end.exit === 0) return { text: "" };
  return end.exit === EX_TEMPFAIL ? ended("outage") : wrong(`the script ends with exit code ${end.exit}`);
}

/** The exit code "try again later" of sysexits.h. */
const EX_TEMPFAIL = 75;

/** An error that is not retried, with a body that is valid on every wire. */
const wrong = (message: string): Reply => ({
  fault: {
    is: "status",
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message, param: null, code: null } },
  },
});

function spoken({ text, call }: Move, { tools }: SeenCall, { translate = (c) => c }: PlayOptions): Reply {
  if (!call) return { text };
  const isAnswer = call.name === "plan" || call.name === "handoff";
  if (isAnswer && !tools.includes(call.name)) return { text: `${text}${JSON.stringify(call.input)}` };
  return { text, tools: [isAnswer ? call : translate(call)] };
}

async function take(pause: Pause, options: PlayOptions, signal: AbortSignal): Promise<string | undefined> {
  const { wait = pauseFor, until } = options;
  if (pause.do === "await") return until?.(pause, signal);
  if (pause.ms > 0) await wait(pause.ms, signal);
  return undefined;
}

const pauseFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(Math.min(ms, MAX_PAUSE_MS), undefined, { signal });

/** Clients give up on a provider that is silent for longer. */
const MAX_PAUSE_MS = 60_000;

const listFor = <T>(lists: Readonly<Record<string, readonly T[]>>, task: string, key: string) =>
  [task, key].filter((name) => Object.hasOwn(lists, name)).map((name) => lists[name]!)[0];
