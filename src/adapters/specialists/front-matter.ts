/** What does a markdown file say of itself in its first lines? Keys and values between two lines of dashes. */
import { parseDocument } from "yaml";
import { messageOf } from "../../core/failure.ts";

export type FrontMatter = { readonly fields: Readonly<Record<string, unknown>>; readonly body: string };

export function readFrontMatter(text: string): FrontMatter | { readonly problem: string } {
  const [, head, body] = /^\uFEFF?---[ \t]*\r?\n(.*?)(?:^|\r?\n)---[ \t]*(?:\r?\n(.*))?$/s.exec(text) ?? [];
  if (head === undefined) return { problem: "does not begin with front matter between two lines of ---" };
  const read = readYaml(head);
  const fields = "problem" in read ? readLines(head) : read;
  if (fields === undefined) return { problem: "problem" in read ? read.problem : "has no front matter" };
  return { fields, body: (body ?? "").trim() };
}

/** Copies by anchors: a few lines can otherwise become gigabytes. */
const MAX_ALIASES = 0;

type Fields = Readonly<Record<string, unknown>>;

function readYaml(head: string): Fields | { readonly problem: string } {
  try {
    const document = parseDocument(head, { prettyErrors: false, logLevel: "silent" });
    const [error] = document.errors;
    if (error) return { problem: `has front matter that is not YAML: ${error.message}` };
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return isFields(value) ? value : { problem: "has front matter without keys" };
  } catch (thrown) {
    return { problem: `has front matter that is not YAML: ${messageOf(thrown)}` };
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Many are written by hand, with a colon in an unquoted description: then each line is a key and its value. */
function readLines(head: string): Fields | undefined {
  const found = [...head.matchAll(/^([a-z]+):[ \t]*(\S.*?)[ \t]*$/gm)].map(([, key, value]) => [key, value]);
  const fields = Object.fromEntries(found) as Fields;
  return "name" in fields || "description" in fields ? fields : undefined;
}
