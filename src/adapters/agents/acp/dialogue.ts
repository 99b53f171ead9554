/** Runs one turn with an ACP agent: a session, a message, and a second message if the answer cannot be read. */
import { type Failure, failure } from "../../../core/failure.ts";
import { doneAnswer } from "../../../ports/agent.ts";
import { type AskedFor, askAgain, whyUnreadable } from "../../../prompting/asked-for.ts";
import type { LooseFields } from "../../../text/json.ts";
import { answerIn } from "../answer.ts";
import { type Blamed, failureOfError, failureOfWords, isQuota, type Talked } from "./failures.ts";
import type { Hearing } from "./hearing.ts";
import type { Login, PromptEnd } from "./peer.ts";
import { inTime, isClosing, Late, type Opened, openSession, type SessionParts } from "./session.ts";
import { spentIn } from "./usage.ts";

/** What is needed to open a session, and to explain a failure to do so. */
export type MeetingParts = SessionParts & {
  readonly hearing: Hearing;
  readonly blamed: Omit<Blamed, "logins" | "now">;
  readonly now: () => number;
};

type DialogueParts = MeetingParts & {
  readonly asked: AskedFor;
  /** The file that the agent's answer must name. */
  readonly output?: string | undefined;
  readonly message: string;
  /** Sent instead of `message` to an agent that has resumed its session. */
  readonly resumedMessage?: string | undefined;
  /** Called once there is a session, before the first prompt. Returns what is added to the first message. */
  readonly onOpened: (session: string) => Promise<string>;
  /** Whether the turn has ended with a call, so that no other answer is waited for. */
  readonly isOver: () => boolean;
};

export async function dialogue(parts: DialogueParts, signal: AbortSignal): Promise<Talked> {
  const bills: LooseFields[] = [];
  const talk = async ({ session, isLoaded }: Opened) => {
    const more = await parts.onOpened(session);
    const first = more === "" ? parts.message : `${parts.message}\n\n${more}`;
    const message = isLoaded ? (parts.resumedMessage ?? first) : first;
    return answered({ ...parts, message }, { session, bills }, signal);
  };
  const talked = await meet(parts, talk, signal);
  const spent = spentIn(bills, parts.hearing.cost);
  return spent ? { ...talked, spent } : talked;
}

export async function meet(
  parts: MeetingParts,
  then: (opened: Opened) => Promise<Talked>,
  signal: AbortSignal,
): Promise<Talked> {
  const { peer, hearing, startMs: ms } = parts;
  let logins: readonly Login[] = [];
  const talk = async (): Promise<Talked> => {
    const greeting = await inTime(peer.initialize(), { ms, what: "initialize", signal });
    if (greeting.version !== 1) return { is: "failed", failure: otherVersion(parts, greeting.version) };
    logins = greeting.logins;
    hearing.replay(parts.resumes !== undefined);
    const opened = await openSession(parts, greeting, signal);
    hearing.replay(false);
    hearing.listenTo(opened.session);
    return then(opened);
  };
  return talk().catch((thrown: unknown): Talked => {
    if (signal.aborted) return { is: "cut" };
    if (thrown instanceof Late) return { is: "failed", failure: late(parts, thrown.what), isLate: true };
    if (isClosing(thrown)) return { is: "gone" };
    return { is: "failed", failure: failureOfError(thrown, { ...parts.blamed, logins, now: parts.now() }) };
  });
}

const late = ({ blamed, startMs }: MeetingParts, what: string): Failure =>
  failure(
    "agent-unreachable",
    `${blamed.name} did not answer ${what} within ${Math.round(startMs / 1_000)} s`,
    "start it by hand to see whether it speaks the Agent Client Protocol on its standard input and output",
  );

const otherVersion = ({ blamed }: MeetingParts, version: number): Failure =>
  failure(
    "agent-failed",
    `${blamed.name} speaks version ${version} of the Agent Client Protocol; Skein speaks version 1`,
    "install a version of it that fits, or name another agent",
  );

/** `bills`: collects what each answer cost. */
type SessionBills = { readonly session: string; readonly bills: LooseFields[] };

async function answered(parts: DialogueParts, place: SessionBills, signal: AbortSignal): Promise<Talked> {
  const { asked, output, isOver } = parts;
  const first = await prompted(parts, place, parts.message, signal);
  if ("is" in first) return first;
  if (isOver()) return { is: "said", text: "" };
  const before = answerOf(parts);
  const wrong = whyUnreadable(asked, before, output);
  if (wrong === undefined) return { is: "said", text: before };
  const second = await prompted(parts, place, askAgain(asked, wrong), signal);
  if ("is" in second) return second;
  if (isOver()) return { is: "said", text: "" };
  const after = answerOf(parts);
  if (whyUnreadable(asked, after, output) === undefined) return { is: "said", text: after };
  const why = UNFINISHED.get(first.stop);
  if (why) return { is: "failed", failure: failure("agent-failed", `${parts.blamed.name} ${why}`) };
  return { is: "said", text: after === "" ? before : after };
}

function answerOf({ asked, hearing, output }: DialogueParts): string {
  if (asked === "task") return hearing.text;
  if (output === undefined) return answerIn(hearing.text, asked === "work" ? "work" : "plan");
  const done = doneAnswer(output);
  return hearing.lastWords === done ? done : hearing.text; // Words between steps are no answer.
}

/** Stop reasons that only mean that the work is not finished. */
const UNFINISHED: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "stopped in the middle: it had used all tokens that it may use in one turn"],
  ["max_turn_requests", "stopped in the middle: it had asked its model as often as it may in one turn"],
]);

const FATAL: ReadonlyMap<string, string> = new Map([
  ["refusal", "refused to go on"],
  ["cancelled", "gave up its own turn"],
]);

/** Sends one message and waits until the agent's answer ends; the words are in `hearing`. */
async function prompted(
  { peer, hearing, blamed, now }: MeetingParts,
  { session, bills }: SessionBills,
  message: string,
  signal: AbortSignal,
): Promise<PromptEnd | Talked> {
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
  const fatal = FATAL.get(ended.stop);
  if (fatal) return { is: "failed", failure: failure("agent-failed", `${blamed.name} ${fatal}`) };
  // Some agents report a spent quota as an ordinary message. After a tool was used, such words mean something else.
  const { text, hasActed } = hearing;
  const judged = { ...blamed, logins: [], now: now() };
  if (!hasActed && text.length < MAX_COMPLAINT_CHARS && !text.includes("{") && isQuota(text, judged.now)) {
    return { is: "failed", failure: failureOfWords(text, judged) };
  }
  return ended;
}

const stuck = async (hearing: Hearing): Promise<never> => {
  throw Object.assign(new Error(await hearing.stuck), { code: INTERNAL });
};
const INTERNAL = -32603;

/** How long an agent may take to confirm a cancel. The confirmation reports the cost. */
const CANCEL_MS = 2_000;
const MAX_COMPLAINT_CHARS = 1_000;
