/** Writes a value as canonical JSON, so that equal values give equal bytes, and makes the signature of a subtask. */
import { hash } from "node:crypto";
import { quantity } from "./tokens.ts";

export type Canonical = { readonly text: string } | { readonly problem: string };

/** JSON with sorted keys. Names the problem if JSON cannot represent the value, or if it is too long or too deep. */
export function canonicalJson(value: unknown, maxChars = MAX_CHARS): Canonical {
  try {
    const text = JSON.stringify(value, ordered);
    return text.length > maxChars ? { problem: `longer than ${quantity(maxChars)} characters` } : { text };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { problem: thrown.message };
    if (thrown instanceof RangeError || thrown instanceof TypeError)
      return { problem: "deeper than JSON can be written, or a circle" };
    throw thrown;
  }
}

/** The fields that distinguish subtasks; `inputs` is their canonical JSON. */
export type Identity = {
  readonly template: string;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly inputs: string;
  readonly file_paths: readonly string[];
};

/** SHA-256 of the identity as canonical JSON: the literal below has its keys in sorted order. */
export function signatureOf({ template, type, subtype, description, inputs, file_paths }: Identity): string {
  const text = `{"description":${JSON.stringify(description)},"file_paths":${JSON.stringify(file_paths)},"inputs":${inputs},"subtype":${JSON.stringify(subtype)},"template":${JSON.stringify(template)},"type":${JSON.stringify(type)}}`;
  return hash("sha256", text, "hex");
}

/** Larger inputs belong in files. */
const MAX_CHARS = 1_000_000;

class Refusal extends Error {}

function ordered(this: unknown, key: string, value: unknown): unknown {
  if (isScalar(value) || Array.isArray(value)) return value;
  if (value === undefined && key !== "" && !Array.isArray(this)) return undefined;
  if (typeof value === "object" && isPlain(value!))
    return Object.fromEntries(Object.entries(value!).sort(([a], [b]) => (a < b ? -1 : 1)));
  throw new Refusal(`${key === "" ? "the value" : key} is ${kindOf(value)}, which JSON cannot say`);
}

function isPlain(value: object): boolean {
  const above = Object.getPrototypeOf(value) as object | null;
  return above === null || Object.getPrototypeOf(above) === null;
}

const isScalar = (value: unknown) =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value));

const kindOf = (value: unknown) =>
  typeof value === "object"
    ? `a ${value?.constructor?.name ?? "object"}`
    : String(typeof value === "number" ? value : typeof value);
