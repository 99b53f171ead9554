/** Reads the text of a plan file: JSON, or YAML that says the same. A fault is told with its line and column. */
import { LineCounter, parseDocument } from "yaml";

type ParsedText = { readonly value: unknown } | { readonly problem: string };

/** More than any plan that a person or a model wrote. */
const MAX_CHARS = 5_000_000;
/** The YAML parser is a thousand times slower than JSON's, and compares each two keys of an object. */
const MAX_YAML_CHARS = 100_000;

/** Never throws. */
export function parseText(written: string): ParsedText {
  if (written.length > MAX_CHARS)
    return { problem: `the text is longer than ${MAX_CHARS / 1_000_000} million characters` };
  const text = written.startsWith("\uFEFF") ? written.slice(1) : written;
  try {
    const value: unknown = JSON.parse(text);
    return hasDoubledKey(text, value) ? parseYaml(text, "a key stands twice in one object") : { value };
  } catch (error) {
    return parseYaml(text, error instanceof Error ? error.message : "it cannot be parsed");
  }
}

function parseYaml(text: string, why: string): ParsedText {
  if (text.trim() === "") return { problem: "the text is empty" };
  if (text.length > MAX_YAML_CHARS) return { problem: `the plan is not JSON: ${why.slice(0, 200)}` };
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "silent" });
    const [error] = document.errors;
    if (error === undefined) return { value: document.toJS() };
    const { line, col } = lines.linePos(error.pos[0]);
    return { problem: `the plan is not JSON: line ${line}, column ${col}: ${error.message}` };
  } catch {
    return { problem: "the plan is not JSON: it is nested too deeply, or repeats itself by aliases" };
  }
}

/** JSON.parse keeps the last of two equal keys: then the text has more keys than the value. */
function hasDoubledKey(text: string, value: unknown): boolean {
  // Each string is matched whole, a key or not: a match that could fail would begin again at every quote inside it.
  let inText = 0;
  for (const [, colon] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/g)) if (colon) inText += 1;
  let inValue = 0;
  const open = [value];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (typeof one !== "object" || one === null) continue;
    if (!Array.isArray(one)) inValue += Object.keys(one).length;
    for (const inner of Object.values(one)) open.push(inner);
  }
  return inText > inValue;
}
