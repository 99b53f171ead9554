/** Splits a request into lines and sentences; each is a piece of the text as it was written. */

/**
 * The kind of a line. `item`: a list item; `in`: the number of blanks by which its text is indented; `isBox`: it has an
 * empty checkbox. `ticked`: an item whose checkbox is ticked.
 */
export type TextLine =
  | { readonly is: "blank" | "text" | "heading" | "ticked" | "other"; readonly text: string }
  | {
      readonly is: "item";
      readonly text: string;
      readonly in: number;
      readonly isNumbered: boolean;
      readonly isBox: boolean;
    };

const ITEM = /^([ \t]{0,40})(?:[-*+•]|\(?(\d{1,3}|[a-z])[.)])[ \t]+(?:\[[ ]?\][ \t]+)?(?=\S)/;
const HEADING = /^ {0,3}(?:#{1,6}\s|\*\*[^*\n]{1,100}\*\*:?\s*$)/;
const TICKED = /^\s{0,40}[-*+]\s+\[[xX]\]/;
/** Code, quotes, tables, rules and call stacks, which are not sentences. */
const OTHER = /^(?: {0,3}(?:```|~~~|>|\||={3,}|-{3,}\s*$)|\t| {4,}\S|\s*at\s+\S+[(:]|\s*File ")/;

export function linesOf(text: string): readonly TextLine[] {
  return text.split("\n").map((line): TextLine => {
    if (line.trim() === "") return { is: "blank", text: line };
    const item = /\[[xX]\]/.test(line.slice(0, 50)) ? null : ITEM.exec(line);
    if (item) {
      const indent = item[1]!.replaceAll("\t", "    ").length;
      const [isNumbered, isBox] = [item[2] !== undefined, item[0].includes("[")];
      return { is: "item", text: line.slice(item[0].length), in: indent, isNumbered, isBox };
    }
    if (TICKED.test(line)) return { is: "ticked", text: line };
    if (HEADING.test(line)) return { is: "heading", text: line };
    return { is: OTHER.test(line) ? "other" : "text", text: line };
  });
}

/** Ends of sentences: a mark before a blank, or a line end before a capital letter or an empty line. */
const END =
  /(?<=[.!?]["')\]]?)\s+(?=[^\p{Ll}\s])|(?<=[。！？])\s*(?=\S)|\n[ \t]*(?:\n\s*|(?=[\p{Lu}\p{N}]))/gu;
/** In a text without capitals, a small letter may begin a sentence too. */
const SMALL_END = new RegExp(`${END.source}|(?<=\\.|[^\\s][!?])[ \\t]+(?=\\p{Ll})`, "gu");
const isSmall = (text: string): boolean => /^\W*\p{Ll}/u.test(text) && !/[.!?]\s+\p{Lu}/u.test(text);
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|fig|\p{L})\.$/iu;

/** In order, none empty; together they are the whole text except the blanks between them. */
export function sentencesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const end of text.matchAll(isSmall(text) ? SMALL_END : END)) {
    const piece = text.slice(from, end.index);
    if (!end[0].includes("\n") && ABBREVIATION.test(piece.slice(-10))) continue;
    pieces.push(piece.trim());
    from = end.index + end[0].length;
  }
  pieces.push(text.slice(from).trim());
  return pieces.filter((piece) => piece !== "");
}

/** Joins blanks of all kinds, so that a sentence is found wherever its lines were broken. */
export const joined = (text: string): string => text.replace(/\s+/g, " ").trim();
