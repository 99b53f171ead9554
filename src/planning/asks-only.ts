/** Tells a request that only asks for an answer ("why is CI red") from one that orders a change. */
import { linesOf, sentencesOf } from "./shapes/text.ts";

/**
 * True if every sentence is a question, with or without a question mark. In doubt the answer is false: the request is
 * then treated as a change, and its result is checked.
 */
export function asksOnly(request: string): boolean {
  if (request.length > MAX_CHARS) return false;
  const lines = linesOf(request).filter(({ is }) => is !== "blank");
  if (lines.some(({ is }) => is !== "text" && is !== "item")) return false;
  const sentences = lines.flatMap(({ text }) => sentencesOf(text));
  if (sentences.some((sentence) => NO_CHANGES.test(sentence)))
    return sentences.some(isQuestion) && !sentences.some((sentence) => ORDERS.test(sentence));
  return (
    sentences.length > 0 && (sentences.every(isQuestion) || (lines.length === 1 && isAskedBelow(sentences)))
  );
}

/** "CI is red since yesterday. Why?" */
function isAskedBelow(sentences: readonly string[]): boolean {
  const [told = "", asked = ""] = sentences;
  return sentences.length === 2 && isTold(told) && TAG.test(asked);
}

/** A sentence like this asks for an answer only, whatever other sentences stand beside the questions. */
const NO_CHANGES =
  /^(?:please,? )?(?:no (?:code )?changes|(?:don['’]t|do not) (?:change|touch|edit|fix) anything|(?:just|only) (?:tell me|explain|answer))(?:,? (?:please|yet|for now))?(?:[,;].*)?[.!]?$/i;

/** Questions are short; a longer text that begins with a question describes something. */
const MAX_CHARS = 1_000;

function isQuestion(sentence: string): boolean {
  const said = sentence.trim().replace(/^(?:and|but|so|also|ok(?:ay)?|hi|hello|hey|please)\b[,:]?\s+/i, "");
  if (PROPOSAL.test(said) || ALSO_ORDERS.test(said)) return false;
  if (TELL_ME.test(said) || FIND_OUT.test(said)) return !ALSO_DOES.test(said);
  if (!/[?？]$/.test(said)) return INVERTED.test(said) || YES_OR_NO.test(said);
  return ASKS.test(said) || isForeign(said) || isTagged(said);
}

/** "CI is red, why?", "The build takes an hour - any idea why?" */
function isTagged(said: string): boolean {
  const [, told = "", asked = ""] = /^(.+?)(?:,|;| [–—-])\s+(?:(?:and|but|so) )?([^,;]+)$/s.exec(said) ?? [];
  return isTold(told) && TAG.test(asked);
}

/** The sentence says how things are, without a wish or an order. */
const isTold = (said: string): boolean => STATES.test(said) && !ORDERS.test(said) && !WISHES.test(said);

const VERB =
  "(?:is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|isn['’]t|aren['’]t|doesn['’]t|don['’]t|didn['’]t|can['’]t|won['’]t)";
/**
 * The start of a question. "Can you add …?" and "could we cache it?" are orders; "can it return null?" is a question.
 */
const ASKS =
  /^(?:(?:why|what|which|where|who|whose|when|how)\b|(?:is|are|was|were|do|does|did|has|have|had|should)\b|(?:can|could|would|will|may|might)\s+(?!(?:you|we|i|someone|somebody|anyone|anybody)\b))/i;
/**
 * A question without a question mark, recognised by the verb before its subject: "why is CI red", "which tests are
 * slow".
 */
const INVERTED = new RegExp(
  `^(?:(?:why|where|when|who|how)\\s+${VERB}\\b|how (?:many|much|often|long)\\b|(?:what|which)\\s+(?:(?!(?:i|we|you|they|it|this)\\b)[\\w-]+\\s+){0,3}${VERB}\\b)`,
  "i",
);
/**
 * A yes-or-no question: "is it safe to upgrade", "are there tests"; not "do these in parallel", "is broken", "have the
 * page show it".
 */
const YES_OR_NO =
  /^(?:(?:is|are|does|isn['’]t|aren['’]t|doesn['’]t)\s+(?:it|this|that|there|these|those|they|we|anything|anyone|any|the|our|my|all)\b|(?:was|were|did|has|had|can|could|should|will|would)\s+(?:it|this|that|there|they|anything|anyone)\b|(?:do|did|have|had|should)\s+(?:we|they|i)\b|(?:is|are|does|isn['’]t|doesn['’]t)\s+(?:`[^`]+`|[\w-]+[./][\w./-]+)\s|which of (?:the|our|these|those)\b)/i;
/** "Tell me why …", "I'd like to know whether …", "do you know which …". */
const TELL_ME =
  /^(?:(?:can|could|would|will) (?:you|someone|anyone) )?(?:please )?(?:just )?(?:(?:tell|show|remind) (?:me|us)|explain(?: to (?:me|us))?|(?:i|we)(?:['’]d| would)? (?:(?:like|want|need) to (?:know|understand)|wonder)|(?:i|we)(?:['’]m| am|['’]re| are) (?:wondering|curious)|(?:do you|does (?:anyone|anybody|someone)) know|any ideas?)\s*,?\s+(?:why|what|which|where|who|whose|when|how|whether|if)\b/i;
/** "…, and if so, drop it", "… and load them once": the sentence also orders something, whatever the verb. */
const ALSO_DOES =
  /(?:[,;:]|\b(?:and|then|or|so))\s+(?:if (?:so|not|yes),?\s+)?(?:(?:then|please|also|just)\s+)*(?!(?:why|what|which|where|who|whose|when|how|whether|if|is|are|was|were|does|do|did|has|have|had|can|in|on|at|for|from|of|to|with|by|as|than|that|it|after|before|while|because|since)\b)[a-z-]+\s+(?:it|them|that|this|those|these|the|an?|all|any|each|every|its|their|our|my)\b/i;
/** "Find out why orders are loaded twice". If "and" follows, an order may come after it, whatever its verb. */
const FIND_OUT =
  /^(?:please )?(?:just )?(?:(?:find|figure) out|investigate|look into) (?:why|what|which|where|who|when|how|whether)\b(?!.*(?:[,;:]|\b(?:and|then))\s+(?!(?:why|what|which|where|who|when|how|whether)\b))/is;
/** A short question after a statement that asks for its cause. */
const TAG =
  /^(?:(?:any ideas? |do you know |does anyone know )?(?:why|how come)(?: is (?:that|this|it)| that is)?|any ideas?|what (?:changed|happened|is going on|is wrong|is the (?:reason|cause))|what['’]s (?:going on|wrong|the (?:reason|cause)))\?*$/i;
const STATES = new RegExp(
  `\\b${VERB}\\b|\\b(?:fails?|takes?|hangs?|crash(?:es)?|breaks?|loses?|gets?|keeps?|wonder|cannot)\\b`,
  "i",
);
const WISHES = /\b(?:should|must|please|want|needs? to|has to|have to|would like)\b/i;

/** Question words of other languages, at the start of a sentence; in some languages anywhere in it. */
const FOREIGN =
  /^[¿\s]*(?:warum|wieso|weshalb|was|wer|wo|woher|wie|wann|welche[rs]?|pourquoi|comment(?! (?:on|out|in|the|all|each|every|your|its?)\b)|où|qui|quand|combien|quel(?:le)?s?|qu['’]est-ce|por qué|porqué|qué|cómo|dónde|quién(?:es)?|cuándo|cuánt[oa]s?|cuál(?:es)?|por que|o que|como|onde|quem|quando|perché|cosa|dove|chi|quale|waarom|wat|waar|hoe|wanneer|welke)(?=[\s'’])|なぜ|どうして|为什么|為什麼|为何|怎么回事|왜\s/iu;
/** "Pourquoi pas …", "wie wäre es mit …", "kannst du …": these propose or order something. */
const FOREIGN_ORDER =
  /(?<!\p{L})(?:warum nicht|wie w[äa]re|was h[äa]ltst|(?:kannst|könntest|können|könnten|würdest|würden) (?:du|sie|wir|ihr)|bitte|pourquoi (?:ne )?pas|(?:peux|pourrais|pouvez|pourriez)|puedes|podrías|podemos|por favor|pode|poderia|puoi|potresti|(?:kun|zou) (?:je|u))(?!\p{L})|ください|くれ|请|請/iu;
const isForeign = (said: string): boolean => FOREIGN.test(said) && !FOREIGN_ORDER.test(said);

/** "Why don't we cache it?", "have you tried …?", "which is why …": these propose or state something. */
const PROPOSAL =
  /^(?:why (?:not|don['’]t (?:we|you))|(?:what|how) (?:about|if)|(?:have|had) you|do you mind|(?:which|what) (?:is|was) (?:why|how|what|because))\b/i;
/** "Why is CI red, and fix it": the sentence also orders something. */
const ORDER =
  "(?:(?:and|then|please|also|just|to|can you|could you)\\s+)*(?:add|change|correct|create|do|document|fix|implement|improve|make|move|patch|refactor|remove|rename|repair|replace|resolve|rewrite|solve|update|write)\\b(?! not)";
const ORDERS = new RegExp(`^${ORDER}`, "i");
const ALSO_ORDERS = new RegExp(`(?:[,;:]|\\b(?:and|then|or)\\b)\\s+${ORDER}`, "i");
