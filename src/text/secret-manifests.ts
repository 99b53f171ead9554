/** Finds the values in manifests of Kubernetes secrets: everything below `data`, whatever its name. */
import { LINE_PREFIX } from "./secret-places.ts";
import { type Span, spanOf } from "./secret-shapes.ts";

/** The colon after a name, in YAML and in JSON. */
const COLON = `["']?[ \\t]{0,4}:[ \\t]{0,4}`;
const KIND = new RegExp(`(?<![\\w-])kind${COLON}["']?Secret["']?(?=[ \\t]{0,4}(?:[,}\\r\\n#]|$))`, "y");
const MAX_SIDE_CHARS = 20_000;
/**
 * The end of the manifest before, or the start of the next one. `kubectl` writes `data` before `kind`, people write it
 * after.
 */
const BORDER = new RegExp(
  `(?<![\\w-])(?:kind|apiVersion)${COLON}|\\n${LINE_PREFIX}[^\\nA-Za-z]{0,12}---[ \\t\\r]{0,4}\\n`,
  "g",
);
const VERSION_BESIDE = new RegExp(`[\\s,"']{0,40}${LINE_PREFIX}[\\s"']{0,40}apiVersion${COLON}`, "y");

const DATA = new RegExp(
  `(?<![\\w-])(?:stringData|data)${COLON}(?:\\{(?<fields>[^{}]{0,20000})\\}|\\r?\\n)`,
  "g",
);
const FIELD = /:\s{0,9}"([^"\\]{4,})/dg;
/**
 * A value with or without quotes, or a line of a file that contains strings; not a reference. Closing brackets of JSON
 * do not belong to it.
 */
const STRINGS = `"(?![}\\],])[^"\\r\\n\\\\]*"|'(?![}\\],])[^'\\r\\n\\\\]*'`;
const VALUE = `["']?(?<value>(?![$<{%])[^\\s"'\\\\](?:[^\\r\\n"'\\\\]|${STRINGS}){3,})`;
const NAME = `["']?[\\w./-]{1,200}["']?:(?:[ \\t]{1,9}|(?=\\r?\\n|$))`;
const BLOCK = "[|>][+-]?[ \\t\\r]{0,4}(?=\\n)";
const LINE = new RegExp(
  `${LINE_PREFIX}(?<indent>[ \\t]{0,40})(?:${NAME})?(?:${BLOCK}|${VALUE})?[^\\n]{0,200}(?:\\n|$)`,
  "dy",
);

export function manifestSecrets(text: string): Span[] {
  if (!text.includes("Secret")) return [];
  const borders = [...text.matchAll(BORDER)];
  return borders.flatMap(({ index }, at) => {
    KIND.lastIndex = index;
    if (!KIND.test(text)) return [];
    const above = borders[at - 1];
    const start = Math.max(above ? above.index + above[0].length : 0, index - MAX_SIDE_CHARS);
    VERSION_BESIDE.lastIndex = KIND.lastIndex;
    const below = borders[at + (VERSION_BESIDE.test(text) ? 2 : 1)];
    const end = Math.min(below?.index ?? text.length, index + MAX_SIDE_CHARS);
    return valuesIn(text.slice(start, end)).map((span) => moved(span, start));
  });
}

const moved = ({ start, end }: Span, by: number): Span => ({ start: start + by, end: end + by });

const valuesIn = (manifest: string): Span[] =>
  [...manifest.matchAll(DATA)].flatMap(({ 0: all, index, groups }) => {
    const fields = groups?.["fields"];
    const end = index + all.length;
    if (fields === undefined) return [...linesBelow(manifest, manifest.lastIndexOf("\n", index) + 1, end)];
    const start = end - "}".length - fields.length;
    return [...fields.matchAll(FIELD)].map((field) => moved(spanOf(field), start));
  });

/** The values of the lines that are indented further than the first. */
function* linesBelow(text: string, first: number, from: number): Generator<Span> {
  LINE.lastIndex = first;
  const indent = LINE.exec(text)?.groups?.["indent"]?.length ?? 0;
  for (let at = from; at < text.length; at = LINE.lastIndex) {
    LINE.lastIndex = at;
    const line = LINE.exec(text);
    if (!line || (line.groups!["indent"]!.length <= indent && line[0].trim() !== "")) return;
    const value = line.indices?.groups?.["value"];
    if (value) yield { start: value[0], end: value[1] };
  }
}

const BEGINNING = new RegExp(
  `(?<=^|\\n)${LINE_PREFIX}[^\\nA-Za-z]{0,40}(?:apiVersion|kind)["']?[ \\t]{0,4}:`,
  "g",
);
/** The start of a manifest of another kind, or a line that does not belong to a manifest. */
const OVER = new RegExp(
  `(?<![\\w-])kind${COLON}["']?(?!Secret["']?[ \\t,}\\r]*\\n)\\w{1,60}["']?[ \\t,}\\r]*\\n|\\n[A-Za-z$#>][^:\\n]{0,200}\\n`,
);

/** Where a manifest starts whose kind or data may still follow after the cut; the cut itself if there is none. */
export function openManifest(text: string, cut: number): number {
  for (const { index } of text.slice(0, cut).matchAll(BEGINNING))
    if (!OVER.test(text.slice(index, cut))) return index;
  return cut;
}
