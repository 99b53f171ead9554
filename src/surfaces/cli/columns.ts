/** How wide is a text on a terminal, and how does it fit? */
import { createRequire } from "node:module";

/** How many columns a text takes on a terminal. */
export const width = (text: string): number => (PLAIN.test(text) ? text.length : measure(text));

const PLAIN = /^[ -~]*$/;

/** Loaded for the first text that needs it: that takes 20 ms, and most commands print plain ASCII. */
function measure(text: string): number {
  const { default: stringWidth }: typeof import("string-width") = createRequire(import.meta.url)(
    "string-width",
  );
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/** At most so many columns. */
export function fit(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let kept = "";
  let used = 1; // For the "…".
  for (const character of text) {
    used += width(character);
    if (used > columns) break;
    kept += character;
  }
  return columns < 1 ? "" : `${kept}…`;
}

export const padded = (text: string, columns: number): string =>
  text + " ".repeat(Math.max(0, columns - width(text)));

/** Rows in columns, two spaces between; the last cell of a row is not padded. */
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

/** The same in at most so many columns: the widest column has lines of its own, and the next widest if need be. */
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

/** A paragraph in lines of at most so many columns, broken at blanks; a word that is longer stays whole. */
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

/** As wide as a terminal is, if it is no wider than is easy to read. Elsewhere lines stay whole, for who searches them. */
export const onPage = (sink: Page, text: string, indent: string): string => {
  const columns = pageColumns(sink);
  return columns === undefined ? text : wrapped(text, columns, indent);
};
type Page = { readonly size?: () => { readonly columns: number } };
/** Undefined: there is no page. */
export const pageColumns = ({ size }: Page): number | undefined =>
  size && Math.min(size().columns - 1, MAX_PAGE_COLUMNS);
const MAX_PAGE_COLUMNS = 100;

/** What every terminal has, and what a person reads with ease. */
const PAGE_COLUMNS = 80;
