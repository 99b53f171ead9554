/** Does an imperative begin here, and how sure is that? By the verb, and by the word behind it. */
import { phraseAt } from "./lexicon.ts";
import type { Span } from "./span.ts";

export type Imperative = {
  /** As it is in the dictionary. */
  readonly verb: string;
  /** The first token behind it. */
  readonly rest: number;
  /**
   * `sure`: something definite follows ("add a test"). `likely`: a word follows and the verb is hardly a noun
   * ("update docs" is not, "test coverage" may be a name: `maybe`). `bare`: nothing follows ("deploy").
   */
  readonly is: "sure" | "likely" | "maybe" | "bare";
};

export function imperativeAt(span: Span, at: number, to: number): Imperative | undefined {
  const { tokens, lexicon } = span;
  const token = tokens[at];
  if (!token || at >= to || token.kind !== "word") return undefined;
  const length = phraseAt(lexicon.phrases.phrasal, tokens, at, to);
  if (length > 0) {
    const phrase = tokens.slice(at, at + length).map(({ lower }) => lower);
    return { verb: lexicon.words.phrasal.get(phrase.join(" "))!, rest: at + length, is: "sure" };
  }
  if (!lexicon.verbs.has(token.lower)) return undefined;
  return { verb: token.lower, rest: at + 1, is: sureness(span, at, to) };
}

/** "let me filter by date", behind "it should": elsewhere it asks for nothing. */
export function lettingAt({ tokens, lexicon }: Span, at: number, to: number): Imperative | undefined {
  const next = tokens[at + 1];
  if (tokens[at]?.lower !== "let" || !next || at + 2 >= to || next.kind !== "word") return undefined;
  return lexicon.has.subordinators.has(next.lower) ? undefined : { verb: "let", rest: at + 1, is: "sure" };
}

function sureness({ tokens, lexicon }: Span, at: number, to: number): Imperative["is"] {
  const { has, weak } = lexicon;
  const next = tokens[at + 1];
  const isWeak = weak.has(tokens[at]!.lower);
  if (!next || at + 1 >= to || next.kind === "break" || SEPARATORS.has(next.lower)) return "bare";
  if (next.kind === "path" || next.kind === "code" || next.kind === "quote") return "sure";
  if (next.kind === "mark") return "bare";
  if (has.determiners.has(next.lower) || has.pronouns.has(next.lower) || /^\d/.test(next.lower))
    return "sure";
  if (has.finite.has(next.lower)) return "bare";
  if (has.subordinators.has(next.lower)) return "sure";
  if (has.prepositions.has(next.lower)) return isWeak ? "maybe" : "likely";
  return isWeak && !goesWith(tokens, at, to) ? "maybe" : "likely";
}

export const SEPARATORS: ReadonlySet<string> = new Set([",", ";", "and", "or", "&", "/", ":", "then", "but"]);

/** "drop lodash" and "move sessions to redis", not "drop shadows" and "port numbers". */
function goesWith(tokens: Span["tokens"], at: number, to: number): boolean {
  const { lower } = tokens[at]!;
  if (GOES_WITH_NAMES.has(lower))
    return !COMPOUNDS.has(`${lower} ${tokens[at + 1]!.lower.replace(/s$/, "")}`);
  return (
    MOVES.has(lower) &&
    tokens.slice(at + 2, Math.min(to, at + 2 + MAX_MOVED)).some((one) => TO.has(one.lower))
  );
}

/** Nouns too, and hardly ever before another noun. */
const GOES_WITH_NAMES: ReadonlySet<string> = new Set(
  "update fix create delete add remove drop bump swap".split(" "),
);
const COMPOUNDS: ReadonlySet<string> = new Set([
  "drop down",
  "drop shadow",
  "drop zone",
  "drop cap",
  "drop rate",
  "drop target",
  "swap space",
  "swap file",
]);
/** Verbs if it is said where to. */
const MOVES: ReadonlySet<string> = new Set(["move", "port", "switch", "transfer"]);
const TO: ReadonlySet<string> = new Set(["to", "into", "onto"]);
const MAX_MOVED = 4;

/** "Build fails on Windows", "Design docs are missing": a noun first, and something that it does or is. */
export function isStatement({ tokens, lexicon }: Span, at: number, to: number): boolean {
  const { has, weak } = lexicon;
  if (!weak.has(tokens[at]!.lower)) return false;
  const end = Math.min(to, at + MAX_SUBJECT);
  for (let index = at + 1; index < end; index += 1) {
    const { lower, kind } = tokens[index]!;
    if (has.finite.has(lower)) return true;
    if (kind !== "word" && kind !== "name") return false;
    if (has.determiners.has(lower) || has.pronouns.has(lower) || has.subordinators.has(lower)) return false;
    if (index === at + 1 && has.prepositions.has(lower)) return false;
  }
  return false;
}

const MAX_SUBJECT = 7;
