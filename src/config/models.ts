/** Reads how models are named in the configuration: `provider/model`, or in full; a key only by its variable's name. */
import * as z from "zod";
import type { ModelSpec } from "../core/model-spec.ts";
import { issueText } from "./issue-text.ts";
import { KNOWN_PROVIDERS, knownProvider } from "./known-providers.ts";

const name = z.string("must be a text").min(1, "must not be empty").max(200, "is too long");

/** A refused value may be a key in the wrong place, so it is never shown. */
const keyVariable = z
  .string("must be a text")
  .regex(
    /^[A-Z][A-Z0-9_]{0,63}$/,
    "must be the name of an environment variable, such as MY_MODEL_KEY; never the key itself",
  );

const baseUrl = z
  .string("must be a text")
  .max(2_000, "is too long")
  .refine(isAddress, "must be an address such as http://127.0.0.1:8080/v1, without a name, a key or a query");

function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "" && search === "";
}

/** A smaller window holds no task; no model has a larger one. */
const contextTokens = z
  .int("must be a whole number")
  .min(8_000, "must be at least 8000")
  .max(100_000_000, "is too large");

const speaks = z.enum(["openai", "anthropic"], "must be openai or anthropic");

/** As people write it: `key` is the name of a variable. */
export const writtenModel = z.strictObject({
  provider: name,
  model: name,
  baseUrl: baseUrl.optional(),
  speaks: speaks.optional(),
  key: keyVariable.optional(),
  contextTokens: contextTokens.optional(),
});
type WrittenModel = z.output<typeof writtenModel>;

export const modelSpec = z.strictObject({
  provider: name,
  model: name,
  baseUrl: z.exactOptional(baseUrl),
  speaks: z.exactOptional(speaks),
  keyVariable: z.exactOptional(keyVariable),
  contextTokens: z.exactOptional(contextTokens),
});

export const specOf = ({ key, ...spec }: WrittenModel): ModelSpec =>
  given({ ...spec, keyVariable: key }) as ModelSpec;

export const writtenOf = ({ keyVariable, ...spec }: ModelSpec): WrittenModel =>
  given({ ...spec, key: keyVariable }) as WrittenModel;

/** Without the fields that are undefined. */
const given = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** `anthropic/claude-sonnet-4-5`; undefined if the word before the first "/" is not a known provider. */
export function modelIn(text: string): ModelSpec | undefined {
  const [, provider = "", model = ""] = /^([a-z][a-z0-9.-]*)\/([^\s/]\S*)$/.exec(text.trim()) ?? [];
  return model !== "" && model.length <= 200 && knownProvider(provider) ? { provider, model } : undefined;
}

export const modelProblem = ({ provider, baseUrl }: ModelSpec): string | undefined =>
  baseUrl === undefined && !knownProvider(provider)
    ? `has a provider that is not known, and no baseUrl: known are ${PROVIDERS}`
    : undefined;

const PROVIDERS = KNOWN_PROVIDERS.map((provider) => provider.name).join(", ");

const WRONG_TEXT = `must be provider/model, such as anthropic/claude-sonnet-4-5; known providers are ${PROVIDERS}`;

const written = z.union([z.string(), writtenModel], {
  error: ({ input }) => modelError(input) ?? WRONG_TEXT,
});

function modelError(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  return issueText(writtenModel.safeParse(input).error?.issues ?? []);
}

export const model = () =>
  z.codec(written, modelSpec, {
    decode: (value, context) => {
      const spec = typeof value === "string" ? modelIn(value) : specOf(value);
      const message = spec === undefined ? WRONG_TEXT : modelProblem(spec);
      if (spec !== undefined && message === undefined) return spec;
      context.issues.push({ code: "custom", message: message ?? WRONG_TEXT, input: undefined });
      return z.NEVER;
    },
    encode: writtenOf,
  });

/** A list, one text with commas, or one model. */
export const models = () =>
  z.codec(
    z.union([z.array(written), z.string()], {
      error: ({ input }) =>
        Array.isArray(input)
          ? (input.map(modelError).find((error) => error !== undefined) ?? `each ${WRONG_TEXT}`)
          : `must be a list of models; each ${WRONG_TEXT}`,
    }),
    z.array(modelSpec),
    {
      decode: (value, context) => {
        const parts = typeof value === "string" ? value.split(",").filter((part) => part.trim()) : value;
        const specs = parts.map((part) => (typeof part === "string" ? modelIn(part) : specOf(part)));
        const known = specs.filter((spec) => spec !== undefined);
        const message = known.map(modelProblem).find((problem) => problem !== undefined);
        if (known.length === specs.length && message === undefined) return known;
        context.issues.push({ code: "custom", message: message ?? `each ${WRONG_TEXT}`, input: undefined });
        return z.NEVER;
      },
      encode: (specs) => specs.map(writtenOf),
    },
  );

const amount = z.number("must be a number").min(0, "must be a number from 0").max(1e6, "is too large");
const writtenPrice = z.strictObject({
  input: amount,
  output: amount,
  cacheRead: z.exactOptional(amount),
  cacheWrite: z.exactOptional(amount),
});
const price = z.strictObject({
  inputPerMillion: amount,
  outputPerMillion: amount,
  cacheReadPerMillion: z.exactOptional(amount),
  cacheWritePerMillion: z.exactOptional(amount),
});

export const prices = () =>
  z.codec(
    z.record(z.string().max(400), writtenPrice, {
      error: "must be a group such as { ollama/qwen3-coder: { input: 0, output: 0 } }",
    }),
    z.record(z.string(), price),
    {
      decode: (table) =>
        mapped(table, ({ input, output, cacheRead, cacheWrite }) => {
          const perMillion = { inputPerMillion: input, outputPerMillion: output };
          const cache = { cacheReadPerMillion: cacheRead, cacheWritePerMillion: cacheWrite };
          return { ...perMillion, ...given(cache) };
        }),
      encode: (table) =>
        mapped(table, ({ inputPerMillion: input, outputPerMillion: output, ...cache }) => {
          const { cacheReadPerMillion: cacheRead, cacheWritePerMillion: cacheWrite } = cache;
          return { input, output, ...given({ cacheRead, cacheWrite }) };
        }),
    },
  );

const mapped = <A, B>(table: Readonly<Record<string, A>>, change: (one: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(table).map(([key, one]) => [key, change(one)]));
