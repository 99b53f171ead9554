/** How is a model an agent? It gets the prompts, tools in a folder and a governor; its words are the answer. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Failure, failure, messageOf } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import { redactFields } from "../../../core/redact.ts";
import type { Agent, Ask, Called, Cut, Said } from "../../../ports/agent.ts";
import type { Governor } from "../../../ports/governor.ts";
import type { Programs } from "../../../ports/programs.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import type { Transcript, Transcripts } from "../../../ports/transcripts.ts";
import { askedFor } from "../../../prompting/asked-for.ts";
import { planMessage } from "../../../prompting/plan-message.ts";
import type { Sandbox } from "../../sandboxes/sandbox.ts";
import { prepareTurn, recordedTurn, recordTurn, type TurnFiles, turnFiles } from "../turn-files.ts";
import { Conversation, recall } from "./conversation.ts";
import { type Chain, type GovernedParts, holdGoverned, type ModelLimits } from "./governed-session.ts";
import { Ledger, readLedger } from "./ledger.ts";
import type { SessionEnd } from "./session.ts";
import { maxMessageChars, systemFor, toolsFor } from "./turn-parts.ts";
import { beginWork } from "./worker-beginning.ts";
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
  /** Where conversations are; as long-lived. */
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

  async turn(ask: Ask, signal: AbortSignal): Promise<Said | Called> {
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

  async #turn(ask: Ask, chain: Chain, files: TurnFiles, signal: AbortSignal): Promise<Said | Called> {
    const { transcripts, redact } = this.#options;
    const ledger = await Ledger.open(ledgerFile(files));
    const transcript = transcripts.open(ask.job);
    const time = new WorkingTime(ask.maxMs);
    const opening = await this.#opening(ask, chain);
    const { conversation } = opening;
    try {
      const stop = AbortSignal.any([signal, time.signal]);
      const end = await this.#session({ ask, chain, ledger, time, transcript, ...opening }, stop);
      const said = withoutSecrets({ ...judged(end, ask, signal, time), spent: ledger.spent() }, redact);
      // A call that the engine hears of must find its conversation: the next turn goes on with it. A planner must not
      // remember a plan that nobody heard.
      if (ask.brief.kind === "work" && said.is !== "failed") await conversation.end();
      await recordTurn(files, signal.aborted || time.signal.aborted ? undefined : said);
      if (ask.brief.kind === "plan" && said.is === "said") await conversation.end();
      return said;
    } finally {
      time.stop();
      await Promise.allSettled([transcript.close(), conversation.close(), ledger.close()]);
    }
  }

  async #opening(ask: Ask, [model]: Chain): Promise<Opening> {
    const { redact, prompts, folder } = this.#options;
    const { brief, job } = ask;
    const system = systemFor(prompts, ask);
    const maxChars = maxMessageChars(model.contextTokens);
    const maxTokens = Math.floor(model.contextTokens * PAST_SHARE);
    if (brief.kind === "plan") {
      const file = this.#fileOf(brief.transcript);
      const conversation = await Conversation.open({ file, job, isNew: false, redact, maxTokens });
      return { conversation, system, message: planMessage(ask, conversation.is, maxChars) };
    }
    const speaker = { system, model: model.id };
    const begun = await beginWork(ask, brief, {
      ...{ speaker, maxChars, redact },
      recall: (session) => recall(this.#fileOf(session)),
      asked: async (session) => askedIn(await recordedTurn(turnFiles(folder, session))),
    });
    const { past } = begun;
    const place = { file: this.#fileOf(job), job, redact, maxTokens, ...(past.length > 0 && { past }) };
    const as = { ...speaker, system: begun.system };
    return { ...begun, conversation: await Conversation.open({ ...place, isNew: true, speaker: as }) };
  }

  /** A planner has one for all of its turns, a worker one for each attempt. */
  #fileOf = (name: string): string =>
    path.join(this.#options.conversations, `${name.replace(/[^A-Za-z0-9.]/g, "-")}.jsonl`);

  async #session(turn: Turn, signal: AbortSignal): Promise<SessionEnd> {
    const { ask, conversation, ...rest } = turn;
    const { job, brief, onSign, onSlow } = ask;
    const isAnswering = brief.kind === "work" && brief.goOn?.isAnswering === true;
    return holdGoverned(
      governedParts(this.#options),
      {
        ...rest,
        ...{ job, task: brief.task, ...(onSign && { onSign }), ...(onSlow && { onSlow }) },
        asked: askedFor(brief),
        output: isAnswering ? undefined : ask.scratchpad?.file,
        past: conversation.past,
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

/** How a turn's conversation begins, and where it is written down. */
type Opening = {
  readonly conversation: Conversation;
  readonly system: string;
  readonly message: string;
};

type Turn = Opening & {
  readonly ask: Ask;
  readonly chain: Chain;
  readonly ledger: Ledger;
  readonly time: WorkingTime;
  readonly transcript: Transcript;
};

/**
 * Of what a model can hold: for a planner's earlier turns. The message of this one, and its work, need room. A worker
 * that goes on has all of its own turns: what grows too long is cut as within a turn, and the cuts are said.
 */
const PAST_SHARE = 0.4;

const askedIn = (said: Said | Called | undefined): string | undefined =>
  said?.is === "called" ? `${said.tool} ${JSON.stringify(said.input)}` : undefined;

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
): Said | Called {
  if (end.is === "called") return end;
  if (end.is === "answered") return { is: "said", text: end.text };
  if (signal.aborted) return { is: "failed", failure: STOPPED };
  if (!time.signal.aborted) return end;
  const why = `the model did not end its turn within ${Math.round(ask.maxMs / 1_000)} s and was stopped`;
  return { is: "failed", failure: failure("timed-out", why) };
}

const STOPPED = failure("interrupted", "the model was told to stop");

/** Before it is written down. */
export function withoutSecrets<Ended extends Said | Called>(
  said: Ended,
  redact: (text: string) => string,
): Ended {
  if (said.is === "said") return { ...said, text: redact(said.text) };
  if (said.is === "called") return { ...said, input: redactFields(said.input, redact) };
  return { ...said, failure: { ...said.failure, message: redact(said.failure.message) } };
}

const waitFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {}); // It was told to stop: whoever waits looks for that.
