/** Runs turns of the built-in agent in tests: a model server, a governor that admits all calls, and no waits. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ModelAgent, type ModelAgentOptions } from "../../src/adapters/agents/model/model-agent.ts";
import { type Model, openModel } from "../../src/adapters/models/providers.ts";
import { noSandbox } from "../../src/adapters/sandboxes/sandbox.ts";
import type { Failure } from "../../src/core/failure.ts";
import type { ModelSpec } from "../../src/core/model-spec.ts";
import type { PriceOverrides } from "../../src/ports/agent-looks.ts";
import type { Admitted, CallAmount, Governor, WantedCall } from "../../src/ports/governor.ts";
import { agentParts, type Heard, hearing } from "./agent-parts.ts";
import {
  type Answerer,
  type ModelServer,
  startModelServer,
  type WireName,
} from "./model-server/model-server.ts";

export type ModelTurns = AsyncDisposable & {
  readonly server: ModelServer;
  readonly agent: ModelAgent;
  readonly governor: RecordingGovernor;
  readonly heard: Heard;
  readonly home: string;
  /** The workspace. */
  readonly folder: string;
  /** The waits between tries in ms, which were recorded and not waited for. */
  readonly waits: readonly number[];
  /** The agent of the next engine, on the same files. */
  again(options?: Partial<ModelAgentOptions>): ModelAgent;
};

export type TurnOptions = Partial<ModelAgentOptions> & {
  readonly wire?: WireName;
  readonly model?: string;
  readonly prices?: PriceOverrides;
  /** Fallback models, each with an account of its own at the same server. */
  readonly fallbacks?: readonly ModelSpec[];
};

export async function modelTurns(answer: Answerer, options: TurnOptions = {}): Promise<ModelTurns> {
  const { wire = "openai-chat", model = "m", prices = {}, fallbacks = [], ...rest } = options;
  const home = mkdtempSync(path.join(tmpdir(), "skein-model-turns-"));
  const folder = path.join(home, "a workspace");
  mkdirSync(folder);
  const server = await startModelServer({ answer, keys: [KEY] });
  const specs = [specOf(wire, model), ...fallbacks].map((spec) => ({ ...spec, baseUrl: server.url }));
  const chain = await Promise.all(specs.map((spec) => modelAt(spec, prices)));
  const waits: number[] = [];
  const governor = new RecordingGovernor();
  const heard = hearing();
  const again = (other: Partial<ModelAgentOptions> = {}) =>
    new ModelAgent({
      ...agentParts(path.join(home, "turns"), heard),
      limits: {},
      models: async () => chain as [Model, ...Model[]],
      prompts: {
        "root-planner": "ROOT",
        subplanner: "SUB",
        worker: "WORKER",
        "execution-planner": "EXECUTION",
        subtask: "SUBTASK",
      },
      governor,
      sandbox: noSandbox("a test"),
      conversations: path.join(home, "conversations"),
      random: () => 1,
      wait: async (ms) => void waits.push(ms),
      ...rest,
      ...other,
    });
  const close = async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  };
  return {
    server,
    agent: again(),
    governor,
    heard,
    home,
    folder,
    waits,
    again,
    [Symbol.asyncDispose]: close,
  };
}

export const KEY = "key-of-a-test-0123456789";

const PROVIDER: Readonly<Record<WireName, string>> = {
  "openai-chat": "mine",
  "openai-responses": "openai",
  anthropic: "anthropic",
  google: "google",
};

const specOf = (wire: WireName, model: string): ModelSpec => ({
  provider: PROVIDER[wire],
  model,
  keyVariable: "TEST_KEY",
});

async function modelAt(spec: ModelSpec, prices: PriceOverrides): Promise<Model> {
  const model = await openModel(spec, { TEST_KEY: KEY }, prices);
  if ("failure" in model) throw new Error(model.failure.message);
  return model;
}

/**
 * Admits each call for the first account that was not refused. A quota ends once all accounts were refused; a wrong key
 * stays.
 */
export class RecordingGovernor implements Governor {
  readonly admitted: WantedCall[] = [];
  readonly settled: (CallAmount | "unknown")[] = [];
  readonly refused: { readonly account: string; readonly why: Failure }[] = [];
  /** The failure that refuses every call while it is set. */
  deny: Failure | undefined;
  #out = new Map<string, Failure>();
  readonly #open = new Set<number>();

  admit = async (call: WantedCall): Promise<Admitted | { readonly failure: Failure }> => {
    if (this.deny) return { failure: this.deny };
    const free = call.accounts.find((account) => !this.#out.has(account));
    const wrongKey = [...this.#out.values()].find((why) => why.kind === "authentication");
    if (free === undefined && wrongKey) return { failure: wrongKey };
    if (free === undefined) this.#out = new Map();
    this.admitted.push(call);
    this.#open.add(this.admitted.length);
    return { account: free ?? call.accounts[0], id: this.admitted.length };
  };

  settle = ({ id }: Admitted, cost: CallAmount | "unknown"): void => {
    if (!this.#open.delete(id)) throw new Error(`the call ${id} was settled before`);
    this.settled.push(cost);
  };

  refuse = (account: string, why: Failure): void => {
    this.refused.push({ account, why });
    this.#out.set(account, why);
  };

  /** The number of calls that were admitted and never settled. */
  get open(): number {
    return this.#open.size;
  }
}
