/** Finds the sentences of a request that order or limit something, and leaves out stories, code and finished items. */

import { demands, kindOf, type Lexicon, orderIn, whenOf } from "../shapes/lexicon.ts";
import { linesOf, sentencesOf, type TextLine } from "../shapes/text.ts";
import { rareIn } from "./rare-words.ts";

/** The sentences as they were written, without repetitions. */
export function wishesIn(request: string, lexicon: Lexicon): readonly string[] {
  const found = new Set<string>();
  const text = request.slice(0, MAX_READ_CHARS);
  const isOther = isOtherLanguage(text);
  for (const { sentence, isItem } of sentencesIn(linesOf(text), lexicon)) {
    const mayOrder = isOther && rareIn(sentence, false).some(({ is }) => is === "hard");
    if (found.size < MAX_WISHES && (isItem || mayOrder || isWish(sentence, lexicon))) found.add(sentence);
  }
  return [...found];
}

/**
 * True if the request is not in English. Its orders cannot be recognised then, so each sentence with a path, a quote or
 * a number may be one.
 */
export function isOtherLanguage(request: string): boolean {
  // A call stack is not prose of any language.
  if (linesOf(request.slice(0, MAX_READ_CHARS)).some(({ is }) => is === "other")) return false;
  const words = request.toLowerCase().match(/\p{L}+/gu) ?? [];
  const english = words.filter((word) => ENGLISH.has(word)).length;
  return words.length >= MIN_WORDS && english * 25 < words.length;
}

const MIN_WORDS = 5;
/** At least every 25th word of an English text is one of these, but hardly any word of another language. */
const ENGLISH: ReadonlySet<string> = new Set(
  (
    "the and of is are with for it that this should be when from not have you we if add fix make use update remove " +
    "write to into all each every"
  ).split(" "),
);

const MAX_READ_CHARS = 100_000;
/** More than a planner can cover; a longer request is a pasted list. */
const MAX_WISHES = 300;

type Said = { readonly sentence: string; readonly isItem: boolean };

/**
 * Paragraphs are split into sentences, list items are kept whole. Text below a heading or a lead-in of a story is left
 * out.
 */
function sentencesIn(lines: readonly TextLine[], { story }: Lexicon): readonly Said[] {
  const said: Said[] = [];
  let paragraph: string[] = [];
  let isStory = false;
  const end = () => {
    for (const sentence of sentencesOf(paragraph.join("\n"))) said.push({ sentence, isItem: false });
    paragraph = [];
  };
  for (const line of lines) {
    const { is, text } = line;
    if (is === "text" && !isStory) paragraph.push(text);
    else end();
    const leads = is === "heading" || (is === "text" && /:\s*$/.test(text));
    if (leads) isStory = story.test(text) || STORY.test(text);
    if (is === "item" && !isStory && !/~~|^I\b/.test(text))
      said.push({ sentence: text.trim(), isItem: true });
  }
  end();
  return said;
}

/** Headings of forms and reports whose text is not an order. */
const STORY = /\b(?:steps|environment|versions?|system info|logs?|stack ?trace|bug)\b/i;

function isWish(sentence: string, lexicon: Lexicon): boolean {
  // "Can you add a flag?" is an order; another question is not.
  if (/\?\s*$/.test(sentence)) return orderIn(sentence, lexicon) !== undefined;
  const timed = whenOf(sentence, lexicon);
  if (timed && orderIn(timed.rest, lexicon)) return true;
  return kindOf(sentence, lexicon) !== "statement" || demands(sentence);
}
