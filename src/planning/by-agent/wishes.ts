/** Finds the sentences of a request that order or limit something; what tells a story, shows code or is done does not. */

import { demands, kindOf, type Lexicon, orderIn, whenOf } from "../shapes/lexicon.ts";
import { linesOf, sentencesOf, type TextLine } from "../shapes/text.ts";
import { rareIn } from "./rare-words.ts";

/** As they were written, each once. */
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

/** Which sentence of such a request orders something cannot be told: each that names a path, a quote or a number may. */
export function isOtherLanguage(request: string): boolean {
  // A call stack is no prose of any language.
  if (linesOf(request.slice(0, MAX_READ_CHARS)).some(({ is }) => is === "other")) return false;
  const words = request.toLowerCase().match(/\p{L}+/gu) ?? [];
  const english = words.filter((word) => ENGLISH.has(word)).length;
  return words.length >= MIN_WORDS && english * 25 < words.length;
}

const MIN_WORDS = 5;
/** Every 25th word of an English text is one of these, and hardly one of another language is. */
const ENGLISH: ReadonlySet<string> = new Set(
  (
    "the and of is are with for it that this should be when from not have you we if add fix make use update remove " +
    "write to into all each every"
  ).split(" "),
);

const MAX_READ_CHARS = 100_000;
/** More than a planner mends; a request with more is a list that was pasted. */
const MAX_WISHES = 300;

type Said = { readonly sentence: string; readonly isItem: boolean };

/** Paragraphs by their sentences, items of lists as a whole. Below a heading or a lead of a story there is none. */
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

/** What forms and reports ask for besides the wish. */
const STORY = /\b(?:steps|environment|versions?|system info|logs?|stack ?trace|bug)\b/i;

function isWish(sentence: string, lexicon: Lexicon): boolean {
  // "Can you add a flag?" orders it; a question does not.
  if (/\?\s*$/.test(sentence)) return orderIn(sentence, lexicon) !== undefined;
  const timed = whenOf(sentence, lexicon);
  if (timed && orderIn(timed.rest, lexicon)) return true;
  return kindOf(sentence, lexicon) !== "statement" || demands(sentence);
}
