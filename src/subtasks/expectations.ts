/** Checks a result against what was expected: a JSON Schema, or the name of a format. */
import { createContext, runInContext } from "node:vm";
import { type Schema, Validator } from "@cfworker/json-schema";
import { messageOf } from "../core/failure.ts";
import { isRecord } from "../text/json.ts";

export type Expectation = string | Readonly<Record<string, unknown>>;

export type Checked =
  | { readonly is: "fits" }
  | { readonly is: "unlike"; readonly problems: readonly string[] }
  /** The expectation is in words, which only the task itself can follow. */
  | { readonly is: "unchecked" };

export function checkExpectation(content: string, expectation: Expectation): Checked {
  const schema = schemaOf(expectation);
  if (schema !== undefined) return bySchema(content, schema);
  const check = FORMATS[String(expectation).trim().toLowerCase()];
  if (check === undefined) return { is: "unchecked" };
  const problem = check(content.trim());
  return problem === undefined ? { is: "fits" } : { is: "unlike", problems: [problem] };
}

/** Why an expectation cannot be used, found before any work is done for it; undefined if it can. */
export function unusableExpectation(expectation: Expectation): string | undefined {
  const schema = schemaOf(expectation);
  if (schema === undefined) return undefined;
  const unknown = unknownType(schema, MAX_SCHEMA_LEVELS);
  if (unknown !== undefined)
    return `the JSON Schema cannot be used: "${unknown.slice(0, 60)}" is no type; there are ${TYPES.join(", ")}`;
  const tried = withinTime(() => {
    JSON.stringify(schema, compilePatterns);
    new Validator(schema, DRAFT).validate(null);
  });
  return "problem" in tried ? `the JSON Schema cannot be used: ${tried.problem}` : undefined;
}

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
/** In deeper schemas the validator fails by itself. */
const MAX_SCHEMA_LEVELS = 200;

/** An unknown type matches no result, so every result would be refused, and paid for again. */
function unknownType(schema: unknown, levels: number): string | undefined {
  if (levels === 0) return undefined;
  if (Array.isArray(schema)) return firstOf(schema, (one) => unknownType(one, levels - 1));
  if (!isRecord(schema)) return undefined;
  const wrong = [schema["type"] ?? []]
    .flat()
    .find((type) => typeof type !== "string" || !TYPES.includes(type));
  if (wrong !== undefined) return typeof wrong === "string" ? wrong : JSON.stringify(wrong);
  return firstOf(Object.entries(schema), ([keyword, value]) => {
    if (OF_NAMED.has(keyword) && isRecord(value))
      return firstOf(Object.values(value), (one) => unknownType(one, levels - 1));
    return OF_SCHEMAS.has(keyword) ? unknownType(value, levels - 1) : undefined;
  });
}

function firstOf<T>(all: readonly T[], look: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = look(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keywords whose values are schemas or lists of schemas. The values of all others are data. */
const OF_SCHEMAS = new Set([
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "contentSchema"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames"],
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
]);
/** Keywords whose values have schemas under the user's own names. */
const OF_NAMED = new Set(
  "properties patternProperties $defs definitions dependentSchemas dependencies".split(" "),
);

/** Throws on an invalid pattern, which would otherwise be reported as a mistake of the result. */
function compilePatterns(key: string, value: unknown): unknown {
  if (key === "pattern" && typeof value === "string") new RegExp(value, "u");
  if (key === "patternProperties" && isRecord(value)) for (const name in value) new RegExp(name, "u");
  return value;
}

/** Undefined if it is not a schema. Text that begins with a brace and is not JSON is an expectation in words. */
function schemaOf(expectation: Expectation): Schema | undefined {
  if (typeof expectation !== "string") return expectation;
  if (!expectation.trimStart().startsWith("{")) return undefined;
  const parsed = parseJson(expectation);
  return "value" in parsed && isRecord(parsed.value) ? parsed.value : undefined;
}

const DRAFT = "2020-12";

function bySchema(content: string, schema: Schema): Checked {
  const parsed = parseJson(content);
  if ("problem" in parsed) return { is: "unlike", problems: [parsed.problem] };
  const checked = withinTime(() => new Validator(schema, DRAFT, false).validate(parsed.value));
  if ("problem" in checked) return { is: "unlike", problems: [checked.problem] };
  const { valid, errors } = checked.value;
  if (valid) return { is: "fits" };
  return {
    is: "unlike",
    problems: errors
      .slice(-MAX_PROBLEMS)
      .map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`),
  };
}

const MAX_PROBLEMS = 5;

type Tried<T> = { readonly value: T } | { readonly problem: string };

/** Limits the time, because a model may write a pattern that takes years, or a schema that refers to itself. */
function withinTime<T>(work: () => T): Tried<T> {
  try {
    place ??= createContext({});
    place["work"] = work;
    return { value: runInContext("work()", place, { timeout: MAX_MS }) as T };
  } catch (thrown) {
    return { problem: messageOf(thrown).split("\n")[0]!.slice(0, 300) };
  }
}

const MAX_MS = 500;
let place: Record<string, unknown> | undefined;

/** Also accepts JSON in a code fence, which models often write. */
function parseJson(content: string): Tried<unknown> {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(content)?.[1];
  try {
    return { value: JSON.parse(fenced ?? content) };
  } catch (thrown) {
    return { problem: `not JSON: ${messageOf(thrown).slice(0, 200)}` };
  }
}

type Check = (text: string) => string | undefined;

const notEmpty: Check = (text) => (text === "" ? "empty" : undefined);
const json: Check = (text) => {
  const parsed = parseJson(text);
  return "problem" in parsed ? parsed.problem : undefined;
};

const FORMATS: Readonly<Record<string, Check | undefined>> = Object.assign(Object.create(null), {
  json,
  text: notEmpty,
  markdown: (text) =>
    notEmpty(text) ??
    ((text.match(/^\s*(?:```|~~~)/gm)?.length ?? 0) % 2 === 1 ? "a code fence is not closed" : undefined),
  list: (text) =>
    notEmpty(text) ??
    (text.split("\n").every((line) => /^\s*(?:[-*+]|\d+[.)])\s+\S|^\s+\S|^\s*$/.test(line)) &&
    /^(?:[-*+]|\d)/.test(text)
      ? undefined
      : "not a list: each line must begin with a mark or a number, or go on with the one before"),
  number: (text) => (text !== "" && Number.isFinite(Number(text)) ? undefined : "not a number"),
  boolean: (text) => (/^(?:true|false)$/i.test(text) ? undefined : "neither true nor false"),
} satisfies Record<string, Check>);

export const NAMED_FORMATS: readonly string[] = Object.keys(FORMATS);
