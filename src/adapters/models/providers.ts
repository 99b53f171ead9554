/** How is a model reached? From its name and the environment to something that can be called, loaded when it is. */
import type { LanguageModel } from "ai";
import { type Failure, failure } from "../../core/failure.ts";
import { accountOf, type ModelSpec } from "../../core/model-spec.ts";
import { askProvider as fetch } from "./fetch.ts";
import { nobodyListens } from "./nobody-there.ts";
import { type ModelName, openPrices, type PriceOverrides, type Prices, type TokenUse } from "./prices.ts";

/** What a library of a provider gives; of the newest shape, which all that are used here have. */
export type CallableModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

export type Model = {
  readonly spec: ModelSpec;
  /** What shares its quota. */
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

export type Environment = Readonly<Record<string, string | undefined>>;

/** The key is read here, and given to the library of its provider alone. */
export async function openModel(
  spec: ModelSpec,
  environment: Environment,
  overrides: PriceOverrides = {},
): Promise<Model | { readonly failure: Failure }> {
  const wrong = keyProblem(spec, environment) ?? placeProblem(spec);
  if (wrong) return { failure: wrong };
  return modelOf(spec, keyOf(spec, environment), await openPrices(overrides));
}

/** Known without loading anything: which variable is missing. */
export function keyProblem(spec: ModelSpec, environment: Environment): Failure | undefined {
  const variables = keyVariables(spec);
  const key = keyOf(spec, environment);
  if (variables.length === 0 || (key !== undefined && SENDABLE.test(key))) return undefined;
  const names = variables.join(" or ");
  const why =
    key === undefined
      ? `there is no key for ${spec.provider}: ${names} is not set`
      : `the key for ${spec.provider} in ${names} cannot be one: it has a line end, or letters that no key has`;
  return {
    ...failure("authentication", why, `set ${variables[0]} in the environment that skein is started from`),
    account: accountOf(spec),
  };
}

/** What a header can hold: of anything else `fetch` says that it is wrong, with the key in its words. */
const SENDABLE = /^[\x20-\x7e]+$/;

/** Nobody listens at its place on this machine: better said now than after twenty turns. */
export async function reachProblem(spec: ModelSpec, signal: AbortSignal): Promise<Failure | undefined> {
  const place = baseUrlOf(spec);
  if (place === undefined || !(await nobodyListens(place, signal))) return undefined;
  const why = `${spec.provider} does not answer at ${place}: nobody listens there`;
  return failure("agent-unreachable", why, `start ${spec.provider}, or name another agent`);
}

function placeProblem(spec: ModelSpec): Failure | undefined {
  if (baseUrlOf(spec) !== undefined || providerOf(spec)?.speaks === "google") return undefined;
  const why = `nobody knows where the models of ${spec.provider} are`;
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

/** Every one of them would else look for keys and addresses in the environment by itself: it is told all of it. */
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
      const provider = createOpenAICompatible({
        name,
        baseURL,
        fetch,
        includeUsage: true,
        ...(key === undefined ? {} : { apiKey: key }),
      });
      return provider(spec.model);
    }
  }
}

/** For servers that want none, and libraries that do. */
const NO_KEY = "none";

/** Of a model that the table does not know: what nearly all have that can work with tools. */
const CONTEXT_TOKENS = 128_000;
/** What a server on this machine is likely to be set to. */
const LOCAL_CONTEXT_TOKENS = 32_000;
/** Nobody refuses it as too many, and a file of 30 kB fits in. */
const MAX_OUTPUT_TOKENS = 8_192;

type Language = "anthropic" | "openai" | "openai-own" | "google";

type Provider = {
  readonly speaks: Language;
  readonly baseUrl?: string;
  /** The usual one first. */
  readonly keys: readonly string[];
  /** Set aside in money for every call, so no more than is needed; with some it must hold the thoughts as well. */
  readonly maxOutputTokens?: number;
};

const compatible = (baseUrl: string, key: string, maxOutputTokens?: number): Provider => ({
  speaks: "openai",
  baseUrl,
  keys: [key],
  ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
});
const local = (port: number): Provider => ({
  speaks: "openai",
  baseUrl: `http://127.0.0.1:${port}/v1`,
  keys: [],
});

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

/** Some give a server's address alone, as for other tools; both languages have their calls under /v1. */
function baseUrlOf(spec: ModelSpec): string | undefined {
  const url = spec.baseUrl ?? providerOf(spec)?.baseUrl;
  return url !== undefined && /^https?:\/\/[^/]+\/?$/i.test(url) ? `${url.replace(/\/$/, "")}/v1` : url;
}

/** A place of one's own speaks what it is said to speak, or what the provider does whose name it has. */
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
