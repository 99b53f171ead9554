/** How is a value written so that equal values give equal bytes (RFC 8785), and what is a subtask's signature? */
import { hash } from "node:crypto";
import { quantity } from "./tokens.ts";

type Canonical = { readonly text: string } | { readonly problem: string };

/** Only what JSON can say: anything else, too much and too deep are named, with the place. */
export function canonicalJson(value: unknown, maxChars = MAX_CHARS): Canonical {
  try {
    const writer = { left: maxChars, maxChars };
    return { text: written(value, writer, [], 0) };
  } catch (thrown) {
    if (thrown instanceof Refusal) return { problem: thrown.message };
    throw thrown;
  }
}

/** What a subtask is told apart by; `inputs` is their canonical JSON. */
type Identity = {
  readonly template: string;
  readonly type: string;
  readonly subtype: string;
  readonly description: string;
  readonly inputs: string;
  readonly file_paths: readonly string[];
};

/** SHA-256 of the identity as canonical JSON: its keys stand in order here. */
export function signatureOf({ template, type, subtype, description, inputs, file_paths }: Identity): string {
  const text = `{"description":${JSON.stringify(description)},"file_paths":${JSON.stringify(file_paths)},"inputs":${inputs},"subtype":${JSON.stringify(subtype)},"template":${JSON.stringify(template)},"type":${JSON.stringify(type)}}`;
  return hash("sha256", text, "hex");
}

/** Larger inputs belong into files. */
const MAX_CHARS = 1_000_000;
/** A circle of objects ends here, too. */
const MAX_LEVELS = 100;

class Refusal extends Error {}

type Writer = { left: number; readonly maxChars: number };
type Path = (string | number)[];

function written(value: unknown, writer: Writer, path: Path, level: number): string {
  if (level > MAX_LEVELS) throw new Refusal(`${named(path)} is deeper than ${MAX_LEVELS} levels`);
  if (typeof value === "object" && value !== null) {
    if (Array.isArray(value)) return list(value, writer, path, level);
    if (typeof (value as { toJSON?: unknown }).toJSON === "function")
      return written((value as { toJSON(): unknown }).toJSON(), writer, path, level + 1);
    return fields(value as Readonly<Record<string, unknown>>, writer, path, level);
  }
  if (!isScalar(value)) throw new Refusal(`${named(path)} is ${kindOf(value)}, which JSON cannot say`);
  const text = JSON.stringify(value);
  spend(writer, text.length);
  return text;
}

function list(values: readonly unknown[], writer: Writer, path: Path, level: number): string {
  spend(writer, 2 + values.length);
  let text = "[";
  for (let i = 0; i < values.length; i += 1) {
    path.push(i);
    text += `${i > 0 ? "," : ""}${written(values[i], writer, path, level + 1)}`;
    path.pop();
  }
  return `${text}]`;
}

function fields(value: Readonly<Record<string, unknown>>, writer: Writer, path: Path, level: number): string {
  const above = Object.getPrototypeOf(value) as object | null;
  if (above !== null && Object.getPrototypeOf(above) !== null)
    throw new Refusal(`${named(path)} is ${kindOf(value)}, which JSON cannot say`);
  let text = "{";
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field === undefined) continue;
    const name = JSON.stringify(key);
    spend(writer, name.length + 2);
    path.push(key);
    text += `${text.length > 1 ? "," : ""}${name}:${written(field, writer, path, level + 1)}`;
    path.pop();
  }
  return `${text}}`;
}

const isScalar = (value: unknown) =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  (typeof value === "number" && Number.isFinite(value));

function spend(writer: Writer, chars: number): void {
  writer.left -= chars;
  if (writer.left < 0) throw new Refusal(`longer than ${quantity(writer.maxChars)} characters`);
}

const named = (path: Path) => (path.length === 0 ? "the value" : path.slice(0, MAX_NAMED).join("."));
const MAX_NAMED = 8;

const kindOf = (value: unknown) =>
  typeof value === "object"
    ? `a ${value?.constructor?.name ?? "object"}`
    : String(typeof value === "number" ? value : typeof value);
