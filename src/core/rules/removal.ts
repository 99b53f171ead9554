/** Tells whether a task's words order the removal of what a test is about, so that deleting the test is allowed. */

/** A test that a change deletes. */
type LostTest = {
  /** Its file and name, such as `tests/test_io.py "test_reads_gzip"`. */
  readonly test: string;
  /** Names that the test's code uses. */
  readonly words: readonly string[];
};

/**
 * A test counts as ordered by its name or file; by the names in its code only if the order writes them as code, too.
 */
export function orderedRemovals(task: string): (lost: LostTest) => boolean {
  if (UNDOES.test(task)) return () => true;
  const meant = sentencesOf(task).map((sentence) => sentence.replace(FORBIDDEN, " ").replace(NOT_MEANT, " "));
  if (meant.some((sentence) => OF_TESTS.test(sentence))) return () => true;
  const orders = meant.filter((sentence) => ORDER.test(sentence)).join("\n");
  const [removed, code] = [wordsOf(orders), codeIn(orders)];
  return ({ test, words }) =>
    wordsOf(test).intersection(removed).size > 0 || words.some((word) => code.has(word));
}

const sentencesOf = (words: string): readonly string[] =>
  words.split(/(?<=[.!?;])\s+|\n+(?=\s*(?:[-*•\d#]|\n|[A-Z]))/).filter((sentence) => sentence.trim() !== "");

const VERBS =
  "remov(?:e[sd]?|ing|al)|delet(?:e[sd]?|ing|ion)|drop(?:s|ped|ping)?|discard(?:s|ed)?|eliminat(?:e[sd]?|ing)|" +
  "retir(?:e[sd]?|ing)|strip(?:s|ped)?|prun(?:e[sd]?|ing)|revert(?:s|ed|ing)?|replac(?:e[sd]?|ing)|" +
  "get(?:ting)? rid of|no longer|stop (?:support|accept|allow|export|us)ing|without support|disallow(?:s|ed)?|" +
  "clean(?:s|ed|ing)?[ -]?up|rip(?:s|ped)? out|instead of";
const ORDER = new RegExp(String.raw`\b(?:${VERBS})\b`, "i");

/** The task reverts a whole change. */
const UNDOES =
  /^[ \t]*(?:\w+(?:\([^)\n]*\))?!?:\s*)?(?:revert|undo)\s+(?:["“#]|(?:the\s+)?(?:commit|change|pull request|PR)\b)|\breverts commit\b/im;

/** "remove the tests of gzip", "drop flaky specs"; not "remove gzip from the tests". */
const OF_TESTS =
  /\b(?:remov(?:e[sd]?|ing)|delet(?:e[sd]?|ing)|drop(?:s|ped|ping)?|prun(?:e[sd]?|ing)|get rid of|clean(?:s|ed|ing)?[ -]?up|re(?:design|writ|work|structur|organi[sz]|factor)(?:e[sd]?|s|ed|ing|ten)?|rewrote|parametri[sz](?:e[sd]?|ing)|merg(?:e[sd]?|ing)|consolidat(?:e[sd]?|ing)|dedup\w*|simplif(?:y|ied|ies|ying))(?:\s+(?!after\b|from\b|in\b|of\b|for\b|and\b|but\b|with\b|to\b)[\w'"`.-]+){0,4}?\s+(?:tests?|specs?|test cases?)\b(?!\s+(?:helper|util|file|support|depend|fixture|runner|script|framework|command)\w*)/i;

/** "do not delete …", "avoid removing …", "none is dropped": the words up to the next comma or end. */
const NOT_MEANT = new RegExp(
  String.raw`\b(?:${before("not|\\w+n['’]t|cannot|never|nor|without|avoid(?:s|ing)?|refrain(?:s|ing)? from|rather than|instead of|(?:forbidden|prohibited) to", "is|are|was|were|gets?|can|will|should|must")}|` +
    `${before("no(?! longer)|none|nothing|nobody|neither", "should|must")})` +
    String.raw`(?:remov|delet|drop|discard|eliminat|strip|revert|replac)\w*[^,.;\n]*`,
  "gi",
);

/**
 * A few words may stand between the negation and the verb, but none that begins another clause: "what is not used is
 * removed" is an order.
 */
function before(negation: string, others: string): string {
  return String.raw`(?:${negation})\s+(?:(?!(?:so|but|and|then|${others})\b)[\w'’-]+\s+){0,5}?`;
}

/** "Deleting tests is not allowed": the negation comes after the verb. */
const FORBIDDEN =
  /\b(?:remov|delet|drop|discard)\w*[^,.;\n]{0,200}?\b(?:forbidden|prohibited|(?:not|never) (?:be )?(?:allowed|permitted|acceptable|an option))\b[^,.;\n]*/gi;

/** "parseLegacy", "parse_legacy" and "parsing" give "parse" and "legac". */
function wordsOf(text: string): ReadonlySet<string> {
  const parts = text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+/g) ?? [];
  const whole = text.match(/[A-Za-z_][\w]{2,}/g) ?? [];
  return new Set(
    [...parts, ...whole]
      .map((part) => stem(part.toLowerCase()))
      .filter((part) => part.length > 2 && !GENERIC.has(part)),
  );
}

/** Words written as code: "`fileno`", "copyPipedHeaders", "protected_args". */
function codeIn(text: string): ReadonlySet<string> {
  const quoted = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(
    ([, code]) => code!.match(/[A-Za-z_]\w{2,}/g) ?? [],
  );
  const shaped = text.match(/\b[a-z]+[A-Z]\w*|\b[A-Za-z]+_\w+/g) ?? [];
  return new Set([...quoted, ...shaped].filter((word) => !GENERIC.has(stem(word.toLowerCase()))));
}

/** "parses" and "parsed" give "pars". */
export const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ing|ed|es|s|e|ies|y)$/, "") : word;

/** Words of nearly every test and every order: sharing them means nothing. */
const GENERIC = new Set(
  (
    "test tests spec specs case cases unit core src lib the and for with from that this its not into was are has have " +
    "all any new old use used using should must when where which than then them they file files code function method " +
    "class module option value work remove delete drop replace revert longer support unused add change make fix update " +
    "only also more most some other each every can will does did done returns return throw throws get set let run call " +
    "type types name names error errors default index main util utils helper helpers out but one two"
  )
    .split(" ")
    .map(stem),
);
