/** How does one turn go with an agent that is talked with? A session, a message, and once more if it must. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { Spent } from "../../../core/job.ts";
import { doneAnswer } from "../../../ports/agent.ts";
import { askAgain } from "../../../prompting/ask-again.ts";
import { type AskedFor, whyUnreadable } from "../../../prompting/asked-for.ts";
import { answerIn } from "../answer.ts";
import { type Blamed, failureOfError, failureOfWords, isQuota } from "./failures.ts";
import type { Hearing } from "./hearing.ts";
import type { Fields } from "./loose.ts";
import type { Ended, Greeting } from "./peer.ts";
import { greet, type Opened, openSession, type SessionParts } from "./session.ts";
import { spentIn } from "./usage.ts";
import { closing, inTime, isLate } from "./waits.ts";

/** What is needed to meet an agent, and to know what went wrong if that fails. */
export type MeetingParts = SessionParts & {
  readonly hearing: Hearing;
  readonly blamed: Omit<Blamed, "logins" | "now">;
  readonly now: () => number;
};

export type DialogueParts = MeetingParts & {
  readonly asked: AskedFor;
  /** The file that its answer must name. */
  readonly output?: string | undefined;
  readonly message: string;
  /** Instead of it, to an agent that goes on with its session. */
  readonly goOnMessage?: string;
  /** Once there is a session, before anything is said. What is to be added to the message that begins it. */
  readonly opened?: (session: string) => Promise<string>;
  /** The turn has ended with a call: no other answer is waited for. */
  readonly isOver?: () => boolean;
};

/** `gone`: the connection was closed from the other side. `cut`: we were told to stop, or its time was up. */
export type Talked = { readonly spent?: Spent } & (
  | { readonly is: "said"; readonly text: string }
  | { readonly is: "failed"; readonly failure: Failure }
  | { readonly is: "other-version"; readonly version: number }
  | { readonly is: "gone" }
  | { readonly is: "cut" }
);

export async function dialogue(parts: DialogueParts, signal: AbortSignal): Promise<Talked> {
  const bills: Fields[] = [];
  const talk = async ({ session, isLoaded }: Opened) => {
    const more = (await parts.opened?.(session)) ?? "";
    const begins = more === "" ? parts.message : `${parts.message}\n\n${more}`;
    const message = isLoaded ? (parts.goOnMessage ?? begins) : begins;
    return answered({ ...parts, message }, { session, bills }, signal);
  };
  const talked = await meet(parts, talk, signal);
  const spent = spentIn(bills, parts.hearing.cost);
  return spent ? { ...talked, spent } : talked;
}

/** Greets it, and opens a session for what follows. */
export async function meet(
  parts: MeetingParts,
  then: (opened: Opened) => Promise<Talked>,
  signal: AbortSignal,
): Promise<Talked> {
  const blamed = { ...parts.blamed, logins: [] as Greeting["logins"] };
  const talk = async (): Promise<Talked> => {
    const greeting = await greet(parts, signal);
    if ("is" in greeting) return greeting;
    blamed.logins = greeting.logins;
    parts.hearing.replay(parts.goesOn !== undefined);
    const opened = await openSession(parts, greeting, signal);
    parts.hearing.replay(false);
    parts.hearing.listenTo(opened.session);
    return then(opened);
  };
  return talk().catch((thrown: unknown): Talked => {
    if (signal.aborted) return { is: "cut" };
    if (isLate(thrown)) return { is: "failed", failure: late(parts, thrown.what) };
    if (closing(thrown)) return { is: "gone" };
    return { is: "failed", failure: failureOfError(thrown, { ...blamed, now: parts.now() }) };
  });
}

const late = ({ blamed, startMs }: MeetingParts, what: string): Failure =>
  failure(
    "agent-unreachable",
    `${blamed.name} did not answer ${what} within ${Math.round(startMs / 1_000)} s`,
    "start it by hand to see whether it speaks the Agent Client Protocol on its standard input and output",
  );

/** `bills`: what each answer cost is added. */
export type TalkPlace = { readonly session: string; readonly bills: Fields[] };

async function answered(parts: DialogueParts, place: TalkPlace, signal: AbortSignal): Promise<Talked> {
  const { asked, hearing, output } = parts;
  const kind = asked === "work" ? "work" : "plan";
  const done = output === undefined ? undefined : doneAnswer(output);
  const heard = () => {
    if (done === undefined) return answerIn(hearing.text, kind);
    return hearing.lastWords === done ? done : hearing.text; // What it says between its steps is no answer.
  };
  const first = await prompted(parts, place, parts.message, signal);
  if ("is" in first) return first;
  if (parts.isOver?.()) return { is: "said", text: "" };
  const before = heard();
  const wrong = whyUnreadable(asked, before, output);
  if (wrong === undefined) return { is: "said", text: before };
  const second = await prompted(parts, place, askAgain(asked, wrong), signal);
  if ("is" in second) return second;
  if (parts.isOver?.()) return { is: "said", text: "" };
  const after = heard();
  if (whyUnreadable(asked, after, output) === undefined) return { is: "said", text: after };
  const why = STOPS.get(first.stop);
  if (why) return { is: "failed", failure: failure("agent-failed", `${parts.blamed.name} ${why}`) };
  return { is: "said", text: after === "" ? before : after };
}

/** Ends that say nothing about the work but that it is not finished. */
const STOPS: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "stopped in the middle: it had used all tokens that it may use in one turn"],
  ["max_turn_requests", "stopped in the middle: it had asked its model as often as it may in one turn"],
]);

const FATAL: ReadonlyMap<string, string> = new Map([
  ["refusal", "refused to go on"],
  ["cancelled", "gave up its own turn"],
]);

/** One message, and how the answer to it ended; what was said is in `hearing`. */
export async function prompted(
  { peer, hearing, blamed, now }: MeetingParts,
  { session, bills }: TalkPlace,
  message: string,
  signal: AbortSignal,
): Promise<Ended | Talked> {
  hearing.forget();
  const ending = Promise.race([peer.prompt(session, message), stuck(hearing)]);
  const ended = await inTime(ending, { signal }).catch(async (thrown: unknown) => {
    if (!signal.aborted) throw thrown;
    peer.cancel(session);
    const last = await inTime(ending, { ms: CANCEL_MS, what: "cancel" }).catch(() => undefined);
    if (last) bills.push(last.bill);
    return undefined;
  });
  if (ended === undefined) return { is: "cut" };
  bills.push(ended.bill);
  const judged = { ...blamed, logins: [], now: now() };
  if (ended.stop === "error") return { is: "failed", failure: failureOfError(ended.error, judged) };
  const fatal = FATAL.get(ended.stop);
  if (fatal) return { is: "failed", failure: failure("agent-failed", `${blamed.name} ${fatal}`) };
  // Some say in an ordinary message that the account is spent. Whoever has done something means something else.
  const { text, hasActed } = hearing;
  if (!hasActed && text.length < MAX_COMPLAINT_CHARS && !text.includes("{") && isQuota(text, judged.now)) {
    return { is: "failed", failure: failureOfWords(text, judged) };
  }
  return ended;
}

const stuck = async (hearing: Hearing): Promise<never> => {
  throw Object.assign(new Error(await hearing.stuck), { code: INTERNAL });
};
const INTERNAL = -32603;

/** How long an agent may take to say that it has stopped: what it has cost comes with it. */
const CANCEL_MS = 2_000;
const MAX_COMPLAINT_CHARS = 1_000;
