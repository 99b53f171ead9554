/** How is any agent driven that speaks the Agent Client Protocol? A process for each turn, and a talk with it. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { Agent, Ask, Called, Said } from "../../../ports/agent.ts";
import type { ProgramLimits, Programs, Streams } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import type { Transcripts } from "../../../ports/transcripts.ts";
import { askedFor } from "../../../prompting/asked-for.ts";
import { goingOn } from "../conversation.ts";
import { type Calls, callVariables, type JobCalls, openCalls } from "../job-calls.ts";
import { scratchpadVariables } from "../scratchpad.ts";
import { rootOf } from "../tools/inside.ts";
import { padOf } from "../tools/reach.ts";
import { prepareTurn, recordedTurn, recordTurn, turnFiles } from "../turn-files.ts";
import { Listing, ownServer } from "./calls.ts";
import { readForAgent, unknownMethod, writeForAgent } from "./client-files.ts";
import { dialogue, type MeetingParts, meet, prompted, type Talked } from "./dialogue.ts";
import { callsText, Tail } from "./going-on.ts";
import { Hearing } from "./hearing.ts";
import { isWhole, type Judged, judge, type Turn } from "./judge.ts";
import { type Fields, shown } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import { keepSession, type Messages, messagesFor, sessionOf } from "./messages.ts";
import type { Answered, Peer, PeerParts } from "./peer.ts";
import { peerV1 } from "./peer-v1.ts";
import { peerV2 } from "./peer-v2.ts";
import { CANCELLED, type Permissions, permit } from "./permission.ts";
import type { Opened } from "./session.ts";
import { spentIn } from "./usage.ts";

export type AcpOptions = {
  /** No shell reads it. */
  readonly command: readonly [string, ...string[]];
  /** What people call it. */
  readonly name: string;
  /** Whose quota it lives on. */
  readonly account: string;
  /** Where each job gets a folder; it must outlive this process. */
  readonly folder: string;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: Omit<ProgramLimits, "maxMs">;
  /** Blots out secrets. */
  readonly redact: (text: string) => string;
  /** Besides what every job is given: what it takes its own account from. */
  readonly environment: Readonly<Record<string, string>>;
  readonly prompts: Prompts;
  readonly mcpServers: readonly McpServer[];
  readonly permissions: Permissions;
  /** Not offered to read files through us. */
  readonly readsItself?: boolean;
  /** How long it may take to greet, and to open a session: a first start takes up to 12 s. */
  readonly startMs?: number;
  readonly now?: () => number;
  /** Where workers can call for subtasks and ask; none: they cannot. */
  readonly calls?: Calls;
  /** How long it may take to end its turn after a call. */
  readonly graceMs?: number;
};

export class AcpAgent implements Agent {
  readonly #options: AcpOptions;
  /** Found at its first turn. */
  #version: 1 | 2 = 1;
  readonly #listing = new Listing();

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said | Called> {
    const { folder, prompts, redact, calls, transcripts, graceMs = GRACE_MS } = this.#options;
    const mayCall = ask.brief.kind === "work" ? calls : undefined;
    const files = turnFiles(folder, ask.job);
    const goesOn = await goingOn(folder, ask);
    const messages = await messagesFor(ask, { prompts, home: folder, goesOn });
    const problem = await prepareTurn(files, `${JSON.stringify({ told: messages.message })}\n`, goesOn);
    if (problem) return { is: "failed", failure: problem };
    const transcript = transcripts.open(ask.job);
    const tail = new Tail();
    const open = await openCalls(mayCall, { files, graceMs, redact, words: () => tail.text });
    const time = AbortSignal.timeout(Math.min(ask.maxMs, MAX_TIMER_MS));
    const until = AbortSignal.any([signal, time, open.late]);
    const write = (text: string) => {
      tail.add(text);
      transcript.write(text);
    };
    const talk = (streams: Streams) => this.#talk({ ask, messages, open, write, streams }, until);
    const variables = callVariables(open);
    const turn = await this.#try(ask, { talk, write: transcript.write, variables }, until);
    open.close();
    const cut = signal.aborted ? "stopped" : time.aborted ? "timed-out" : undefined;
    const said = whatIsSaid(this.#judge(turn, ask, cut), open);
    await recordTurn(files, isWhole(turn) || said.is === "called" ? said : undefined);
    await transcript.close();
    return said;
  }

  async collect(job: JobId): Promise<Said | Called | undefined> {
    return recordedTurn(turnFiles(this.#options.folder, job));
  }

  /** Only starts it and asks for a session, which costs nothing. What stands in the way; undefined: nothing does. */
  async reach(start: Start, signal: AbortSignal): Promise<Failure | undefined> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(start.maxMs)]);
    const heard = { sign: () => {}, update: () => {} }; // Whatever it has to say now is no answer.
    const answer = async (method: string) => unknownMethod(method);
    const talk = (streams: Streams) =>
      this.#converse({ streams, mayRead: false, mayWrite: false, heard, answer }, (peer) =>
        meet(this.#meeting(start, peer, new Hearing(() => {})), async () => REACHED, until),
      );
    const turn = await this.#try(start, { talk, write: () => {} }, until);
    const cut = signal.aborted ? "stopped" : until.aborted ? "timed-out" : undefined;
    const said = this.#judge(turn, start, cut);
    return said.is === "failed" ? said.failure : undefined;
  }

  /**
   * One session that only looks and is prompted as often as `use` likes; over when `use` ends, which it must at the
   * signal. What stood in the way of it; undefined: nothing did.
   */
  async hold(start: Start, use: UseSession, signal: AbortSignal): Promise<Failure | undefined> {
    const { readsItself = false } = this.#options;
    const transcript = this.#options.transcripts.open(start.job);
    const talk = (streams: Streams) => {
      const hearing = new Hearing(transcript.write);
      const heard = { sign: () => start.onSign?.(), update: (params: unknown) => hearing.take(params) };
      const answer = this.#answers(start, false, transcript.write, signal);
      return this.#converse({ streams, mayRead: !readsItself, mayWrite: false, heard, answer }, (peer) => {
        const parts = this.#meeting(start, peer, hearing);
        const using = ({ session }: Opened) => use(this.#saying(parts, session)).then(() => REACHED);
        return meet(parts, using, signal);
      });
    };
    const turn = await this.#try(start, { talk, write: transcript.write }, signal);
    const said = this.#judge(turn, start, signal.aborted ? "stopped" : undefined);
    await transcript.close();
    return said.is === "failed" ? said.failure : undefined;
  }

  /** Throws what the connection throws: the session is over then. */
  #saying(parts: MeetingParts, session: string): SaySomething {
    return async (message, until) => {
      const bills: Fields[] = [];
      const ended = await prompted(parts, { session, bills }, message, until);
      const spent = spentIn(bills, undefined);
      const cost = spent && { spent };
      const { redact } = this.#options;
      if (!("is" in ended)) return { is: "said", text: redact(parts.hearing.text), ...cost };
      if (ended.is !== "failed") return { is: "failed", failure: STOPPED, ...cost };
      return { is: "failed", failure: { ...ended.failure, message: redact(ended.failure.message) }, ...cost };
    };
  }

  /** Once more if it speaks another version than was thought. */
  async #try(start: Start, talk: TalkParts, until: AbortSignal): Promise<Turn> {
    const turn = await this.#run(start, talk, until);
    if (turn.talked?.is !== "other-version" || turn.talked.version !== 2 || this.#version === 2) return turn;
    this.#version = 2;
    return this.#run(start, talk, until);
  }

  async #run(start: Start, { talk, write, variables = {} }: TalkParts, until: AbortSignal): Promise<Turn> {
    const { command, programs, limits, environment } = this.#options;
    const stop = new AbortController();
    let talked: Talked | undefined;
    const end = await programs.run(
      {
        job: start.job,
        command,
        folder: start.folder,
        environment: {
          ...start.environment,
          ...environment,
          ...scratchpadVariables(start.scratchpad),
          ...variables,
        },
        limits: { ...limits, maxMs: start.maxMs + MARGIN_MS },
        onOutput: (text) => {
          write(text);
          start.onSign?.();
        },
        talk: async (streams) => {
          talked = await talk(streams);
          // Some stay when nobody talks to them any more. Who was asked to stop has had its time already.
          setTimeout(() => stop.abort(), until.aborted ? 0 : LEAVE_MS).unref();
        },
      },
      until.aborted ? until : stop.signal,
    );
    return { talked, end };
  }

  async #talk({ ask, messages, open, write, streams }: Talk, until: AbortSignal): Promise<Talked> {
    const { name, readsItself = false, folder } = this.#options;
    const hearing = new Hearing(write);
    const mayWrite = ask.brief.kind === "work" && !ask.role?.isReadOnly;
    const parts: PeerParts = {
      streams,
      mayRead: !readsItself,
      mayWrite: mayWrite || ask.scratchpad?.file !== undefined,
      heard: {
        sign: () => ask.onSign?.(),
        update: (params) => hearing.take(params),
      },
      answer: this.#answers(ask, mayWrite, write, until),
    };
    const goesOn = await sessionOf(folder, ask);
    return this.#converse(parts, (peer) =>
      dialogue(
        {
          ...this.#meeting(ask, peer, hearing),
          ...messages,
          ...ownServer(open),
          ...goesOn,
          asked: askedFor(ask.brief),
          output: ask.scratchpad?.file,
          note: (line) => write(`(${name} ${line.trim()})\n`),
          opened: async (session) => {
            await keepSession(folder, ask, session);
            const hasTools = await this.#listing.wait(open, until);
            return open.place ? callsText(hasTools) : "";
          },
          isOver: () => open.call() !== undefined,
        },
        until,
      ),
    );
  }

  async #converse(parts: PeerParts, talk: (peer: Peer) => Promise<Talked>): Promise<Talked> {
    const peer = await (this.#version === 1 ? peerV1(parts) : peerV2(parts));
    try {
      return await talk(peer);
    } finally {
      peer.close();
    }
  }

  #meeting({ folder, environment: given }: Start, peer: Peer, hearing: Hearing): MeetingParts {
    const { name, account, environment, mcpServers, startMs = START_MS, now = Date.now } = this.#options;
    return {
      ...{ peer, version: this.#version, hearing, mcpServers, startMs, now, folder },
      blamed: { name, account },
      environment: { ...given, ...environment },
      note: () => {},
    };
  }

  /** Whatever is asked is answered at once; what is not known, with an error. */
  #answers(
    ask: Pick<Ask, "folder" | "scratchpad">,
    mayWrite: boolean,
    write: (text: string) => void,
    until: AbortSignal,
  ) {
    const { limits, permissions } = this.#options;
    const reach = { root: rootOf(ask.folder), ...padOf(ask.scratchpad), readsOnly: !mayWrite };
    const place = { ...reach, maxFileBytes: limits.maxFileBytes };
    const policy = { ...reach, permissions };
    return async (method: string, params: unknown): Promise<Answered> => {
      switch (method) {
        case "session/request_permission": {
          if (until.aborted) return { result: { outcome: CANCELLED } };
          const { isAllowed, what, outcome } = await permit(params, policy);
          write(`\n(${isAllowed ? "allowed" : "refused"}: ${shown(what, 200)})\n`);
          return { result: { outcome } };
        }
        case "fs/read_text_file":
          return readForAgent(place, params);
        case "fs/write_text_file":
          return writeForAgent(place, params);
        default:
          return unknownMethod(method);
      }
    };
  }

  #judge(turn: Turn, { maxMs }: Start, cut: Judged["cut"]): Said {
    const { name, account, limits, redact, now = Date.now } = this.#options;
    const { maxFileBytes } = limits;
    const said = judge(turn, { name, account, logins: [], now: now(), maxMs, maxFileBytes, cut });
    if (said.is === "said") return { ...said, text: redact(said.text) };
    return { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };
  }
}

/** Where and with what it is started. */
export type Start = Pick<Ask, "job" | "folder" | "environment" | "maxMs" | "scratchpad" | "onSign">;

type TalkParts = {
  readonly talk: (streams: Streams) => Promise<Talked>;
  /** Hears what it writes on its standard error. */
  readonly write: (text: string) => void;
  /** For its process and for the commands that it runs. */
  readonly variables?: Readonly<Record<string, string>>;
};

export type SaySomething = (message: string, until: AbortSignal) => Promise<Said>;
export type UseSession = (say: SaySomething) => Promise<void>;

const STOPPED = failure("interrupted", "the agent was told to stop");

const REACHED: Talked = { is: "said", text: "" };

type Talk = {
  readonly ask: Ask;
  readonly messages: Messages;
  readonly open: JobCalls;
  readonly write: (text: string) => void;
  readonly streams: Streams;
};

const START_MS = 60_000;
/** To end its turn by itself after a call. */
const GRACE_MS = 30_000;
/** How long it may take to leave by itself after its turn; then it is asked to, and has two seconds more. */
const LEAVE_MS = 500;
/** The talk ends at the limit of time; the process, should that fail, this much later. */
const MARGIN_MS = 10_000;
/** The longest that a timer takes: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** However the turn went on: the call was acknowledged. */
const whatIsSaid = (said: Said, open: JobCalls): Said | Called => {
  const call = open.call();
  return call ? { is: "called", ...call, ...(said.spent && { spent: said.spent }) } : said;
};
