/** Which characters of a request are read? Well-formed, composed, without what cannot be seen. */
import { isAscii } from "../plain.ts";

export function clean(request: string): { readonly text: string; readonly leftOut: number } {
  const said = request.trim();
  const read = said.slice(0, MAX_READ_CHARS);
  const text = (isAscii(read) ? read : withoutUnseen(read))
    .replace(/\r\n?|[\f\v]/g, "\n")
    .replace(CONTROL, "")
    .replace(/[^\S\n]/g, " ")
    .replace(QUOTED, (quote) => (quote.includes("```") ? quote : quote.replace(/\n+/g, " ")));
  return { text: text.replace(STORY, asked), leftOut: said.length - read.length };
}

/** "As an editor, I want to see my drafts" asks that an editor can see theirs. */
const STORY = /^( *)As (an? [\w-]+(?: [\w-]+){0,3}?),? I (?:want|need|would like|wish) to ([^.\n]{1,300})/gim;
const asked = (_: string, blank: string, who: string, wanted: string) =>
  `${blank}Allow ${who} to ${wanted.replace(OWN, (word) => OWNED[word.toLowerCase()]!)}`;
const OWN = /\b(?:I'm|I|my|me|mine|myself)\b/gi;
const OWNED: Readonly<Record<string, string>> = {
  "i'm": "they are",
  i: "they",
  my: "their",
  me: "them",
  mine: "theirs",
  myself: "themselves",
};

/** On one line, each run of blanks one blank. */
export const joined = (text: string): string => text.replace(/\s+/g, " ").trim();

const withoutUnseen = (text: string) =>
  text
    .toWellFormed()
    .replace(PILE_OF_ACCENTS, "$1")
    .normalize()
    .replace(/[\u2028\u2029]/g, "\n")
    .replace(/[’ʼ]/g, "'")
    .replace(UNSEEN, "");

/** What is to be done is said early. */
const MAX_READ_CHARS = 20_000;
/** To sort a pile takes the square of its height. Unicode's stream-safe text has up to 30. */
const PILE_OF_ACCENTS = /(\p{M}{30})\p{M}+/gu;
/** Besides tab and newline. */
const CONTROL = /[\p{Cc}--[\t\n]]/gv;
/** A quotation of several paragraphs is one. Longer ones are more likely two stray marks. */
const QUOTED = /(?<!["\w])"(?=[^"\s])[^"]{1,2000}"(?!["\w])/g;
/** Zero-width and direction-changing characters; not the joiner of emoji. */
const UNSEEN = /\u00ad|\u034f|\u061c|[\u200b\u200c\u200e\u200f]|[\u202a-\u202e]|[\u2060-\u206f]|\ufeff/g;
