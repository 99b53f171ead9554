/** How is a model an agent? It gets the prompts, tools in a folder and a governor; its words are the answer. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import type { Agent, Ask, Called, Cut, Said } from "../../../ports/agent.ts";
import type { Governor } from "../../../ports/governor.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import type { Transcript, Transcripts } from "../../../ports/transcripts.ts";
import { askedFor } from "../../../prompting/asked-for.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import { prepareTurn, recordedTurn, recordTurn, type TurnFiles, turnFiles } from "../turn-files.ts";
import { Conversation } from "./conversation.ts";
import { type Chain, type GovernedParts, holdGoverned, type ModelLimits } from "./governed-session.ts";
import { Ledger, readLedger } from "./ledger.ts";
import type { SessionEnd } from "./session.ts";
import { messageFor, systemFor, toolsFor } from "./turn-parts.ts";
import { WorkingTime } from "./working-time.ts";

export type ModelAgentOptions = {
  /** Asked for each turn, with the model that the turn's role names, if it does. */
  readonly models: (named: string | undefined) => Promise<Chain | { readonly failure: Failure }>;
  readonly prompts: Prompts;
  readonly governor: Governor;
  readonly programs: Programs;
  readonly sandbox: Sandbox;
  readonly transcripts: Transcripts;
  /** Where each job's files are; it must outlive this process. */
  readonly folder: string;
  /** Where planners' conversations are; as long-lived. */
  readonly conversations: string;
  /** Blots out secrets. */
  readonly redact: (text: string) => string;
  readonly limits?: Partial<ModelLimits>;
  readonly now?: () => number;
  readonly random?: () => number;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
};

export const MODEL_LIMITS: ModelLimits = {
  maxSteps: 200,
  maxSilenceMs: 5 * 60_000,
  maxTransient: 6,
  backoff: { firstMs: 2_000, maxMs: 60_000 },
  tools: { maxOutputBytes: 32_000, maxFileBytes: 10_000_000, maxCommandMs: 10 * 60_000 },
};

export class ModelAgent implements Agent {
  readonly #options: ModelAgentOptions;

  constructor(options: ModelAgentOptions) {
    this.#options = options;
  }

  async turn(ask: Ask, signal: AbortSignal): Promise<Said> {
    const files = turnFiles(this.#options.folder, ask.job);
    try {
      const problem = signal.aborted ? STOPPED : ((await folderProblem(ask)) ?? (await prepared(files, ask)));
      if (problem) return { is: "failed", failure: problem };
      const chain = await this.#options.models(ask.role?.model);
      if ("failure" in chain) return { is: "failed", failure: chain.failure };
      return await this.#turn(ask, chain, files, signal);
    } catch (thrown) {
      const why = this.#options.redact(`the turn broke off: ${messageOf(thrown)}`);
      return { is: "failed", failure: failure("interrupted", why) };
    }
  }

  /** How it ended, if it had; else what it had cost when it was cut off. */
  async collect(job: JobId): Promise<Said | Called | Cut | undefined> {
    const files = turnFiles(this.#options.folder, job);
    const recorded = await recordedTurn(files);
    if (recorded) return recorded;
    const spent = await readLedger(ledgerFile(files));
    return spent && { is: "cut", spent };
  }

  async #turn(ask: Ask, chain: Chain, files: TurnFiles, signal: AbortSignal): Promise<Said> {
    const { transcripts, redact, conversations } = this.#options;
    const ledger = await Ledger.open(ledgerFile(files));
    const transcript = transcripts.open(ask.job);
    const time = new WorkingTime(ask.maxMs);
    const conversation = await Conversation.open({
      file: path.join(conversations, `${conversationName(ask)}.jsonl`),
      job: ask.job,
      isNew: ask.brief.kind === "work",
      redact,
      maxTokens: Math.floor(chain[0].contextTokens * PAST_SHARE),
    });
    try {
      const stop = AbortSignal.any([signal, time.signal]);
      const end = await this.#session({ ask, chain, ledger, time, transcript, conversation }, stop);
      const said = withoutSecrets({ ...judged(end, ask, signal, time), spent: ledger.spent() }, redact);
      // First what the engine hears, then what the planner remembers: it must not remember a plan that nobody heard.
      await recordTurn(files, signal.aborted || time.signal.aborted ? undefined : said);
      if (said.is === "said") await conversation.end();
      return said;
    } finally {
      time.stop();
      await Promise.allSettled([transcript.close(), conversation.close(), ledger.close()]);
    }
  }

  async #session(turn: Turn, signal: AbortSignal): Promise<SessionEnd> {
    const { ask, conversation, ...rest } = turn;
    const { prompts } = this.#options;
    const { job, brief, onSign, onSlow } = ask;
    return holdGoverned(
      governedParts(this.#options),
      {
        ...rest,
        ...{ job, task: brief.task, ...(onSign && { onSign }), ...(onSlow && { onSlow }) },
        asked: askedFor(brief),
        output: ask.scratchpad?.file,
        system: systemFor(prompts, ask),
        past: conversation.past,
        message: messageFor(ask, conversation.is, turn.chain[0].contextTokens),
        conversation: conversation.is,
        tools: (parts) => toolsFor(ask, parts, signal),
        onMessages: (messages) => conversation.add(messages),
      },
      signal,
    );
  }
}

export function governedParts(options: ModelAgentOptions): GovernedParts {
  const { governor, programs, sandbox, redact, limits } = options;
  const { now = Date.now, random = Math.random, wait = waitFor } = options;
  return { governor, programs, sandbox, redact, now, random, wait, limits: { ...MODEL_LIMITS, ...limits } };
}

type Turn = {
  readonly ask: Ask;
  readonly chain: Chain;
  readonly ledger: Ledger;
  readonly time: WorkingTime;
  readonly transcript: Transcript;
  readonly conversation: Conversation;
};

/** Of what a model can hold: for what was said in earlier turns. The message of this one, and its work, need room. */
const PAST_SHARE = 0.4;
/** A planner has one for all of its turns, a worker one for each attempt. */
const conversationName = ({ brief, job }: Ask): string =>
  (brief.kind === "plan" ? brief.transcript : job).replace(/[^A-Za-z0-9.]/g, "-");

const ledgerFile = (files: TurnFiles): string => `${files.folder}.cost.jsonl`;

const prepared = (files: TurnFiles, ask: Ask): Promise<Failure | undefined> =>
  prepareTurn(files, `${JSON.stringify(ask.brief)}\n`);

async function folderProblem({ folder }: Ask): Promise<Failure | undefined> {
  try {
    if ((await stat(folder)).isDirectory()) return undefined;
    return failure("interrupted", `the workspace ${folder} is no folder`);
  } catch (error) {
    return failure("interrupted", `the workspace ${folder} cannot be used: ${messageOf(error)}`);
  }
}

/** Who was told to stop, or had no time left, failed because of that, whatever broke then. */
export function judged(
  end: SessionEnd,
  ask: Pick<Ask, "maxMs">,
  signal: AbortSignal,
  time: WorkingTime,
): Said {
  if (end.is === "answered") return { is: "said", text: end.text };
  if (signal.aborted) return { is: "failed", failure: STOPPED };
  if (!time.signal.aborted) return end;
  const why = `the model did not end its turn within ${Math.round(ask.maxMs / 1_000)} s and was stopped`;
  return { is: "failed", failure: failure("timed-out", why) };
}

const STOPPED = failure("interrupted", "the model was told to stop");

/** Before it is written down. */
export const withoutSecrets = (said: Said, redact: (text: string) => string): Said =>
  said.is === "said"
    ? { ...said, text: redact(said.text) }
    : { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {}); // It was told to stop: whoever waits looks for that.
