/** How does one turn go with an agent that is talked with? Greeting, session, message, and once more if it must. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { Spent } from "../../../core/job.ts";
import { doneAnswer } from "../../../ports/agent.ts";
import { askAgain } from "../../../prompting/ask-again.ts";
import { type AskedFor, whyUnreadable } from "../../../prompting/asked-for.ts";
import { answerIn } from "../answer.ts";
import { type Blamed, failureOfError, failureOfWords, isQuota } from "./failures.ts";
import type { Hearing } from "./hearing.ts";
import type { Fields } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Ended, Greeting, Peer } from "./peer.ts";
import { spentIn } from "./usage.ts";
import { closing, inTime, isLate } from "./waits.ts";

export type DialogueParts = {
  readonly peer: Peer;
  readonly version: 1 | 2;
  readonly hearing: Hearing;
  readonly asked: AskedFor;
  /** The file that its answer must name. */
  readonly output?: string | undefined;
  readonly folder: string;
  readonly message: string;
  readonly mcpServers: readonly McpServer[];
  readonly blamed: Omit<Blamed, "logins" | "now">;
  readonly now: () => number;
  /** Which of the agent's ways to log in need nobody: those by a key that it was given. */
  readonly environment: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly note: (line: string) => void;
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
  const blamed = { ...parts.blamed, logins: [] as Greeting["logins"] };
  const end = async (): Promise<Talked> => {
    const greeting = await greeted(parts, signal);
    if ("is" in greeting) return greeting;
    blamed.logins = greeting.logins;
    const session = await opened(parts, greeting, signal);
    parts.hearing.listenTo(session);
    return answered(parts, { session, bills }, signal);
  };
  const talked = await end().catch((thrown: unknown): Talked => {
    if (signal.aborted) return { is: "cut" };
    if (isLate(thrown)) return { is: "failed", failure: late(parts, thrown.what) };
    if (closing(thrown)) return { is: "gone" };
    return { is: "failed", failure: failureOfError(thrown, { ...blamed, now: parts.now() }) };
  });
  const spent = spentIn(bills, parts.hearing.cost);
  return spent ? { ...talked, spent } : talked;
}

const late = ({ blamed, startMs }: DialogueParts, what: string): Failure =>
  failure(
    "agent-unreachable",
    `${blamed.name} did not answer ${what} within ${Math.round(startMs / 1_000)} s`,
    "start it by hand to see whether it speaks the Agent Client Protocol on its standard input and output",
  );

async function greeted(parts: DialogueParts, signal: AbortSignal): Promise<Greeting | Talked> {
  const { peer, version, startMs } = parts;
  const greeting = await inTime(peer.initialize(), { ms: startMs, what: "initialize", signal }).catch(
    (thrown: unknown) => {
      const { code } = Object(thrown) as { readonly code?: unknown };
      if (version === 1 && REFUSING.has(code)) return { version: OTHER };
      throw thrown;
    },
  );
  if (greeting.version === version && "logins" in greeting) return greeting;
  return { is: "other-version", version: greeting.version };
}

/** Invalid request, invalid parameters, and the protocol's "unsupported version": it may want another greeting. */
const REFUSING: ReadonlySet<unknown> = new Set([-32600, -32602, -32022]);
/** Not said: the only other one that there is. */
const OTHER = 2;

/** Whoever wants a login gets one if a key is at hand for it; one that needs a person is not begun. */
async function opened(parts: DialogueParts, greeting: Greeting, signal: AbortSignal): Promise<string> {
  const { peer, folder, startMs, environment, note } = parts;
  const servers = parts.mcpServers.filter(({ type }) => type === "stdio" || greeting.takes[type]);
  if (servers.length < parts.mcpServers.length)
    note("some MCP servers are left out: the agent cannot use them\n");
  const open = () => inTime(peer.open(folder, servers), { ms: startMs, what: "session/new", signal });
  try {
    return await open();
  } catch (thrown) {
    const login = greeting.logins.find(
      ({ id, variables }) =>
        (variables.length > 0 && variables.every((name) => environment[name])) || /api[-_]?key/i.test(id),
    );
    const { code } = Object(thrown) as { readonly code?: unknown };
    if (code !== -32000 || login === undefined) throw thrown;
    note(`logs in by ${JSON.stringify(login.id)}\n`);
    await inTime(peer.authenticate(login.id), { ms: startMs, what: "authenticate", signal });
    return await open();
  }
}

type Place = { readonly session: string; readonly bills: Fields[] };

async function answered(parts: DialogueParts, place: Place, signal: AbortSignal): Promise<Talked> {
  const { asked, hearing, output } = parts;
  const kind = asked === "work" ? "work" : "plan";
  const done = output === undefined ? undefined : doneAnswer(output);
  const heard = () => {
    if (done === undefined) return answerIn(hearing.text, kind);
    return hearing.lastWords === done ? done : hearing.text; // What it says between its steps is no answer.
  };
  const first = await prompted(parts, place, parts.message, signal);
  if ("is" in first) return first;
  const before = heard();
  const wrong = whyUnreadable(asked, before, output);
  if (wrong === undefined) return { is: "said", text: before };
  const second = await prompted(parts, place, askAgain(asked, wrong), signal);
  if ("is" in second) return second;
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

async function prompted(
  { peer, hearing, blamed, now }: DialogueParts,
  { session, bills }: Place,
  message: string,
  signal: AbortSignal,
): Promise<Ended | Talked> {
  hearing.forget();
  const ending = peer.prompt(session, message);
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

/** How long an agent may take to say that it has stopped: what it has cost comes with it. */
const CANCEL_MS = 2_000;
const MAX_COMPLAINT_CHARS = 1_000;
