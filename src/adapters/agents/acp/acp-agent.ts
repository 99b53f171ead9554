/** How is any agent driven that speaks the Agent Client Protocol? A process for each turn, and a talk with it. */
import { type Failure, failure } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { Agent, Ask, Called, Said } from "../../../ports/agent.ts";
import type { ProgramLimits, Programs, Streams } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import type { Transcript, Transcripts } from "../../../ports/transcripts.ts";
import { askedFor } from "../../../prompting/asked-for.ts";
import { planMessage } from "../../../prompting/plan-message.ts";
import { systemPrompt } from "../../../prompting/system-prompt.ts";
import { workMessage } from "../../../prompting/work-message.ts";
import { scratchpadVariables } from "../scratchpad.ts";
import { rootOf } from "../tools/inside.ts";
import { padOf } from "../tools/reach.ts";
import { prepareTurn, recordedTurn, recordTurn, turnFiles } from "../turn-files.ts";
import { readForAgent, unknownMethod, writeForAgent } from "./client-files.ts";
import { dialogue, type MeetingParts, meet, prompted, type Talked } from "./dialogue.ts";
import { Hearing } from "./hearing.ts";
import { isWhole, type Judged, judge, type Turn } from "./judge.ts";
import { type Fields, shown } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Answered, Peer, PeerParts } from "./peer.ts";
import { peerV1 } from "./peer-v1.ts";
import { peerV2 } from "./peer-v2.ts";
import { CANCELLED, type Permissions, permit } from "./permission.ts";
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
};

export class AcpAgent implements Agent {
  readonly #options: AcpOptions;
  /** Found at its first turn. */
  #version: 1 | 2 = 1;

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said> {
    const message = messageFor(ask, this.#options.prompts);
    const files = turnFiles(this.#options.folder, ask.job);
    const problem = await prepareTurn(files, `${JSON.stringify({ told: message })}\n`);
    if (problem) return { is: "failed", failure: problem };
    const transcript = this.#options.transcripts.open(ask.job);
    const until = AbortSignal.any([signal, AbortSignal.timeout(Math.min(ask.maxMs, MAX_TIMER_MS))]);
    const talk = (streams: Streams) => this.#talk({ ask, message, transcript, streams }, until);
    const turn = await this.#try(ask, { talk, write: transcript.write }, until);
    const cut = signal.aborted ? "stopped" : until.aborted ? "timed-out" : undefined;
    const said = this.#judge(turn, ask, cut);
    await recordTurn(files, isWhole(turn) ? said : undefined);
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
      const answer = this.#answers(start, false, transcript, signal);
      return this.#converse({ streams, mayRead: !readsItself, mayWrite: false, heard, answer }, (peer) => {
        const parts = this.#meeting(start, peer, hearing);
        const using = (session: string) => use(this.#saying(parts, session)).then(() => REACHED);
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

  async #run(start: Start, { talk, write }: TalkParts, until: AbortSignal): Promise<Turn> {
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

  async #talk({ ask, message, transcript, streams }: Talk, until: AbortSignal): Promise<Talked> {
    const { name, readsItself = false } = this.#options;
    const hearing = new Hearing(transcript.write);
    const mayWrite = ask.brief.kind === "work" && !ask.role?.isReadOnly;
    const parts: PeerParts = {
      streams,
      mayRead: !readsItself,
      mayWrite: mayWrite || ask.scratchpad?.file !== undefined,
      heard: {
        sign: () => ask.onSign?.(),
        update: (params) => hearing.take(params),
      },
      answer: this.#answers(ask, mayWrite, transcript, until),
    };
    return this.#converse(parts, (peer) =>
      dialogue(
        {
          ...this.#meeting(ask, peer, hearing),
          message,
          asked: askedFor(ask.brief),
          output: ask.scratchpad?.file,
          note: (line) => transcript.write(`(${name} ${line.trim()})\n`),
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
    transcript: Transcript,
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
          transcript.write(`\n(${isAllowed ? "allowed" : "refused"}: ${shown(what, 200)})\n`);
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
};

export type SaySomething = (message: string, until: AbortSignal) => Promise<Said>;
export type UseSession = (say: SaySomething) => Promise<void>;

const STOPPED = failure("interrupted", "the agent was told to stop");

const REACHED: Talked = { is: "said", text: "" };

type Talk = {
  readonly ask: Ask;
  readonly message: string;
  readonly transcript: Transcript;
  readonly streams: Streams;
};

const START_MS = 60_000;
/** How long it may take to leave by itself after its turn; then it is asked to, and has two seconds more. */
const LEAVE_MS = 500;
/** The talk ends at the limit of time; the process, should that fail, this much later. */
const MARGIN_MS = 10_000;
/** The longest that a timer takes: about 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** An agent of its own has no place for a system prompt: the role comes first in the message. */
function messageFor(ask: Ask, prompts: Prompts): string {
  const message = ask.brief.kind === "plan" ? planMessage(ask, "new") : workMessage(ask);
  return `${systemPrompt(prompts, ask).trimEnd()}\n\n${message.trimEnd()}\n\n${ANSWER[ask.brief.kind]}`;
}

/** The tools that the prompts speak of are those of Skein's own agent. */
const ANSWER = {
  plan:
    "You have no tool `plan` here: end with your plan as one JSON object, as the last thing that you write. " +
    "Change no file.",
  work: "You have no tool `handoff` here: end with your handoff as one JSON object, as the last thing that you write.",
} as const;
