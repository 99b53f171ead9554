/** How does any text stand in markdown as itself, on one line, so that it can be read back exactly? */

export const NONE = "_none_";
const EMPTY = "_empty_";

/** A viewer shows it as it is: no emphasis, link, heading, list, table, formula or HTML comes of it. */
export function escaped(text: string): string {
  if (text === "") return EMPTY;
  const inline = text.replace(SPECIAL, "\\$&").replace(/^ | $/g, "&#32;");
  // What a viewer or an editor would drop, turn into a line end, or hide.
  const seen = inline.replace(UNSEEN, (one) => `&#${one.codePointAt(0)};`);
  return seen.replace(/^[#>+-]/, "\\$&").replace(/^(\d{1,9})([.)])/, "$1\\$2");
}

/** What `escaped` was given; of other markdown what can be told without a parser of all of it. */
export function unescaped(text: string): string {
  const line = text.trim();
  if (line === EMPTY) return "";
  return line.replace(ESCAPE, (all, mark?: string, decimal?: string, hex?: string, name?: string) => {
    if (mark !== undefined) return mark;
    if (name !== undefined) return NAMED[name as keyof typeof NAMED];
    const point = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : all;
  });
}

/** As JSON on one line, with nothing in it that is not seen. */
export const jsonLine = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(jsonLine).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .map(([key, one]) => `${jsonLine(key)}: ${jsonLine(one)}`);
    return `{${fields.join(", ")}}`;
  }
  return JSON.stringify(value).replace(UNSEEN, (one) => {
    const units = Array.from({ length: one.length }, (_, at) => one.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
};

/** On one line without anything that moves, hides or turns text round; cannot be read back. */
export const plain = (text: string): string => text.replace(UNSEEN, () => " ").trim();

/** An underscore inside a word is only that. */
const SPECIAL = /[\\`*[\]<&|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g;
const UNSEEN = /\p{C}|[^\S ]/gu;

const ESCAPE = /\\([!-/:-@[-`{-~])|&#(\d{1,7});|&#[xX]([0-9a-fA-F]{1,6});|&(amp|lt|gt|quot);/g;
const NAMED = { amp: "&", lt: "<", gt: ">", quot: '"' } as const;
