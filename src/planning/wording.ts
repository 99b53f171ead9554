/** Words a task's subject: a short imperative and its present continuous; also sorts verbs into reading and writing. */

/** One line without control characters, with a capital first letter, cut between words. */
export function subjectOf(text: string, maxChars: number): string {
  const line = plainLine(text.slice(0, MAX_READ_CHARS)).replace(ENDS, "");
  return shortened(capitalised(line), maxChars); // A capital letter may be two: "ﬁ" is "FI".
}

/** The start of a text that is long enough for any title, with the punctuation at its end. */
const MAX_READ_CHARS = 2_000;
const ENDS = /[\s.,;:!…]{1,20}$/u;

/**
 * Control, invisible and direction-changing characters and all blanks become one blank; lone surrogates are repaired.
 */
export const plainLine = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();

/** Cuts at the end of a word, if there is one in the second half; "…" says that there was more. */
export function shortened(line: string, maxChars: number): string {
  if (line.length <= maxChars) return line;
  const cut = line.slice(0, maxChars - 1);
  const blank = cut.lastIndexOf(" ");
  const kept = blank > maxChars / 2 ? cut.slice(0, blank) : cut;
  return `${kept
    .toWellFormed()
    .replace(ENDS, "")
    .replace(/\uFFFD$/, "")}…`;
}

/** Leaves a subject that begins with a name such as "iOS" or "src/a.ts" as it is. */
function capitalised(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0x20);
  const start = text.slice(0, 80);
  const isName = /^\p{Ll}[\p{L}\d]*\p{Lu}|^[\w.-]+[/.(]\w/u;
  if (text === "" || isName.test(start)) return text;
  return first.toUpperCase() + text.slice(first.length);
}

/** "Create project structure" becomes "Creating project structure", "Find and fix x" becomes "Finding and fixing x". */
export function activeFormOf(subject: string, isImperative = true): string {
  const [verb, rest] = atBlank(subject);
  if (isImperative && /^[A-Z][a-z]+:$/.test(verb)) return `${continuous(verb.slice(0, -1))}: ${rest}`;
  if (!isImperative || !/^[A-Z]?[a-z]+(?:-[a-z]+)?$/.test(verb)) return `Working on ${subject}`;
  const [and, after] = atBlank(rest);
  const [second, tail] = atBlank(after);
  const isPair = and === "and" && PAIRED.has(second);
  const words = isPair ? [continuous(verb), and, continuous(second), tail] : [continuous(verb), rest];
  return words.filter((word) => word !== "").join(" ");
}

/** Verbs that may follow another one and "and": "review and fix", "build and test". */
const PAIRED: ReadonlySet<string> = new Set(
  "fix test update document deploy run verify validate report summarize summarise clean review publish release".split(
    " ",
  ),
);

function atBlank(text: string): readonly [string, string] {
  const blank = text.indexOf(" ");
  return blank === -1 ? [text, ""] : [text.slice(0, blank), text.slice(blank + 1)];
}

/** "make" becomes "making", "run" "running", "tie" "tying", "re-run" "re-running". */
function continuous(verb: string): string {
  const dash = verb.lastIndexOf("-");
  if (dash !== -1) return verb.slice(0, dash + 1) + continuous(verb.slice(dash + 1));
  const lower = verb.toLowerCase();
  if (lower.endsWith("ing") && lower.length > 5 && lower !== "string") return verb;
  if (lower.endsWith("ie")) return `${verb.slice(0, -2)}ying`;
  if (lower.endsWith("ic")) return `${verb}king`;
  if (/[^eoy]e$/.test(lower) && lower.length > 2) return `${verb.slice(0, -1)}ing`;
  return isDoubled(lower) ? `${verb}${lower.at(-1)}ing` : `${verb}ing`;
}

/** Verbs that double their last letter: of several syllables, those that are stressed on the last. */
const DOUBLED: ReadonlySet<string> = new Set(
  "debug format commit submit permit admit reset begin refer defer infer prefer transfer program rerun unzip unset upset setup input output map remap hotfix".split(
    " ",
  ),
);

function isDoubled(verb: string): boolean {
  if (!/[^aeiou](?:[aeiou]|qui)[^aeiouwxy]$|^[aeiou][^aeiouwxy]$/.test(verb) && !/qui[^aeiouwxy]$/.test(verb))
    return false;
  return DOUBLED.has(verb) || verb.match(/[aeiouy]+/g)?.length === 1;
}

export const withoutArticle = (object: string): string => object.replace(/^(?:an?|the|some)\s+/i, "");

const firstWord = (subject: string) => /^[A-Za-z]+/.exec(subject)?.[0].toLowerCase() ?? "";

export const isReadingVerb = (subject: string): boolean => READING_VERBS.has(firstWord(subject));
export const isVerb = (subject: string): boolean =>
  isReadingVerb(subject) || OTHER_VERBS.has(firstWord(subject));

const wordsOf = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/** A task with such a verb and no file to change delivers a report. */
const READING_VERBS = wordsOf(
  "review analyse analyze summarise summarize report audit assess evaluate examine explore inspect investigate " +
    "research understand compare list scan catalog catalogue verify validate check survey study identify find",
);

/** Used only for the present continuous of the subject. */
const OTHER_VERBS = wordsOf(
  "add adjust adopt align allow annotate append apply archive avoid backfill benchmark build bump cache change " +
    "clean close collect combine compute configure connect consolidate convert copy count create cut debug " +
    "declare decouple delete deploy deprecate design detect disable display do document draft drop dump enable " +
    "encode ensure expand export expose extend extract fetch fill filter finish fix flatten format generate get " +
    "guard handle harden hide implement import improve increase inline insert install integrate introduce isolate " +
    "keep limit link load localise localize lock log lower make map mark measure merge migrate mock modernise " +
    "modernize move name normalise normalize open optimise optimize organise organize package parse patch persist " +
    "pin plan polish port prepare prevent profile protect provide publish push put raise read rebuild record " +
    "redesign reduce refactor register release remove rename render reorganise reorganize replace reset resolve " +
    "restore restructure retry return reuse revert rewrite rotate run save schedule secure select send separate " +
    "serve set setup ship show simplify sort speed split start stop store stream strip style support swap switch " +
    "sync tag teach test tidy tighten track transform translate trim tune turn unify update upgrade use wire wrap " +
    "write",
);

const WRITING =
  /\b(?:writ(?:es?|ten|ing)|creat(?:es?|ed|ing)|sav(?:es?|ed|ing)|generat(?:es?|ed|ing)|produc(?:es?|ed|ing)|outputs?)\b/i;

export const saysToWrite = (text: string): boolean => WRITING.test(text);
