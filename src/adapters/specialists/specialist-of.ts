/** Reads a specialist from a file: checks its fields and translates the names that other systems use. */
import type { Specialist } from "../../core/specialist.ts";
import { quoted } from "../../text/lines.ts";
import { readFrontMatter } from "./front-matter.ts";

type ReadSpecialist =
  /** `remarks`: what was ignored. */
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

/** Our names, and those of other systems. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ...["read", "write", "edit", "bash", "grep", "find", "ls", "git"].map((tool) => [tool, tool] as const),
  ["multiedit", "edit"],
  ["glob", "find"],
]);

const READING: ReadonlySet<string> = new Set(["read", "grep", "find", "ls", "git"]);

type ReadTools = { readonly names?: readonly string[]; readonly remarks: readonly string[] };

/** None, or "*", means all. A limited tool such as Bash(git:*) does not stand for the whole tool. */
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

/** Short names depend on the provider in use; "inherit" means no choice. */
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

/** A list, or a text with commas. */
function words(written: unknown): readonly string[] {
  const entries = Array.isArray(written) ? written : typeof written === "string" ? written.split(",") : [];
  return entries.map(line).filter((entry) => entry !== "");
}

const CONTROL = /\p{Cc}+/gu;

/** Text on one line; empty if it is no text. */
const line = (written: unknown): string =>
  typeof written === "string" ? written.toWellFormed().replace(CONTROL, " ").trim() : "";
