/** Finds the title of a request that is one task, without form headings, greetings, quotes or injected lines. */
import { hasWord } from "./plain.ts";
import { type Lexicon, orderIn } from "./shapes/lexicon.ts";
import { isTests } from "./shapes/merge.ts";
import { linesOf, sentencesOf } from "./shapes/text.ts";
import { subjectOf } from "./wording.ts";

/** Its first order, if one stands near the beginning; else its first sentence. */
export function titleOf(request: string, lexicon: Lexicon, maxChars: number): string {
  const lines = linesOf(request.slice(0, MAX_READ_CHARS).replace(COMMENT, "\n")).filter(({ text }) =>
    hasWord(text),
  );
  const named = lines.find(({ text }) => NAMED.test(text));
  if (named) return subjectOf(named.text.replace(NAMED, "").replace(TAGS, ""), maxChars) || UNTITLED;
  const said = lines.filter(({ is, text }) => (is === "text" || is === "item") && !isBeside(text));
  const headings = lines.filter(({ is, text }) => is === "heading" && !isBeside(withoutMarks(text)));
  const sentences = said
    .slice(0, MAX_LINES)
    .flatMap(({ is, text }) => sentencesOf(text).map((one) => ({ is, one })));
  // A list item may be a step of a story.
  const order = sentences
    .slice(0, MAX_SENTENCES)
    .find(({ is, one }) => is === "text" && orderIn(one, lexicon) && !isTests(one) && !NAMELESS.test(one));
  const found = order ?? sentences.find(({ one }) => /\s/.test(one.trim())) ?? sentences[0];
  const first = found?.one ?? headings[0]?.text ?? lines[0]?.text ?? "";
  // "In a.ts:" needs the sentence that follows it.
  const next = found && /:\s*$/.test(first) ? sentences[sentences.indexOf(found) + 1]?.one : undefined;
  const title = withoutMarks(next === undefined ? first : `${first} ${next}`);
  return subjectOf(title.replace(HAIL, "").replace(/^(?:also|and|then)\b,? /i, ""), maxChars) || UNTITLED;
}

/** "Fix it" refers to something that an earlier sentence names. */
const NAMELESS =
  /^(?:(?:please|and|then|so|just)\s+)*\w+ (?:it|this|that|them|these|those)\b[\s.,!]*(?:please|now|too|quickly)?[\s.!]*$/i;

const UNTITLED = "Do what the request says";
const MAX_READ_CHARS = 5_000;
const MAX_LINES = 6;
const MAX_SENTENCES = 4;

const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
/** The title line of a mail or a form, without tags such as "[Bug]:" and "Re:". */
const NAMED = /^\s*(?:\*\*)?(?:title|subject)(?:\*\*)?:\s*(?=\S)/i;
const TAGS = /^(?:\s*(?:\[[^\]]{1,30}\]|(?:re|fwd?|aw|wg)):?\s*)+/i;

const withoutMarks = (text: string): string => text.replace(/^[#*_>\s|-]+|[*_]+$/g, "");

const isBeside = (text: string): boolean => {
  const line = text.trim();
  return [GREETING, SHOUTED, LABEL, FIELD, INJECTED, PLACE].some((beside) => beside.test(line));
};

const GREETING =
  /^(?:hi|hello|hey|dear|hallo|bonjour|good (?:morning|evening|afternoon))\b[^.!?]{0,30}[,.!]?$/i;
/** A greeting before the sentence: "Hi, the export is broken". */
const HAIL = /^(?:hi|hello|hey|hola|hallo|bonjour)(?: (?:all|team|there|folks))?[,!]\s+/i;
const SHOUTED = /^[A-Z][A-Z /]{2,40}:?$/;
/** Labels of forms: "Expected behaviour", "Steps to reproduce:". */
const LABEL =
  /^(?:(?:title|summary|description|overview|problem|background|context|environment|version|package|details|steps to reproduce|to reproduce|repro(?:duction)?|(?:expected|actual|current|observed)(?: (?:behaviou?r|result))?|what happened|describe the \w+|bug report|feature request|additional (?:context|information)|system info|acceptance criteria|notes?|tasks?|todo)\??:?|is there an existing .*\?)$/i;
/** A form field with its value: "OS: Windows 11", "From: Ann", "Version 1.2". */
const FIELD =
  /^(?:\*\*)?(?:os|from|to|cc|date|sent|version|browser|node|shell|tool|platform|priority|component|reporter|assignee|labels?|affects|package|environment|python|rust|java)\b[^:.]{0,20}:(?:\*\*)?\s|^\/\w+\s+~|^on .{1,60} wrote:$/i;
/** A line of a call stack: "node:internal/errors:540", "Traceback (most recent call last):". */
const PLACE = /^\S+:\d+(?::\d+)?:?$|^Traceback\b|^Caused by:\s*$|^(?:throw|raise) \w+;?$/i;
/** Lines that give instructions to the model instead of asking for work. */
const INJECTED =
  /^(?:system|assistant|developer|note to|important|attention)\b[^.]{0,40}(?:planner|agent|assistant|model|ai|prompt)\b|\b(?:ignore|disregard|forget)\b.{0,30}\b(?:instructions|prompts?|rules)\b|^\W*\{.*\}?\s*$|^(?:mark every task|set success_criterion|status: )/i;
