/** How is any agent driven that speaks the Agent Client Protocol? A process for each turn, and a talk with it. */
import type { JobId } from "../../../core/job.ts";
import type { Agent, Ask, Said } from "../../../ports/agent.ts";
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
import { dialogue, type Talked } from "./dialogue.ts";
import { Hearing } from "./hearing.ts";
import { isWhole, type Judged, judge, type Turn } from "./judge.ts";
import { shown } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Answered, PeerParts } from "./peer.ts";
import { peerV1 } from "./peer-v1.ts";
import { peerV2 } from "./peer-v2.ts";
import { CANCELLED, type Permissions, permit } from "./permission.ts";

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
    let turn = await this.#try(ask, message, transcript, until);
    if (turn.talked?.is === "other-version" && turn.talked.version === 2 && this.#version === 1) {
      this.#version = 2;
      turn = await this.#try(ask, message, transcript, until);
    }
    const cut = signal.aborted ? "stopped" : until.aborted ? "timed-out" : undefined;
    const said = this.#judge(turn, ask, cut);
    await recordTurn(files, isWhole(turn) ? said : undefined);
    await transcript.close();
    return said;
  }

  async collect(job: JobId): Promise<Said | undefined> {
    return recordedTurn(turnFiles(this.#options.folder, job));
  }

  async #try(ask: Ask, message: string, transcript: Transcript, until: AbortSignal): Promise<Turn> {
    const { command, programs, limits } = this.#options;
    const stop = new AbortController();
    let talked: Talked | undefined;
    const talk = async (streams: Streams) => {
      talked = await this.#talk({ ask, message, transcript, streams }, until);
      // Some stay when nobody talks to them any more. Who was asked to stop has had its time already.
      setTimeout(() => stop.abort(), until.aborted ? 0 : LEAVE_MS).unref();
    };
    const end = await programs.run(
      {
        job: ask.job,
        command,
        folder: ask.folder,
        environment: {
          ...ask.environment,
          ...this.#options.environment,
          ...scratchpadVariables(ask.scratchpad),
        },
        limits: { ...limits, maxMs: ask.maxMs + MARGIN_MS },
        onOutput: (text) => {
          transcript.write(text);
          ask.onSign?.();
        },
        talk,
      },
      until.aborted ? until : stop.signal,
    );
    return { talked, end };
  }

  async #talk({ ask, message, transcript, streams }: Talk, until: AbortSignal): Promise<Talked> {
    const { name, account, environment, mcpServers, startMs = START_MS, now = Date.now } = this.#options;
    const hearing = new Hearing(transcript.write);
    const mayWrite = ask.brief.kind === "work" && !ask.role?.isReadOnly;
    const parts: PeerParts = {
      streams,
      mayWrite: mayWrite || ask.scratchpad?.file !== undefined,
      heard: {
        sign: () => ask.onSign?.(),
        update: (params) => hearing.take(params),
      },
      answer: this.#answers(ask, mayWrite, transcript, until),
    };
    const version = this.#version;
    const peer = await (version === 1 ? peerV1(parts) : peerV2(parts));
    try {
      return await dialogue(
        {
          ...{ peer, version, hearing, message, mcpServers, startMs, now },
          asked: askedFor(ask.brief),
          output: ask.scratchpad?.file,
          folder: ask.folder,
          blamed: { name, account },
          environment: { ...ask.environment, ...environment },
          note: (line) => transcript.write(`(${name} ${line.trim()})\n`),
        },
        until,
      );
    } finally {
      peer.close();
    }
  }

  /** Whatever is asked is answered at once; what is not known, with an error. */
  #answers(ask: Ask, mayWrite: boolean, transcript: Transcript, until: AbortSignal) {
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

  #judge(turn: Turn, ask: Ask, cut: Judged["cut"]): Said {
    const { name, account, limits, redact, now = Date.now } = this.#options;
    const { maxFileBytes } = limits;
    const said = judge(turn, { name, account, logins: [], now: now(), maxMs: ask.maxMs, maxFileBytes, cut });
    if (said.is === "said") return { ...said, text: redact(said.text) };
    return { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };
  }
}

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
