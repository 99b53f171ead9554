/** How wide is a text on a terminal, and how does it fit? Apart from other words: what measures takes 20 ms to load. */
import stringWidth from "string-width";

/** How many columns a text takes on a terminal. */
export const width = (text: string): number => stringWidth(text, { countAnsiEscapeCodes: true });

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

/** Rows in columns, two spaces between; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, width(cell));
  return rows.map((row) =>
    row
      .map((cell, i) => (i === row.length - 1 ? cell : padded(cell, widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
}

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
export const onPage = (
  { size }: { readonly size?: () => { readonly columns: number } },
  text: string,
  indent: string,
): string => (size ? wrapped(text, Math.min(size().columns - 1, MAX_PAGE_COLUMNS), indent) : text);
const MAX_PAGE_COLUMNS = 100;

/** What every terminal has, and what a person reads with ease. */
const PAGE_COLUMNS = 80;
