/** Opens models by name: finds the provider's address and key, and loads its library at the first call. */
import { once } from "node:events";
import { connect } from "node:net";
import type { LanguageModel } from "ai";
import { type Failure, failure } from "../../core/failure.ts";
import { accountOf, type ModelSpec } from "../../core/model-spec.ts";
import type { PriceOverrides } from "../../ports/agent-looks.ts";
import type { Environment } from "../../ports/project.ts";
import { askProvider as fetch } from "./fetch.ts";
import { type ModelName, openPrices, type Prices, type TokenUse } from "./prices.ts";

/** The model type of the provider libraries; all that are used here have this version. */
export type CallableModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

export type Model = {
  readonly spec: ModelSpec;
  /** Models of one account share a quota. */
  readonly account: string;
  /** "provider/model". */
  readonly id: string;
  open(): Promise<CallableModel>;
  /** In microdollars; undefined if the price is not known. */
  cost(use: TokenUse): number | undefined;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly isPriced: boolean;
};

/** The key is read here and given only to the library of its provider. */
export async function openModel(
  spec: ModelSpec,
  environment: Environment,
  overrides: PriceOverrides = {},
): Promise<Model | { readonly failure: Failure }> {
  const wrong = keyProblem(spec, environment) ?? placeProblem(spec);
  if (wrong) return { failure: wrong };
  return modelOf(spec, keyOf(spec, environment), await openPrices(overrides));
}

export function keyProblem(spec: ModelSpec, environment: Environment): Failure | undefined {
  const variables = keyVariables(spec);
  const key = keyOf(spec, environment);
  if (variables.length === 0 || (key !== undefined && SENDABLE.test(key))) return undefined;
  const names = variables.join(" or ");
  const why =
    key === undefined
      ? `there is no key for ${spec.provider}: ${names} is not set`
      : `the key for ${spec.provider} in ${names} has a line end or characters that no key has`;
  return {
    ...failure("authentication", why, `set ${variables[0]} in the environment that skein is started from`),
    account: accountOf(spec),
  };
}

/** The characters that a header can hold. For any other, `fetch` throws an error that quotes the key. */
const SENDABLE = /^[\x20-\x7e]+$/;

/** Reports early if nothing listens at a local address, before any turn is spent on it. */
export async function reachProblem(spec: ModelSpec, signal: AbortSignal): Promise<Failure | undefined> {
  const address = baseUrlOf(spec);
  if (address === undefined || !(await nothingListens(address, signal))) return undefined;
  const why = `${spec.provider} does not answer at ${address}: nothing listens there`;
  return failure("agent-unreachable", why, `start ${spec.provider}, or name another agent`);
}

/** False for other machines: only the provider's library knows how to reach them. */
async function nothingListens(address: string, signal: AbortSignal): Promise<boolean> {
  const url = URL.parse(address);
  if (signal.aborted || !url || !LOOPBACK.has(url.hostname)) return false;
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port });
  try {
    await once(socket, "connect", { signal });
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ECONNREFUSED"; // Else it is slow, but there.
  } finally {
    socket.destroy();
  }
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

function placeProblem(spec: ModelSpec): Failure | undefined {
  if (baseUrlOf(spec) !== undefined || providerOf(spec)?.speaks === "google") return undefined;
  const why = `the address of ${spec.provider} is unknown`;
  return failure("agent-failed", why, "give the address of its server as baseUrl");
}

function modelOf(spec: ModelSpec, key: string | undefined, prices: Prices): Model {
  const name: ModelName = { provider: spec.provider, model: spec.model };
  let opened: Promise<CallableModel> | undefined;
  return {
    spec,
    account: accountOf(spec),
    id: `${spec.provider}/${spec.model}`,
    open: () => (opened ??= load(spec, key)),
    cost: (use) => prices.cost(name, use),
    contextTokens:
      spec.contextTokens ??
      prices.contextTokens(name) ??
      (isLocal(spec) ? LOCAL_CONTEXT_TOKENS : CONTEXT_TOKENS),
    maxOutputTokens: providerOf(spec)?.maxOutputTokens ?? MAX_OUTPUT_TOKENS,
    isPriced: prices.cost(name, { input: 1_000, cacheRead: 0, cacheWrite: 0, output: 1_000 }) !== undefined,
  };
}

/** Each library gets its key and address explicitly: otherwise it would look for them in the environment. */
async function load(spec: ModelSpec, key: string | undefined): Promise<CallableModel> {
  const apiKey = key ?? NO_KEY;
  const baseURL = baseUrlOf(spec)!;
  switch (speaks(spec)) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL, fetch })(spec.model);
    }
    case "openai-own": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ apiKey, baseURL, fetch })(spec.model);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI({ apiKey, fetch, ...(baseURL ? { baseURL } : {}) })(spec.model);
    }
    case "openai": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const name = spec.provider.replace(/[^A-Za-z0-9]/g, "-");
      const given = { name, baseURL, fetch, includeUsage: true, ...(key !== undefined && { apiKey: key }) };
      return createOpenAICompatible(given)(spec.model);
    }
  }
}

/** A placeholder for libraries that require a key where the server does not. */
const NO_KEY = "none";

/** The context of models that the table does not know: nearly all that can use tools have it. */
const CONTEXT_TOKENS = 128_000;
/** The usual setting of a local server. */
const LOCAL_CONTEXT_TOKENS = 32_000;
/** No provider refuses this number as too high, and a file of 30 kB fits. */
const MAX_OUTPUT_TOKENS = 8_192;

type Language = "anthropic" | "openai" | "openai-own" | "google";

type Provider = {
  readonly speaks: Language;
  readonly baseUrl?: string;
  readonly keys: readonly string[];
  /** Reserved from the budget for every call, so kept low; with some providers it includes reasoning. */
  readonly maxOutputTokens?: number;
};

const compatible = (baseUrl: string, key: string, maxOutputTokens?: number): Provider => ({
  speaks: "openai",
  baseUrl,
  keys: [key],
  ...(maxOutputTokens !== undefined && { maxOutputTokens }),
});
const local = (port: number): Provider => ({ ...compatible(`http://127.0.0.1:${port}/v1`, ""), keys: [] });

const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: {
    speaks: "anthropic",
    baseUrl: "https://api.anthropic.com/v1",
    keys: ["ANTHROPIC_API_KEY"],
    maxOutputTokens: 16_384,
  },
  openai: {
    speaks: "openai-own",
    baseUrl: "https://api.openai.com/v1",
    keys: ["OPENAI_API_KEY"],
    maxOutputTokens: 32_000,
  },
  google: {
    speaks: "google",
    keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
    maxOutputTokens: 32_000,
  },
  openrouter: compatible("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", 16_384),
  groq: compatible("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  deepseek: compatible("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
  mistral: compatible("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  xai: compatible("https://api.x.ai/v1", "XAI_API_KEY", 16_384),
  together: compatible("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
  fireworks: compatible("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
  ollama: local(11_434),
  lmstudio: local(1_234),
  "llama.cpp": local(8_080),
};

const providerOf = ({ provider }: ModelSpec): Provider | undefined =>
  Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined;

/**
 * The address of the server. A bare address, as other tools take it, gets the /v1 under which both protocols have
 * their calls.
 */
function baseUrlOf(spec: ModelSpec): string | undefined {
  const url = spec.baseUrl ?? providerOf(spec)?.baseUrl;
  return url !== undefined && /^https?:\/\/[^/]+\/?$/i.test(url) ? `${url.replace(/\/$/, "")}/v1` : url;
}

/** The protocol of a custom server: by its settings, else that of the provider with its name. */
const speaks = (spec: ModelSpec): Language => spec.speaks ?? providerOf(spec)?.speaks ?? "openai";

const isLocal = (spec: ModelSpec): boolean =>
  /^https?:\/\/(?:localhost|127\.|\[::1\])/i.test(baseUrlOf(spec) ?? "") && !providerOf(spec)?.keys.length;

const keyVariables = (spec: ModelSpec): readonly string[] =>
  spec.keyVariable !== undefined ? [spec.keyVariable] : (providerOf(spec)?.keys ?? []);

function keyOf(spec: ModelSpec, environment: Environment): string | undefined {
  for (const variable of keyVariables(spec)) {
    const key = Object.hasOwn(environment, variable) ? environment[variable]?.trim() : undefined;
    if (key) return key;
  }
  return undefined;
}

/** The model of the usual provider that a specialist's short name stands for; undefined if there is none. */
export function shortName(name: string, usual: ModelSpec): ModelSpec | undefined {
  const models = Object.hasOwn(SHORT_NAMES, usual.provider) ? SHORT_NAMES[usual.provider]! : {};
  const word = name.trim().toLowerCase();
  return Object.hasOwn(models, word) ? { ...usual, model: models[word]! } : undefined;
}

/** As of 2026-11-16, from the price table. */
const SHORT_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  anthropic: { opus: "claude-opus-5-5", sonnet: "claude-sonnet-5", haiku: "claude-haiku-4-5" },
  openrouter: {
    opus: "anthropic/claude-opus-5.5",
    sonnet: "anthropic/claude-sonnet-5",
    haiku: "anthropic/claude-haiku-4.5",
  },
};
