/** `npm run docs`: writes the configuration keys of the schema into docs/configuration.md. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describeKeys, jsonSchema } from "../src/config/index.ts";
import { ROOT } from "./source-files.ts";

export const CONFIGURATION = path.join(ROOT, "docs", "configuration.md");

/** The document with the current keys between its two marks; the rest of it is written by hand. */
export function withKeys(text: string): string {
  const [start, end] = [text.indexOf(START), text.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`the document has no ${START} … ${END}`);
  return `${text.slice(0, start + START.length)}\n\n${keysText()}\n\n${text.slice(end)}`;
}

const START = "<!-- written by npm run docs: change src/config/schema.ts instead -->";
const END = "<!-- from here on by hand -->";

type Key = ReturnType<typeof describeKeys>[number];

/** Keys without a group first, then group by group. */
function keysText(): string {
  const byGroup = Map.groupBy(describeKeys(), ({ key }) => groupOf(key));
  const own = byGroup.get("") ?? [];
  byGroup.delete("");
  const groups = [...byGroup].map(([group, keys]) => [
    `### ${group}`,
    wrapped(aboutGroup(group)),
    listOf(keys),
  ]);
  return ["### Top level", listOf(own), ...groups.flat()].join("\n\n");
}

const groupOf = (key: string) => key.slice(0, Math.max(0, key.lastIndexOf(".")));

function aboutGroup(group: string): string {
  const inner = (of: Described | undefined, name: string) => of?.properties?.[name];
  return group.split(".").reduce(inner, jsonSchema() as Described)?.description ?? "";
}

type Described = {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described | undefined>>;
};

const listOf = (keys: readonly Key[]) => keys.map(entryOf).join("\n");

function entryOf(key: Key): string {
  const facts = [typeOf(key), defaultOf(key.default), `\`${key.variable}\``].join(", ");
  return wrapped(`- **\`${key.key}\`** (${facts}): ${key.description}`, "  ");
}

/** A duration and a size are both numbers or texts in the schema; their defaults tell them apart. */
function typeOf({ type, default: value }: Key): string {
  const written = String(value);
  if (type === "number | string") return /^\d+(?:ms|s|m|h|d)$/.test(written) ? "duration" : "size";
  return TYPES[type] ?? type.split(" | ").join(" or ");
}

const TYPES: Readonly<Record<string, string>> = {
  number: "number",
  string: "text",
  boolean: "true or false",
  "list | string": "list",
  "string | list | group": "command",
};

const defaultOf = (value: unknown) =>
  value === undefined
    ? "not set"
    : `default ${typeof value === "string" ? `\`${value}\`` : `\`${JSON.stringify(value).replaceAll('","', '", "')}\``}`;

const MAX_COLUMNS = 120;

/** Wraps between words. */
function wrapped(text: string, indent = ""): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (longer.length > MAX_COLUMNS) {
      lines.push(line);
      line = indent + word;
    } else line = longer;
  }
  return [...lines, line].join("\n");
}

if (import.meta.main) writeFileSync(CONFIGURATION, withKeys(readFileSync(CONFIGURATION, "utf8")));
