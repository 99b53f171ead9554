/** Which lines of a plan's markdown belong to what? Its labels, and the values, lists and records below them. */
import type { PlanProblem } from "../files/place.ts";
import { NONE, unescaped } from "./escape.ts";
import { GO_ON, LABELS, type Label, TITLE } from "./markdown.ts";

export type SourceLine = { readonly number: number; readonly text: string };

/** `lines` begins with what stands on the label's own line, if anything does. Fences are left out. */
export type Section = { readonly number: number; readonly lines: readonly SourceLine[] };

export type Sections = {
  readonly byLabel: ReadonlyMap<Label, Section>;
  readonly problems: readonly PlanProblem[];
};

/** Undefined: the text does not begin as a plan does. */
export function sectionsOf(text: string): Sections | undefined {
  const lines = text.split(/\r\n|\n/).map((line, index) => ({ number: index + 1, text: line.trimEnd() }));
  const first = lines.findIndex(({ text }) => text !== "" && text !== BYTE_ORDER_MARK);
  if (first === -1 || labelIn(lines[first]!.text)?.name !== TITLE) return undefined;
  const byLabel = new Map<Label, { number: number; lines: SourceLine[] }>();
  const problems: PlanProblem[] = [];
  let current: { number: number; lines: SourceLine[] } | undefined;
  let fence: string | undefined;
  for (const line of lines.slice(first + 1)) {
    const mark = fenceIn(line.text, fence);
    if (mark !== undefined) {
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    const label = fence === undefined ? labelIn(line.text) : undefined;
    const name = KNOWN.get(label?.name.toLowerCase() ?? "");
    if (label !== undefined && name !== undefined) {
      if (byLabel.has(name)) problems.push(problemAt(line.number, `"${name}" appears twice`));
      current = { number: line.number, lines: [] };
      byLabel.set(name, current);
      if (label.rest !== "") current.lines.push({ number: line.number, text: label.rest });
    } else if (line.text.trim() === GO_ON && fence === undefined) current = undefined;
    else if (current) current.lines.push(line);
    else if (line.text !== "") problems.push(strayAt(line.number));
  }
  return { byLabel, problems };
}

const BYTE_ORDER_MARK = "\ufeff";
const KNOWN: ReadonlyMap<string, Label> = new Map(LABELS.map((label) => [label.toLowerCase(), label]));

/** The marks of a line that opens a fence, or closes the one that is open. */
function fenceIn(line: string, open: string | undefined): string | undefined {
  const [, mark, rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
  if (mark === undefined || open === undefined) return mark;
  return rest === "" && mark.startsWith(open) ? mark : undefined;
}

/** "Goal: …", "**Goal**: …", "## Risks": at the very beginning of a line. */
const LABEL =
  /^\ufeff?(?:#{1,6} +)?\**([A-Z][A-Za-z]{0,20}(?: [A-Za-z]{1,20}){0,5})\**(?::\**(?: +(.*))?)?$/s;

function labelIn(line: string): { readonly name: string; readonly rest: string } | undefined {
  const [, name, rest = ""] = LABEL.exec(line) ?? [];
  return name === undefined ? undefined : { name, rest };
}

export const problemAt = (number: number, message: string, next?: string): PlanProblem => ({
  place: `line ${number}`,
  message,
  ...(next !== undefined && { next }),
});

export const strayAt = (number: number): PlanProblem =>
  problemAt(number, "this line belongs to no part of the plan", "remove it, or add it to the line above");

/** One value; a line that was broken is put together again. */
export const textOf = ({ lines }: Section): string =>
  unescaped(
    lines
      .map(({ text }) => text.trim())
      .filter((text) => text !== "")
      .join(" "),
  );

/** Still escaped; `parts` are the items that are indented below it. */
export type Item = { readonly number: number; readonly text: string; readonly parts: readonly Item[] };

export function itemsOf({ lines }: Section, problems: PlanProblem[]): readonly Item[] {
  const items: Open[] = [];
  let open: Open | undefined;
  for (const { number, text } of lines) {
    const [, indent, content = ""] = BULLET.exec(text) ?? [];
    if (text === "") open = undefined;
    else if (indent !== undefined) {
      open = { number, text: content, parts: [] };
      const above = indent.length >= 2 ? items.at(-1)?.parts : items;
      (above ?? items).push(open);
    } else if (open) open.text = open.text === "" ? text.trim() : `${open.text} ${text.trim()}`;
    else if (text.trim() !== NONE) problems.push(strayAt(number));
  }
  return items;
}

type Open = { readonly number: number; text: string; readonly parts: Open[] };
const BULLET = /^( *)[-*+](?: +(.*))?$/s;

type Kind = "TaskCreate" | "TaskUpdate";
export type Block = {
  readonly kind: Kind;
  readonly number: number;
  readonly fields: Map<string, { readonly number: number; readonly value: unknown }>;
};

export function blocksOf({ lines }: Section, problems: PlanProblem[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const { number, text } of lines) {
    const bare = text.trim();
    const [, key, rest = ""] = FIELD.exec(bare) ?? [];
    const block = blocks.at(-1);
    if (bare === "" || bare === NONE) continue;
    if (key !== undefined && isKind(key) && rest === "")
      blocks.push({ kind: key, number, fields: new Map() });
    else if (key === undefined || !block) problems.push(strayAt(number));
    else {
      const value = readJson(rest);
      if (value === undefined) problems.push(problemAt(number, `"${key}" is not JSON`, JSON_NEXT));
      else if (block.fields.has(key)) problems.push(problemAt(number, `"${key}" appears twice`));
      else block.fields.set(key, { number, value });
    }
  }
  return blocks;
}

const FIELD = /^([A-Za-z_]\w{0,40}):(?: +(.*))?$/s;
const isKind = (key: string): key is Kind => key === "TaskCreate" || key === "TaskUpdate";
const JSON_NEXT = 'write it on one line: "a text", 5, true, ["a", "b"] or {"a": 1}';

/** Undefined: it is none. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // JSON itself has no undefined.
  }
}
