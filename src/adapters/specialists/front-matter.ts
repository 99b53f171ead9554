/** Reads the front matter of a Markdown file: YAML between two lines of dashes. */
import { parseDocument } from "yaml";
import { messageOf } from "../../core/failure.ts";

type FrontMatter = { readonly fields: Readonly<Record<string, unknown>>; readonly body: string };

export function readFrontMatter(text: string): FrontMatter | { readonly problem: string } {
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

/** With aliases, a few lines could become gigabytes. */
const MAX_ALIASES = 0;

type Fields = Readonly<Record<string, unknown>>;

function readYaml(head: string): { readonly fields: Fields } | { readonly problem: string } {
  try {
    const document = parseDocument(head, { prettyErrors: false, logLevel: "silent" });
    const [error] = document.errors;
    if (error) return { problem: `has front matter that is not YAML: ${error.message}` };
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isFields(value) ? { fields: value } : { problem: "has front matter without keys" };
  } catch (thrown) {
    return { problem: `has front matter that is not YAML: ${messageOf(thrown)}` };
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Many files have an unquoted description with a colon: then each line is read as a key and a value. */
function readLines(head: readonly string[]): Fields | undefined {
  const found = head.flatMap((line) => {
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(0, colon));
    return /^[a-z]+$/.test(key) ? [[key, line.slice(colon + 1).trim()]] : [];
  });
  const fields: Fields = Object.fromEntries(found);
  return "name" in fields || "description" in fields ? fields : undefined;
}
