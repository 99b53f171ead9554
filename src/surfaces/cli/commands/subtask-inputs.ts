/** Reads the inputs of a task: `key=text`, `key=@file`, and JSON with `:=` instead of `=`. */
import path from "node:path";
import { messageOf } from "../../../core/failure.ts";
import type { TaskInputs } from "../../../ports/subtasks.ts";
import type { Template } from "../../../subtasks/template.ts";
import { closest } from "../../../text/closest.ts";
import { isMissing, readBytes } from "../files.ts";

type ReadInputs = { readonly inputs: TaskInputs } | { readonly problem: string };

/** `folder`: the folder to which file names are relative. */
export async function readInputs(
  given: readonly string[],
  template: Template,
  folder: string,
): Promise<ReadInputs> {
  const inputs = new Map<string, unknown>();
  for (const one of given) {
    const read = await readInput(one, folder);
    if ("problem" in read) return read;
    if (inputs.has(read.key)) return { problem: `--input ${read.key} is given twice` };
    inputs.set(read.key, read.value);
  }
  const problem = unfit([...inputs.keys()], template);
  return problem === undefined ? { inputs: Object.fromEntries(inputs) } : { problem };
}

type Read = { readonly key: string; readonly value: unknown } | { readonly problem: string };

async function readInput(given: string, folder: string): Promise<Read> {
  const [, key, as, written] = /^([\p{L}\p{N}_.-]{1,200}?)(:?=)(.*)$/su.exec(given) ?? [];
  if (key === undefined || written === undefined)
    return { problem: `--input must be key=value, key=@file or key:=JSON, not ${given.slice(0, 80)}` };
  const text = await textOf(key, written, folder);
  if ("problem" in text) return text;
  if (as === "=") return { key, value: text.value };
  try {
    return { key, value: JSON.parse(text.value) as unknown };
  } catch (error) {
    return { problem: `--input ${key}: no JSON: ${messageOf(error)}` };
  }
}

/** The largest input that a task accepts. */
const MAX_BYTES = 1_000_000;

async function textOf(
  key: string,
  written: string,
  folder: string,
): Promise<{ readonly value: string } | { readonly problem: string }> {
  if (!written.startsWith("@")) return { value: written };
  if (written.startsWith("@@")) return { value: written.slice(1) };
  const file = path.resolve(folder, written.slice(1));
  const wrong = (why: string) => ({ problem: `--input ${key}: ${written.slice(1)} ${why}` });
  try {
    const bytes = await readBytes(file, MAX_BYTES);
    if (bytes.length > MAX_BYTES) return wrong(`has more than ${MAX_BYTES} bytes`);
    return { value: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return wrong("is not UTF-8");
    return wrong(isMissing(error) ? "is not there" : `cannot be read: ${messageOf(error)}`);
  }
}

/** A template without named inputs accepts any. */
function unfit(keys: readonly string[], { name, inputs = {} }: Template): string | undefined {
  const known = Object.keys(inputs);
  const missing = known.filter((key) => inputs[key]?.required && !keys.includes(key));
  if (missing.length > 0)
    return `${name} needs --input ${missing.map((key) => `${key}=…`).join(" --input ")}`;
  const unknown = known.length === 0 ? undefined : keys.find((key) => !known.includes(key));
  if (unknown === undefined) return undefined;
  const [near] = closest(unknown, known);
  const meant = near === undefined ? `its inputs: ${known.join(", ")}` : `did you mean ${near}?`;
  return `${name} has no input ${unknown}; ${meant}`;
}
