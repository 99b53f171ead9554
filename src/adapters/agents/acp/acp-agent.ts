/** Drives agents that speak the Agent Client Protocol: one process for each turn, and a dialogue with it. */
import type { Failure } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { Agent, Ask, Called, Said } from "../../../ports/agent.ts";
import type { Streams } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import { type AskedFor, askedFor } from "../../../prompting/asked-for.ts";
import { fields } from "../../../text/json.ts";
import { installedVersion } from "../../programs/installed-version.ts";
import { MAX_TIMER_MS, orCall, withoutSecrets } from "../ends.ts";
import {
  callsFrom,
  callVariables,
  type JobCalls,
  openCalls,
  type ProgramAgentOptions,
} from "../job-calls.ts";
import { type FileProblem, readWhole, replaceWhole } from "../tools/files.ts";
import { padOf, rootOf, type ToolReach } from "../tools/reach.ts";
import {
  prepareTurn,
  recordedTurn,
  recordTurn,
  resumedIn,
  scratchpadVariables,
  turnFiles,
} from "../turn-files.ts";
import { dialogue, type MeetingParts, meet } from "./dialogue.ts";
import { type AcpTurn, isWhole, type Judged, judge, type Talked } from "./failures.ts";
import { Hearing } from "./hearing.ts";
import { shown, text } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import { callsText, keepSession, messagesFor, sessionOf } from "./messages.ts";
import { noSession } from "./no-session.ts";
import { type ClientAnswer, connectPeer, type Peer, type PeerParts } from "./peer.ts";
import { CANCELLED, type Permissions, permit } from "./permission.ts";
import { Listing, ownServer } from "./session.ts";

export type AcpOptions = ProgramAgentOptions & {
  readonly name: string;
  readonly account: string;
  /** Variables for the agent's own account, in addition to those of every job. */
  readonly environment: Readonly<Record<string, string>>;
  readonly prompts: Prompts;
  readonly mcpServers: readonly McpServer[];
  readonly permissions: Permissions;
  /** If true, the agent reads files itself and is not offered Skein's file reading. */
  readonly readsItself?: boolean;
  /** The package that contains the agent, and the version of it that is known to work. */
  readonly tried?: { readonly package: string; readonly version: string };
  /** Time limit for the greeting, and for opening a session: a first start takes up to 12 s. */
  readonly startMs?: number;
  readonly now?: () => number;
};

const START_MS = 60_000;
const GRACE_MS = 30_000;
/** How long the process may take to exit by itself after its turn; then it is told to, and has two seconds more. */
const LEAVE_MS = 500;
/** The dialogue ends at the time limit; if it does not, the process is ended this much later. */
const MARGIN_MS = 10_000;
/** How much of the agent's last words is kept for a session that can only be retold. */
const MAX_LAST_WORDS_CHARS = 20_000;

export class AcpAgent implements Agent {
  readonly #options: AcpOptions;
  readonly #listing = new Listing();
  /**
   * Whether this agent has given a session since this process began. If so, a later failure to open one may be
   * temporary.
   */
  #hasOpened = false;

  constructor(options: AcpOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said | Called> {
    const { folder, prompts, redact, calls, graceMs = GRACE_MS } = this.#options;
    const { brief, role } = ask;
    const files = turnFiles(folder, ask.job);
    const resumed = await resumedIn(folder, ask);
    const messages = await messagesFor(ask, { prompts, home: folder, resumed });
    const problem = await prepareTurn(files, `${JSON.stringify({ told: messages.message })}\n`, resumed);
    if (problem) return { is: "failed", failure: problem };
    let words = "";
    const isWork = brief.kind === "work";
    const open = await openCalls(isWork ? calls : undefined, { files, graceMs, redact, words: () => words });
    const told: AcpAsk = {
      ...{ ...ask, ...messages, open, asked: askedFor(brief), resumes: await sessionOf(folder, ask) },
      mayWrite: isWork && !role?.isReadOnly,
      onText: (text) => {
        words = (words + text).slice(-MAX_LAST_WORDS_CHARS);
      },
      onSession: (session) => keepSession(folder, ask, session),
    };
    const turn = await this.#talk(told, signal);
    open.close();
    const said = orCall(turn.said, open.call());
    await recordTurn(files, turn.isWhole || said.is === "called" ? said : undefined);
    return said;
  }

  async collect(job: JobId): Promise<Said | Called | undefined> {
    return recordedTurn(turnFiles(this.#options.folder, job));
  }

  /** Sends one prompt of a task outside of a run; the agent may only read. */
  async say(ask: Omit<AcpAsk, "asked" | "mayWrite" | "open">, signal: AbortSignal): Promise<Said> {
    return (await this.#talk({ ...ask, asked: "task", mayWrite: false }, signal)).said;
  }

  /** Starts the agent and opens a session, which costs nothing. Returns the failure that prevents it. */
  async reach(start: AcpStart, signal: AbortSignal): Promise<Failure | undefined> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(start.maxMs)]);
    const talk = (streams: Streams) =>
      this.#connected(
        {
          ...{ streams, mayRead: false, mayWrite: false, onSign: () => {}, onUpdate: () => {} },
          answer: async (method) => unknownMethod(method),
        },
        (peer) => meet(this.#meeting(start, peer, new Hearing(() => {})), async () => REACHED, until),
      );
    const turn = await this.#run(start, { talk, write: () => {} }, until);
    const cut = signal.aborted ? "stopped" : until.aborted ? "timed-out" : undefined;
    const said = await this.#withoutSession(turn, this.#judge(turn, start, cut), start);
    return said.is === "failed" ? said.failure : undefined;
  }

  async #talk(ask: AcpAsk, signal: AbortSignal): Promise<{ readonly said: Said; readonly isWhole: boolean }> {
    const transcript = this.#options.transcripts.open(ask.job);
    const time = AbortSignal.timeout(Math.min(ask.maxMs, MAX_TIMER_MS));
    const until = AbortSignal.any([signal, time, ...(ask.open ? [ask.open.late] : [])]);
    const write = (text: string) => {
      ask.onText?.(text);
      transcript.write(text);
    };
    const talk = (streams: Streams) => this.#dialogue(ask, { streams, write }, until);
    const turn = await this.#run(ask, { talk, write: transcript.write, open: ask.open }, until);
    const judged = this.#judge(
      turn,
      ask,
      signal.aborted ? "stopped" : time.aborted ? "timed-out" : undefined,
    );
    const said = this.#hasOpened ? judged : await this.#withoutSession(turn, judged, ask);
    await transcript.close();
    return { said, isWhole: isWhole(turn) };
  }

  async #run(start: AcpStart, { talk, write, open }: Started, until: AbortSignal): Promise<AcpTurn> {
    const { command, programs, limits, environment } = this.#options;
    const { job, folder, scratchpad } = start;
    const stop = new AbortController();
    let talked: Talked | undefined;
    const end = await programs.run(
      {
        ...{ job, command, folder },
        environment: {
          ...start.environment,
          ...environment,
          ...scratchpadVariables(scratchpad),
          ...(open && callVariables(open)),
        },
        ...(open && callsFrom(open)),
        limits: { ...limits, maxMs: start.maxMs + MARGIN_MS },
        onOutput: (text) => {
          write(text);
          start.onSign?.();
        },
        talk: async (streams) => {
          talked = await talk(streams);
          // Some processes stay when the dialogue is over. A stopped turn has used up its time already.
          setTimeout(() => stop.abort(), until.aborted ? 0 : LEAVE_MS).unref();
        },
      },
      until.aborted ? until : stop.signal,
    );
    return { talked, end };
  }

  #dialogue(
    ask: AcpAsk,
    { streams, write }: { readonly streams: Streams; readonly write: (text: string) => void },
    until: AbortSignal,
  ): Promise<Talked> {
    const { name, readsItself = false } = this.#options;
    const { open, scratchpad } = ask;
    const hearing = new Hearing(write);
    const parts: PeerParts = {
      streams,
      mayRead: !readsItself,
      mayWrite: ask.mayWrite || scratchpad?.file !== undefined,
      onSign: () => ask.onSign?.(),
      onUpdate: (params) => hearing.take(params),
      answer: this.#answers(ask, write, until),
    };
    return this.#connected(parts, (peer) =>
      dialogue(
        {
          ...this.#meeting(ask, peer, hearing),
          ...{ message: ask.message, resumedMessage: ask.resumedMessage, resumes: ask.resumes },
          own: open && ownServer(open),
          asked: ask.asked,
          output: scratchpad?.file,
          note: (line) => write(`(${name} ${line.trim()})\n`),
          onOpened: async (session) => {
            this.#hasOpened = true;
            await ask.onSession(session);
            if (!open?.place) return "";
            return callsText(await this.#listing.wait(open, until));
          },
          isOver: () => open?.call() !== undefined,
        },
        until,
      ),
    );
  }

  async #connected(parts: PeerParts, talk: (peer: Peer) => Promise<Talked>): Promise<Talked> {
    const peer = await connectPeer(parts);
    try {
      return await talk(peer);
    } finally {
      peer.close();
    }
  }

  #meeting({ folder, environment: given }: AcpStart, peer: Peer, hearing: Hearing): MeetingParts {
    const { name, account, environment, mcpServers, startMs = START_MS, now = Date.now } = this.#options;
    return {
      ...{ peer, hearing, mcpServers, startMs, now, folder },
      blamed: { name, account },
      environment: { ...given, ...environment },
      note: () => {},
    };
  }

  /** Answers every request of the agent at once; an unknown one with an error. */
  #answers({ folder, scratchpad, mayWrite }: AcpAsk, write: (text: string) => void, until: AbortSignal) {
    const { limits, permissions } = this.#options;
    const reach = { root: rootOf(folder), ...padOf(scratchpad), readsOnly: !mayWrite };
    const place = { ...reach, maxFileBytes: limits.maxFileBytes };
    return async (method: string, params: unknown): Promise<ClientAnswer> => {
      switch (method) {
        case "session/request_permission": {
          if (until.aborted) return { result: { outcome: CANCELLED } };
          const { isAllowed, what, outcome } = await permit(params, { ...reach, permissions });
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

  /**
   * Turns the failure of an agent that started but gave no session into a setup failure: starting it again would
   * not help.
   */
  async #withoutSession({ end, talked }: AcpTurn, said: Said, { environment }: AcpStart): Promise<Said> {
    if (said.is !== "failed" || end.is === "unstartable") return said;
    const isLate = talked?.is === "failed" && talked.isLate === true;
    if (said.failure.kind !== "agent-failed" && !isLate) return said;
    const { command, name, tried } = this.#options;
    const version = tried && (await installedVersion(command[0], tried.package, environment));
    return { ...said, failure: noSession(said.failure, { name, tried, version }) };
  }

  #judge(turn: AcpTurn, { maxMs }: AcpStart, cut: Judged["cut"]): Said {
    const { name, account, limits, redact, now = Date.now } = this.#options;
    const { maxFileBytes } = limits;
    const said = judge(turn, { name, account, logins: [], now: now(), maxMs, maxFileBytes, cut });
    return withoutSecrets(said, redact);
  }
}

const REACHED: Talked = { is: "said", text: "" };

type AcpStart = Pick<Ask, "job" | "folder" | "environment" | "maxMs" | "scratchpad" | "onSign">;

type AcpAsk = AcpStart & {
  readonly asked: AskedFor;
  readonly message: string;
  /** Sent instead of `message` if the session `resumes` can be resumed. */
  readonly resumedMessage?: string;
  readonly resumes: string | undefined;
  readonly mayWrite: boolean;
  readonly open?: JobCalls;
  readonly onText?: (text: string) => void;
  readonly onSession: (session: string) => Promise<void>;
};

type Started = {
  readonly talk: (streams: Streams) => Promise<Talked>;
  /** Receives the process's standard error. */
  readonly write: (text: string) => void;
  /** Call access for the agent's process and for the commands that it runs. */
  readonly open?: JobCalls | undefined;
};

/** Serves files to an agent: reads and writes inside the workspace and the scratchpad only. */
type ServedFiles = ToolReach & { readonly maxFileBytes: number };

/** `line`: the first line to read, counted from 1; `limit`: how many lines. */
async function readForAgent(files: ServedFiles, params: unknown): Promise<ClientAnswer> {
  const { path, line, limit } = fields(params);
  const read = await readWhole(files, text(path), files.maxFileBytes);
  if ("why" in read) return refused(read);
  const content = read.bytes.toString();
  if (line === undefined && limit === undefined) return { result: { content } };
  const from = Math.max(1, count(line) ?? 1) - 1;
  const lines = content.split(/(?<=\n)/).slice(from, from + (count(limit) ?? Infinity));
  return { result: { content: lines.join("") } };
}

async function writeForAgent(files: ServedFiles, params: unknown): Promise<ClientAnswer> {
  const { path, content } = fields(params);
  if (files.readsOnly && files.pad?.output === undefined)
    return refused({ why: "this role changes no files" });
  if (typeof content !== "string") return refused({ why: "there is no content" });
  const written = await replaceWhole(files, text(path), content, files.maxFileBytes);
  return "why" in written ? refused(written) : { result: {} };
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : undefined;

/** Codes of the protocol: resource not found, invalid parameter, unknown method. */
const refused = ({ why, missing }: FileProblem): ClientAnswer => ({
  error:
    missing === undefined
      ? { code: -32602, message: why }
      : { code: -32002, message: `Resource not found: ${missing}` },
});

const unknownMethod = (method: string): ClientAnswer => ({
  error: { code: -32601, message: `Skein has no method ${method.slice(0, 100)}` },
});
