/** Measures, cuts, aligns and wraps texts for a terminal. */
import { createRequire } from "node:module";

/** How many columns a text takes on a terminal. */
export const width = (text: string): number => (PLAIN.test(text) ? text.length : measure(text));

const PLAIN = /^[ -~]*$/;

/** Loads the library with the first text that needs it: that takes 20 ms, and most commands print plain ASCII. */
function measure(text: string): number {
  const { default: stringWidth }: typeof import("string-width") = createRequire(import.meta.url)(
    "string-width",
  );
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/** Cuts the text to at most so many columns. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = "";
  let used = 1; // One column for the "…".
  for (const character of text) {
    used += width(character);
    if (used > columns) break;
    kept += character;
  }
  return columns < 1 ? "" : `${kept}…`;
}

export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - width(text)));

/** Aligns rows in columns with two spaces between; the last cell of a row is not padded. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.slice(0, -1).entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : padded(cell, widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
}

/** Aligns rows in at most so many columns: wraps the widest column, and the next widest if needed. */
export function tableWithin(rows: readonly (readonly string[])[], columns: number): readonly string[] {
  const lines = table(rows);
  const excess = Math.max(0, ...lines.map(width)) - columns;
  if (excess <= 0) return lines;
  const wide: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) wide[i] = Math.max(wide[i] ?? 0, width(cell));
  const most = Math.max(...wide);
  const widest = wide.indexOf(most);
  const room = Math.max(MIN_CELL_COLUMNS, most - excess);
  if (room >= most) return lines.map((line) => fit(line, columns));
  const broken = rows.flatMap((row) =>
    wrapped(row[widest] ?? "", room)
      .split("\n")
      .map((part, n) => row.map((cell, i) => (i === widest ? fit(part, room) : n === 0 ? cell : ""))),
  );
  return tableWithin(broken, columns);
}
const MIN_CELL_COLUMNS = 12;

/** Wraps a paragraph at blanks into lines of at most so many columns; a longer word stays whole. */
export function wrapped(text: string, columns: number = PAGE_COLUMNS, indent = ""): string {
  const [start = ""] = /^ */.exec(text) ?? [];
  const lines: string[] = [];
  let line = "";
  for (const word of text.trimStart().split(/ +/)) {
    const longer = line === "" ? word : `${line} ${word}`;
    const room = columns - width(lines.length === 0 ? start : indent);
    if (line === "" || width(longer) <= room) line = longer;
    else {
      lines.push(line);
      line = word;
    }
  }
  return start + [...lines, line].join(`\n${indent}`);
}

/**
 * Wraps the text to the terminal, or to what is easy to read. Without a terminal lines stay whole, so that they can be
 * searched.
 */
export const onPage = (sink: Page, text: string, indent: string): string => {
  const columns = pageColumns(sink);
  return columns === undefined ? text : wrapped(text, columns, indent);
};
type Page = { readonly size?: () => { readonly columns: number } };
/** Undefined if the output is not a terminal. */
export const pageColumns = ({ size }: Page): number | undefined =>
  size && Math.min(size().columns - 1, MAX_PAGE_COLUMNS);
const MAX_PAGE_COLUMNS = 100;

/** The width of every terminal, which is also easy to read. */
const PAGE_COLUMNS = 80;
