/** Makes any program an agent: it gets a brief and a workspace, and answers in a file or at the end of its output. */
import path from "node:path";
import { readHandoff } from "../../core/answers/handoff-answer.ts";
import { type Failure, failure } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
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
import type { ProgramEnd } from "../../ports/programs.ts";
import { readQuotaText } from "../models/quota-text.ts";
import { type AnswerFile, answerIn, answerLine, isDone, readAnswerFile, wholeOutput } from "./answer.ts";
import {
  fails,
  killed,
  orCall,
  says,
  stopped,
  tailOf,
  timedOut,
  UNREACHABLE_CODE,
  unstartable,
  withoutSecrets,
} from "./ends.ts";
import {
  type CallDoor,
  callsFrom,
  callVariables,
  type JobCalls,
  openCalls,
  type ProgramAgentOptions,
} from "./job-calls.ts";
import {
  conversationUpTo,
  exitCodeIn,
  prepareTurn,
  type Resumed,
  recordedTurn,
  recordTurn,
  resumedIn,
  scratchpadVariables,
  type TurnFiles,
  turnFiles,
} from "./turn-files.ts";

export type CommandOptions = ProgramAgentOptions & {
  /** The name that people see, if it differs from the name of the program's file. */
  readonly name?: string;
  readonly environment?: Readonly<Record<string, string>>;
};

/** Version of the brief's shape; raised when an old program could misread a new brief. */
const BRIEF_VERSION = 1;
const GRACE_MS = 10_000;

export class CommandAgent implements Agent {
  readonly #options: CommandOptions;

  constructor(options: CommandOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said | Called> {
    const { folder, calls } = this.#options;
    const { brief, role, scratchpad } = ask;
    const resumed = await resumedIn(folder, ask);
    const told: CommandAsk = {
      ...ask,
      brief: {
        ...brief,
        ...(role && { role: { name: role.name, description: role.description, prompt: role.prompt } }),
        ...outputIn(scratchpad),
        ...(await contextIn(ask, folder)),
        ...(resumed && { conversation: resumed.conversation }),
      },
      kind: brief.kind,
      output: scratchpad?.file,
      variables: variablesOf(ask),
      ...(resumed && { resumed }),
    };
    return this.#tell(told, brief.kind === "work" ? calls : undefined, signal);
  }

  /** The same as `turn`, for a brief of any kind. */
  async tell(ask: CommandAsk, signal: AbortSignal): Promise<Said> {
    return asSaid(await this.#tell(ask, undefined, signal));
  }

  async #tell(ask: CommandAsk, calls: CallDoor | undefined, signal: AbortSignal): Promise<Said | Called> {
    const { transcripts, redact, folder, graceMs = GRACE_MS } = this.#options;
    const files = turnFiles(folder, ask.job);
    const input = `${JSON.stringify({ skein: BRIEF_VERSION, ...ask.brief })}\n`;
    const problem = await prepareTurn(files, input, ask.resumed);
    if (problem) return { is: "failed", failure: problem };
    const transcript = transcripts.open(ask.job);
    const open = await openCalls(calls, { files, graceMs, redact });
    const end = await this.#run({ ask, input, files, open, write: transcript.write }, signal);
    open.close();
    const call = open.call();
    const said = orCall(withoutSecrets(await this.#judge(ask, end, files), redact), call);
    await recordTurn(files, call || end.is === "exited" ? said : undefined);
    await transcript.close();
    return said;
  }

  #run({ ask, input, files, open, write }: Running, signal: AbortSignal): Promise<ProgramEnd> {
    const { command, programs, limits, environment } = this.#options;
    const { job, folder, resumed } = ask;
    return programs.run(
      {
        ...{ job, command, folder, input, statusFile: files.status },
        environment: {
          ...ask.environment,
          ...environment,
          ...ask.variables,
          SKEIN_BRIEF: files.brief,
          SKEIN_HANDOFF: files.handoff,
          ...(resumed && {
            SKEIN_RESPONSE: files.response,
            SKEIN_RESULT_STATUS: resumed.response.result.status,
          }),
          ...callVariables(open),
        },
        ...callsFrom(open),
        limits: { ...limits, maxMs: ask.maxMs },
        onOutput: (text) => {
          write(text);
          ask.onSign?.();
        },
      },
      AbortSignal.any([signal, open.late]),
    );
  }

  /**
   * Returns the recorded result, if the engine wrote one. Else only the shell's exit code and the answer file
   * count, because the output was lost with the engine. All these files belong to this try: they are named by the
   * attempt and removed before its program starts. A truncated answer does not count.
   */
  async collect(job: JobId): Promise<Said | Called | undefined> {
    const files = turnFiles(this.#options.folder, job);
    const recorded = await recordedTurn(files);
    if (recorded) return recorded;
    const kind = job.startsWith("plan:") ? "plan" : "work";
    const code = await exitCodeIn(files.status);
    const answer = await readAnswerFile(files.handoff);
    const isJson = answer.is === "text" && answerLine(answer.text.trim()) !== undefined;
    const isWhole = isJson || (code === 0 && answer.is === "text" && isDone(answer.text));
    // A program whose reader is gone fails at its next output, so a bad exit code says nothing about the task here.
    if (code !== 0) return isJson && kind === "work" && admits(answer.text) ? says(answer.text) : undefined;
    return isWhole ? this.#judgeExit({ kind }, { code, output: "", tail: "" }, answer) : undefined;
  }

  get #name(): string {
    return this.#options.name ?? path.basename(this.#options.command[0]);
  }

  async #judge(ask: CommandAsk, end: ProgramEnd, files: TurnFiles): Promise<Said> {
    const name = this.#name;
    switch (end.is) {
      case "exited":
        return this.#judgeExit(ask, end, await readAnswerFile(files.handoff));
      case "killed":
        return fails(killed(name, end, this.#options.limits.maxFileBytes));
      case "timed-out":
        return fails(timedOut(name, ask.maxMs, end.tail));
      case "stopped":
        return fails(stopped(name));
      case "unstartable":
        return fails(unstartable(name, end.failure, `is it installed? ${BY_HAND}`));
      default:
        return unreachable(end);
    }
  }

  #judgeExit({ kind, output }: AnswerKind, end: Exit, answer: AnswerFile): Said {
    const name = this.#name;
    if (answer.is === "odd") return fails(failure("agent-failed", `${name} ${answer.why}`));
    // For a task, or for an agent that must answer in one exact line, the whole output is the answer.
    const isSearched = kind !== "task" && output === undefined;
    const printed = () => (isSearched ? answerIn(end.output, kind) : wholeOutput(end.output));
    const text = answer.is === "text" ? answer.text : printed();
    const isCut = answer.is !== "text" && end.isCut === true;
    if (end.code === 0 && !isCut) return says(text);
    if (end.code === UNREACHABLE_CODE) return fails(unreached(name, end.tail), text);
    if (kind === "work" && admits(text)) return says(text);
    if (end.code === 0) return fails(cutShort(name, end.tail), text);
    const why = `${name} ended with exit code ${end.code}${tailOf(end.tail)}`;
    return fails(failure("agent-failed", why, BY_HAND), text);
  }
}

/** `output`: the file that the answer must name. */
type AnswerKind = { readonly kind: Ask["brief"]["kind"] | "task"; readonly output?: string | undefined };

type CommandAsk = AnswerKind &
  Pick<Ask, "job" | "folder" | "environment" | "maxMs" | "onSign"> & {
    readonly brief: object;
    readonly variables: Readonly<Record<string, string>>;
    readonly resumed?: Resumed;
  };

type Running = {
  readonly ask: CommandAsk;
  readonly input: string;
  readonly files: TurnFiles;
  readonly open: JobCalls;
  readonly write: (text: string) => void;
};

type Exit = Pick<ProgramEnd & { readonly is: "exited" }, "code" | "output" | "tail" | "isCut">;

/** What a subtask is given to read, with its parent's conversation if it inherits that. */
async function contextIn({ context }: Ask, home: string) {
  if (!context) return {};
  const { text, inherits } = context;
  return { context: { text, ...(inherits && { inherited: await conversationUpTo(home, inherits) }) } };
}

const outputIn = (scratchpad: Scratchpad | undefined) =>
  scratchpad && {
    scratchpad_dir: scratchpad.folder,
    ...(scratchpad.file !== undefined && {
      output_file: scratchpad.file,
      answer: doneAnswer(scratchpad.file),
    }),
  };

const variablesOf = ({ brief, scratchpad }: Ask): Readonly<Record<string, string>> => ({
  SKEIN_RUN: brief.run,
  SKEIN_TASK: brief.task,
  SKEIN_KIND: brief.kind,
  ...(brief.kind === "plan" ? { SKEIN_TURN: String(brief.turn) } : { SKEIN_ATTEMPT: String(brief.attempt) }),
  ...scratchpadVariables(scratchpad),
});

/**
 * Whether the answer admits incomplete work. After a bad or cut end this is believed; a claim of completeness is
 * not.
 */
function admits(text: string): boolean {
  const read = readHandoff(text, "");
  return read.is === "handoff" && read.handoff.status !== "complete";
}

const BY_HAND =
  "run the command by hand in a checkout, with the brief that is kept in the run's folder, under turns";

const cutShort = (name: string, tail: string): Failure =>
  failure(
    "agent-failed",
    `${name} left a process behind that still held its output open, so its answer may be incomplete${tailOf(tail)}`,
    "end what it starts, or send its output elsewhere; or write the answer into the file that SKEIN_HANDOFF names",
  );

/** The output may name a quota as the reason, and when it resets. */
function unreached(name: string, tail: string): Failure {
  const quota = readQuotaText(tail, Date.now());
  if (quota) return { ...failure("quota", `${name} has no quota left${tailOf(tail)}`), ...quota };
  return failure(
    "agent-unreachable",
    `the agent could not reach its model: ${name} ended with exit code ${UNREACHABLE_CODE}${tailOf(tail)}`,
    "see whether the model's provider answers, and whether the key is right",
  );
}
