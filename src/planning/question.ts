/** Asks one question, with a default, if a request does not name anything that could be worked on. */

import type { Words } from "./data.ts";
import type { RepositoryFacts } from "./facts.ts";
import { hasWord, wordsIn } from "./plain.ts";
import type { Question } from "./plan.ts";
import { plainLine } from "./wording.ts";

const WHAT = "what";

/** Undefined if the request is clear enough to begin. */
export function questionOf(request: string, words: Words, facts: RepositoryFacts): Question | undefined {
  if (!hasWord(request)) return asked("What should be done?", "nothing: there is no plan without a request");
  const vague = vagueIn(request, words, facts);
  if (vague === undefined) return undefined;
  return asked(
    `What exactly is meant by ${JSON.stringify(plainLine(request))}?`,
    defaultFor(request, vague, facts),
  );
}

const asked = (question: string, fallback: string): Question => ({
  id: WHAT,
  question: `${question} (Default: ${fallback})`,
  default: fallback,
  blocking: true,
});

/** A longer sentence says what it is about. */
const MAX_VAGUE_CHARS = 60;
/** "Fix login" names one thing, "fix the slow login" two; three say what is wrong. */
const MAX_THINGS = 2;

/**
 * `verb`: empty if the request has none of the vague verbs. `things`: named things that the repository does not have.
 */
type Vague = { readonly verb: string; readonly things: readonly string[] };

/** Finds a request of a few words, none of which names something in the repository. */
function vagueIn(request: string, { vague }: Words, facts: RepositoryFacts): Vague | undefined {
  const line = plainLine(request)
    .toLowerCase()
    .replace(/[.!?]+$/, "");
  if (line.length > MAX_VAGUE_CHARS || /[`"\d/#@]|[a-z]\.[a-z]/.test(line)) return undefined;
  const verb = vague.verbs.find((one) => line === one || line.startsWith(`${one} `)) ?? "";
  const empty = new Set([...vague.words, ...FUNCTION_WORDS]);
  const things = wordsIn(line.slice(verb.length)).filter((word) => word !== "" && !empty.has(word));
  if (things.length === 0) return { verb, things };
  // A single word without a verb names no outcome.
  if ((verb === "" && things.length > 1) || things.length > MAX_THINGS) return undefined;
  return things.some((thing) => vague.clear.includes(thing) || isIn(facts, thing))
    ? undefined
    : { verb, things };
}

const FUNCTION_WORDS =
  "a an the my our it its this that these those them me us you i we as like with to and or in of for on up some all any please pls here there is was so just but".split(
    " ",
  );

/** True if a path of the repository contains the word. */
function isIn({ files }: RepositoryFacts, thing: string): boolean {
  const stem = thing.replace(/([^s])s$/, "$1");
  return stem.length > 2 && files.some((file) => file.toLowerCase().includes(stem));
}

const UNNAMED =
  "the request does not name what to change; find out what is meant, and report what you decided before you change anything";

function defaultFor(request: string, { verb, things }: Vague, { testCommand }: RepositoryFacts): string {
  if (/\b(?:fast|faster|slow|speed|performance|optimi[sz]e)/i.test(request))
    return "what is slowest by a measurement, which comes first";
  if (things.length > 0) return UNNAMED;
  if (verb === "fix")
    return testCommand === undefined
      ? "what the tests of this repository show to be broken"
      : `what \`${testCommand}\` shows to be broken`;
  if (["improve", "make", "clean up", "refactor", "change"].includes(verb))
    return "what is hardest to read, without a change of behaviour";
  if (verb === "update") return "the dependencies, within their major versions";
  return UNNAMED;
}
