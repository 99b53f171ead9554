/** Tells a request that only asks for an answer ("why is CI red") from one that orders a change. */
import { linesOf, sentencesOf } from "./shapes/text.ts";

/**
 * True if every sentence is a question, with or without its mark. A request that is not recognised is a change, which is
 * checked; so what is in doubt is not a question.
 */
export function asksOnly(request: string): boolean {
  if (request.length > MAX_CHARS) return false;
  const lines = linesOf(request).filter(({ is }) => is !== "blank");
  if (lines.some(({ is }) => is !== "text" && is !== "item")) return false;
  const sentences = lines.flatMap(({ text }) => sentencesOf(text));
  if (sentences.some((sentence) => NO_CHANGES.test(sentence)))
    return sentences.some(isQuestion) && !sentences.some((sentence) => ORDERS.test(sentence));
  return sentences.length > 0 && sentences.every(isQuestion);
}

/** Who says this wants an answer, whatever remarks stand beside the questions. */
const NO_CHANGES =
  /^(?:please,? )?(?:no (?:code )?changes|(?:don['’]t|do not) (?:change|touch|edit|fix) anything|(?:just|only) (?:tell me|explain|answer))(?:,? (?:please|yet|for now))?(?:[,;].*)?[.!]?$/i;

/** Questions are short; a long text that begins with one describes something. */
const MAX_CHARS = 1_000;

function isQuestion(sentence: string): boolean {
  const said = sentence.trim().replace(/^(?:and|but|so|also|ok(?:ay)?|hi|hello|hey|please)\b[,:]?\s+/i, "");
  if (PROPOSAL.test(said) || ALSO_ORDERS.test(said)) return false;
  return said.endsWith("?") ? ASKS.test(said) : INVERTED.test(said);
}

const VERB =
  "(?:is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|isn['’]t|aren['’]t|doesn['’]t|don['’]t|didn['’]t|can['’]t|won['’]t)";
/** "Can you add …?" and "could we cache it?" are orders; "can it return null?" is a question. */
const ASKS =
  /^(?:(?:why|what|which|where|who|whose|when|how)\b|(?:is|are|was|were|do|does|did|has|have|had|should)\b|(?:can|could|would|will|may|might)\s+(?!(?:you|we|i|someone|somebody|anyone|anybody)\b))/i;
/** Without a mark, the verb before its subject shows it: "why is CI red", "which tests are slow". */
const INVERTED = new RegExp(
  `^(?:(?:why|where|when|who|how)\\s+${VERB}\\b|how (?:many|much|often|long)\\b|(?:what|which)\\s+(?:(?!(?:i|we|you|they|it|this)\\b)[\\w-]+\\s+){0,3}${VERB}\\b)`,
  "i",
);
/** "Why don't we cache it?", "have you tried …?", "which is why …": these propose or state something. */
const PROPOSAL =
  /^(?:why (?:not|don['’]t (?:we|you))|(?:what|how) (?:about|if)|(?:have|had) you|do you mind|(?:which|what) (?:is|was) (?:why|how|what|because))\b/i;
/** "Why is CI red, and fix it": an answer alone would not do. */
const ORDER =
  "(?:(?:and|then|please|also|just|to|can you|could you)\\s+)*(?:add|change|correct|create|do|document|fix|implement|improve|make|move|patch|refactor|remove|rename|repair|replace|resolve|rewrite|solve|update|write)\\b(?! not)";
const ORDERS = new RegExp(`^${ORDER}`, "i");
const ALSO_ORDERS = new RegExp(`(?:[,;:]|\\b(?:and|then|or)\\b)\\s+${ORDER}`, "i");
