/** Reads one specialist from the text of its file: YAML front matter, then its prompt. */
import { parseDocument } from "yaml";
import { messageOf } from "../core/failure.ts";
import type { Specialist } from "../core/specialist.ts";
import { quoted } from "../text/lines.ts";

type ReadSpecialist =
  /** `remarks`: parts of the file that were ignored. */
  { readonly specialist: Specialist; readonly remarks: readonly string[] } | { readonly problem: string };

export function specialistOf(source: string, text: string): ReadSpecialist {
  const read = readFrontMatter(text);
  if ("problem" in read) return read;
  const { fields, body } = read;
  const name = readName(fields["name"], source);
  if (typeof name === "object") return name;
  const tools = readTools(fields["tools"]);
  if ("problem" in tools) return tools;
  const model = readModel(fields["model"]);
  const specialist: Specialist = {
    name,
    description: line(fields["description"]).slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
    prompt: body,
    ...(tools.names && { tools: tools.names }),
    ...(model.name !== undefined && { model: model.name }),
    isReadOnly: tools.names?.every((tool) => READING.has(tool)) ?? false,
    keywords: readKeywords(fields["keywords"]),
    source,
  };
  return { specialist, remarks: [...tools.remarks, ...model.remarks] };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const RESERVED: readonly string[] = ["main", "general-purpose"];

function readName(written: unknown, source: string): string | { readonly problem: string } {
  const name = line(written) || source.slice(source.lastIndexOf("/") + 1, -".md".length);
  if (RESERVED.includes(name.toLowerCase()))
    return { problem: `is named ${name}, which means no special role` };
  if (NAME.test(name)) return name;
  const rule = "up to 64 letters, digits, dots, dashes, colons and underscores";
  return { problem: `has the name ${quoted(name)}; it must be ${rule}` };
}

/** Skein's names of tools, and the names of other systems for them. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ...["read", "write", "edit", "bash", "grep", "find", "ls", "git"].map((tool) => [tool, tool] as const),
  ["multiedit", "edit"],
  ["glob", "find"],
]);

const READING: ReadonlySet<string> = new Set(["read", "grep", "find", "ls", "git"]);

type ReadTools = { readonly names?: readonly string[]; readonly remarks: readonly string[] };

/**
 * The tools of a specialist. No names, or "*", mean all. A limited tool such as Bash(git:*) does not stand for the
 * whole tool.
 */
function readTools(written: unknown): ReadTools | { readonly problem: string } {
  const asked = words(written);
  if (asked.length === 0 || asked.includes("*")) return { remarks: [] };
  const unknown = asked.filter((tool) => !TOOLS.has(tool.toLowerCase()));
  const names = new Set(asked.flatMap((tool) => TOOLS.get(tool.toLowerCase()) ?? []));
  const said = unknown.slice(0, MAX_SAID).map(quoted).join(", ");
  if (names.size === 0) return { problem: `names no tool that is known, only ${said}` };
  const remarks = unknown.length === 0 ? [] : [`names tools that are not known and are ignored: ${said}`];
  return { names: [...names], remarks };
}

/** The model of a specialist. Short names depend on the provider in use; "inherit" means no choice. */
function readModel(written: unknown): { readonly name?: string; readonly remarks: readonly string[] } {
  const name = line(written);
  if (name === "" || name === "inherit") return { remarks: [] };
  const isName = SHORT.has(name) || /^[a-z0-9][a-z0-9._-]*\/\S+$/i.test(name);
  if (isName && name.length <= MAX_MODEL_CHARS) return { name, remarks: [] };
  return { remarks: [`names the model ${quoted(name)}, which is not provider/model and is ignored`] };
}

const SHORT: ReadonlySet<string> = new Set(["opus", "sonnet", "haiku"]);
const MAX_DESCRIPTION_CHARS = 2_000;
const MAX_MODEL_CHARS = 200;
const MAX_KEYWORDS = 50;
const MAX_KEYWORD_CHARS = 60;
const MAX_SAID = 10;

const readKeywords = (written: unknown): readonly string[] =>
  words(written)
    .filter((word) => /[\p{L}\p{N}]/u.test(word) && word.length <= MAX_KEYWORD_CHARS)
    .slice(0, MAX_KEYWORDS);

/** The entries of a list, or of a text with commas. */
function words(written: unknown): readonly string[] {
  const entries = Array.isArray(written) ? written : typeof written === "string" ? written.split(",") : [];
  return entries.map(line).filter((entry) => entry !== "");
}

const CONTROL = /\p{Cc}+/gu;

/** Text on one line; empty if the value is not text. */
const line = (written: unknown): string =>
  typeof written === "string" ? written.toWellFormed().replace(CONTROL, " ").trim() : "";

type Fields = Readonly<Record<string, unknown>>;

/** Reads the YAML between two lines of dashes. */
function readFrontMatter(
  text: string,
): { readonly fields: Fields; readonly body: string } | { readonly problem: string } {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const end =
    lines[0]?.trimEnd() === "---" ? lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---") : -1;
  if (end === -1) return { problem: "does not begin with front matter between two lines of ---" };
  const head = lines.slice(1, end);
  const read = readYaml(head.join("\n"));
  const fields = "problem" in read ? readLines(head) : read.fields;
  if (fields === undefined) return "problem" in read ? read : { problem: "has no front matter" };
  return {
    fields,
    body: lines
      .slice(end + 1)
      .join("\n")
      .trim(),
  };
}

function readYaml(head: string): { readonly fields: Fields } | { readonly problem: string } {
  try {
    const document = parseDocument(head, { prettyErrors: false, logLevel: "silent" });
    if (document.errors[0]) throw document.errors[0];
    const value: unknown = document.toJS({ maxAliasCount: 0 }); // With aliases, a few lines could become gigabytes.
    return isFields(value) ? { fields: value } : { problem: "has front matter without keys" };
  } catch (thrown) {
    return { problem: `has front matter that is not YAML: ${messageOf(thrown)}` };
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Reads each line as a key and a value, because many files have an unquoted description with a colon. */
function readLines(head: readonly string[]): Fields | undefined {
  const found = head.flatMap((line) => {
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(0, colon));
    return /^[a-z]+$/.test(key) ? [[key, line.slice(colon + 1).trim()]] : [];
  });
  const fields: Fields = Object.fromEntries(found);
  return "name" in fields || "description" in fields ? fields : undefined;
}
