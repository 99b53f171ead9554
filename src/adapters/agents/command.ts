/** How is any program an agent? Brief in, workspace as its folder, an answer in a file or at the end of its output. */
import path from "node:path";
import { type Failure, failure } from "../../core/failure.ts";
import { readHandoff, readSpent } from "../../core/handoff-answer.ts";
import type { JobId, Spent } from "../../core/job.ts";
import { unreachable } from "../../core/unreachable.ts";
import {
  type Agent,
  type Ask,
  asSaid,
  type Called,
  doneAnswer,
  type Said,
  type Scratchpad,
} from "../../ports/agent.ts";
import type { ProgramEnd, ProgramLimits, Programs } from "../../ports/programs.ts";
import type { Transcripts } from "../../ports/transcripts.ts";
import { readQuotaText } from "../models/quota-text.ts";
import { type AnswerFile, answerIn, answerLine, isDone, readAnswerFile, wholeOutput } from "./answer.ts";
import { conversationUpTo, goingOn } from "./conversation.ts";
import { type Calls, callVariables, type JobCalls, openCalls } from "./job-calls.ts";
import { scratchpadVariables } from "./scratchpad.ts";
import {
  exitCodeIn,
  type GoingOn,
  prepareTurn,
  recordedTurn,
  recordTurn,
  type TurnFiles,
  turnFiles,
} from "./turn-files.ts";

export type CommandOptions = {
  /** No shell reads it, and nothing of a brief is added to it: arguments can be seen by everyone on a machine. */
  readonly command: readonly [string, ...string[]];
  /** Where each job gets a folder; it must outlive this process. */
  readonly folder: string;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: Omit<ProgramLimits, "maxMs">;
  /** What people call it, if not by its file's name. */
  readonly name?: string;
  /** Blots out secrets. */
  readonly redact: (text: string) => string;
  /** Besides what every job is given. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where workers can call for subtasks and ask; none: they cannot. */
  readonly calls?: Calls;
  /** How long a program may take to end after its call. */
  readonly graceMs?: number;
};

/** The shape of what a program is told; it changes when an old program could misread it. */
export const BRIEF_VERSION = 1;

export class CommandAgent implements Agent {
  readonly #options: CommandOptions;

  constructor(options: CommandOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said | Called> {
    const { folder } = this.#options;
    const goesOn = await goingOn(folder, ask);
    const brief = {
      ...ask.brief,
      ...roleIn(ask),
      ...outputIn(ask.scratchpad),
      ...(await contextIn(ask, folder)),
      ...(goesOn && { conversation: goesOn.conversation }),
    };
    const told = { ...ask, brief, ...askedOf(ask), variables: variables(ask), ...(goesOn && { goesOn }) };
    return this.#tell(told, signal, ask.brief.kind === "work" ? this.#options.calls : undefined);
  }

  /** The same for a brief of any kind. */
  async tell(ask: Told, signal: AbortSignal): Promise<Said> {
    return asSaid(await this.#tell(ask, signal, undefined));
  }

  async #tell(ask: Told, signal: AbortSignal, calls: Calls | undefined): Promise<Said | Called> {
    const { transcripts, redact, graceMs = GRACE_MS } = this.#options;
    const files = this.#filesOf(ask.job);
    const input = `${JSON.stringify({ skein: BRIEF_VERSION, ...ask.brief })}\n`;
    const problem = await prepareTurn(files, input, ask.goesOn);
    if (problem) return { is: "failed", failure: problem };
    const transcript = transcripts.open(ask.job);
    const open = await openCalls(calls, { files, graceMs, redact });
    const end = await this.#run({ ask, input, files, open, write: transcript.write }, signal);
    open.close();
    const call = open.call();
    const judged = withoutSecrets(await this.#judge(ask, end, files), redact);
    // However it ended: the call was acknowledged, and what is in the folder is what it left.
    const said: Said | Called = call
      ? { is: "called", ...call, ...(judged.spent && { spent: judged.spent }) }
      : judged;
    await recordTurn(files, call || end.is === "exited" ? said : undefined);
    await transcript.close();
    return said;
  }

  #run({ ask, input, files, open, write }: Running, signal: AbortSignal): Promise<ProgramEnd> {
    const { command, programs, limits } = this.#options;
    return programs.run(
      {
        job: ask.job,
        command,
        folder: ask.folder,
        environment: {
          ...ask.environment,
          ...this.#options.environment,
          ...ask.variables,
          ...fileVariables(files),
          ...responseVariables(files, ask.goesOn),
          ...callVariables(open),
        },
        input,
        limits: { ...limits, maxMs: ask.maxMs },
        statusFile: files.status,
        onOutput: (text) => {
          write(text);
          ask.onSign?.();
        },
      },
      AbortSignal.any([signal, open.late]),
    );
  }

  /**
   * What was found at the end of the turn, if the engine came so far. Else the shell saw how the program ended, and
   * the answer file counts: what was printed went down with the engine. All of it is of this try, because files are
   * named by the attempt, and are removed before its program starts. An answer that is cut is none.
   */
  async collect(job: JobId): Promise<Said | Called | undefined> {
    const files = this.#filesOf(job);
    const recorded = await recordedTurn(files);
    if (recorded) return recorded;
    const kind = job.startsWith("plan:") ? "plan" : "work";
    const code = await exitCodeIn(files.status);
    const answer = await readAnswerFile(files.handoff);
    const isJson = answer.is === "text" && answerLine(answer.text.trim()) !== undefined;
    const isWhole = isJson || (code === 0 && answer.is === "text" && isDone(answer.text));
    // A program whose reader is gone fails at its next word: a bad end says nothing about the task then.
    if (code !== 0) return isJson && kind === "work" && admits(answer.text) ? says(answer.text) : undefined;
    return isWhole ? this.#judgeExit({ kind }, { code, output: "", tail: "" }, answer) : undefined;
  }

  #filesOf(job: JobId): TurnFiles {
    return turnFiles(this.#options.folder, job);
  }

  #name(): string {
    return this.#options.name ?? path.basename(this.#options.command[0]);
  }

  #judgeExit({ kind, output }: Asked, end: Exit, answer: AnswerFile): Said {
    const name = this.#name();
    if (answer.is === "odd") return failed(failure("agent-failed", `${name} ${answer.why}`));
    const isRead = kind !== "task" && output === undefined; // Anything that is printed for a task is its result.
    const printed = () => (isRead ? answerIn(end.output, kind) : wholeOutput(end.output));
    const text = answer.is === "text" ? answer.text : printed();
    const isCut = answer.is !== "text" && end.isCut === true;
    if (end.code === 0 && !isCut) return says(text);
    // It says so itself, whatever else it said; nothing is known about the task.
    if (end.code === UNREACHABLE) return failed(quotaOf(name, end.tail) ?? unreached(name, end.tail), text);
    if (kind === "work" && admits(text)) return says(text);
    if (end.code === 0) return failed(cutShort(name, end.tail), text);
    const why = `${name} ended with exit code ${end.code}${tailOf(end.tail)}`;
    return failed(failure("agent-failed", why, NEXT), text);
  }

  async #judge(ask: Told, end: ProgramEnd, files: TurnFiles): Promise<Said> {
    const name = this.#name();
    switch (end.is) {
      case "exited":
        return this.#judgeExit(ask, end, await readAnswerFile(files.handoff));
      case "killed":
        return failed(killed(name, end, this.#options.limits));
      case "timed-out":
        // A loss, not the task's fault: a slow machine or model does it, too. How often is limited by `maxLost`.
        return failed(
          failure(
            "timed-out",
            `${name} did not end within ${seconds(ask.maxMs)} and was stopped${tailOf(end.tail)}`,
          ),
        );
      case "stopped":
        // A loss as well. Who is told to stop has either been given up, and is not heard; or the engine goes
        // down, and then "cancelled" would be charged to the task as a failure of its agent.
        return failed(failure("interrupted", `${name} was told to stop`));
      case "unstartable":
        return failed(unstartable(name, end.failure));
      default:
        return unreachable(end);
    }
  }
}

type Running = {
  readonly ask: Told;
  readonly input: string;
  readonly files: TurnFiles;
  readonly open: JobCalls;
  readonly write: (text: string) => void;
};

/** To tidy up after itself. */
const GRACE_MS = 10_000;

/** What a subtask is given to read; and what its parent's conversation was, if it inherits that. */
async function contextIn({ context }: Ask, home: string) {
  if (!context) return {};
  const { text, inherits } = context;
  const inherited = inherits && { inherited: await conversationUpTo(home, inherits) };
  return { context: { text, ...inherited } };
}

/** Who it is to be, if it is to be somebody. */
const roleIn = ({ role }: Ask) =>
  role ? { role: { name: role.name, description: role.description, prompt: role.prompt } } : {};

/** Where the results of a plan's tasks are, if it has to do with them; and what it must say then. */
const outputIn = (scratchpad: Scratchpad | undefined) =>
  scratchpad && {
    scratchpad_dir: scratchpad.folder,
    ...(scratchpad.file !== undefined && {
      output_file: scratchpad.file,
      answer: doneAnswer(scratchpad.file),
    }),
  };

type Asked = { readonly kind: Ask["brief"]["kind"] | "task"; readonly output?: string | undefined };

/** What a program is told, and where. */
export type Told = Asked &
  Pick<Ask, "job" | "folder" | "environment" | "maxMs" | "onSign"> & {
    readonly brief: object;
    /** Besides those that name its files. */
    readonly variables: Readonly<Record<string, string>>;
    readonly goesOn?: GoingOn;
  };

const askedOf = ({ brief, scratchpad }: Ask): Asked => ({ kind: brief.kind, output: scratchpad?.file });

type Exit = Pick<ProgramEnd & { readonly is: "exited" }, "code" | "output" | "tail" | "isCut">;

/** EX_TEMPFAIL of sysexits.h: "try again later". */
const UNREACHABLE = 75;

const NEXT =
  "run the command by hand in a checkout, with the brief that is kept in the run's folder, under turns";

/** Before it is written down. */
const withoutSecrets = (said: Said, redact: (text: string) => string): Said =>
  said.is === "said"
    ? { ...said, text: redact(said.text) }
    : { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };

const says = (text: string): Said => ({ is: "said", text, ...spentIn(text) });

const failed = (why: Failure, text = ""): Said => ({ is: "failed", failure: why, ...spentIn(text) });

function spentIn(text: string): { readonly spent?: Spent } {
  const spent = readSpent(text);
  return spent ? { spent } : {};
}

/** A machine without room or processes is nobody's fault, and better later; a missing program is not. */
const unstartable = (name: string, why: Failure) =>
  why.kind === "agent-failed"
    ? failure("agent-failed", `${name} could not be started: ${why.message}`, `is it installed? ${NEXT}`)
    : failure("interrupted", why.message, why.next);

/** Its last words may be missing: that it is complete, or said nothing, is not taken from what there is. */
const cutShort = (name: string, tail: string): Failure =>
  failure(
    "agent-failed",
    `${name} left a process behind that still held its output open, so that its answer may not be all of it${tailOf(tail)}`,
    "end what it starts, or send its output elsewhere; or write the answer into the file that SKEIN_HANDOFF names",
  );

/** Its words may say that it is not reach that is wanting, and until when. */
function quotaOf(name: string, tail: string): Failure | undefined {
  const quota = readQuotaText(tail, Date.now());
  return quota && { ...failure("quota", `${name} has no quota left${tailOf(tail)}`), ...quota };
}

const unreached = (name: string, tail: string) =>
  failure(
    "agent-unreachable",
    `the agent could not reach its model: ${name} ended with exit code ${UNREACHABLE}${tailOf(tail)}`,
    "see whether the model's provider answers, and whether the key is right",
  );

/**
 * Crashes and kills come from outside: out of memory, a machine going down. So they are losses; a program that
 * brings itself down every time is stopped by `maxLost`. Too large a file is its own doing.
 */
function killed(
  name: string,
  { signal, tail }: ProgramEnd & { readonly is: "killed" },
  { maxFileBytes }: CommandOptions["limits"],
): Failure {
  return signal === "SIGXFSZ"
    ? failure(
        "agent-failed",
        `${name} wrote a file larger than ${maxFileBytes} bytes and was stopped${tailOf(tail)}`,
        "write less, or raise the limit",
      )
    : failure("interrupted", `${name} was killed by ${signal}${tailOf(tail)}`);
}

/** Whoever ends badly, or is cut, may still say how far it came; that it was complete is not believed. */
function admits(text: string): boolean {
  const read = readHandoff(text, "");
  return read.is === "handoff" && read.handoff.status !== "complete";
}

const fileVariables = (files: TurnFiles): Readonly<Record<string, string>> => ({
  SKEIN_BRIEF: files.brief,
  SKEIN_HANDOFF: files.handoff,
});

const responseVariables = (
  { response }: TurnFiles,
  goesOn: GoingOn | undefined,
): Readonly<Record<string, string>> =>
  goesOn ? { SKEIN_RESPONSE: response, SKEIN_RESULT_STATUS: goesOn.response.result.status } : {};

const variables = ({ brief, scratchpad }: Ask): Readonly<Record<string, string>> => ({
  SKEIN_RUN: brief.run,
  SKEIN_TASK: brief.task,
  SKEIN_KIND: brief.kind,
  ...(brief.kind === "plan" ? { SKEIN_TURN: String(brief.turn) } : { SKEIN_ATTEMPT: String(brief.attempt) }),
  ...scratchpadVariables(scratchpad),
});

const MAX_TAIL_CHARS = 1_000;
const CONTROL = /[\p{Cc}--[\t\n]]/gv;

/** The end of what it wrote, after a colon; harmless on a terminal. */
function tailOf(tail: string): string {
  const text = tail.toWellFormed().replace(CONTROL, "").trim().slice(-MAX_TAIL_CHARS);
  return text === "" ? "" : `: ${text}`;
}

const seconds = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 1_000)} s`);
