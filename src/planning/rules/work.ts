/** What kind of work does a clause ask for? It decides what is delivered, how it is split and what waits for it. */
import type { Delivers } from "../../core/task.ts";
import type { Clause } from "../reading.ts";

export type Work =
  /** Something new. */
  | "build"
  /** Something that is there already. */
  | "change"
  /** Somebody reads and says what was found. */
  | "report"
  /** Somebody shows that what was done holds. */
  | "verify"
  | "tests"
  | "docs"
  /** Something is run, and the repository stays as it is. */
  | "operate";

export function workOf({
  verb,
  object,
  files,
  text,
}: Pick<Clause, "verb" | "object" | "files" | "text">): Work {
  if (verb === undefined) return isQuestion(text) ? "report" : isComplaint(text) ? "change" : "build";
  const head = headOf(object);
  if (isDoneByThing(verb, text)) return "change";
  if (verb === "test") return /^(?:that|whether|if)\b/i.test(object) ? "verify" : "tests";
  if (VERIFYING.has(verb)) return "verify";
  if (verb === "check") return /^(?:that|whether|if)\b/i.test(object) ? "verify" : "report";
  if (REPORTING.has(verb)) return "report";
  if (verb === "design" && DESIGNED.test(head)) return "report";
  if (
    /^(?:print|show|tell|display)$/.test(verb) &&
    /^(?:me|us|the contents?|what|how|which|why)\b/i.test(object)
  )
    return "report";
  // To run something in a pipeline, or to stop doing something, is to change what is written.
  if (/\b(?:in|on)\s(?:the\s)?(?:ci|pipeline|every\s(?:push|commit))\b/i.test(object) && verb === "run")
    return "change";
  if (/^(?:stop|start)$/.test(verb) && /^\w+ing\b/i.test(object)) return "change";
  if (OPERATING.has(verb) || (verb === "build" && MADE.test(head))) return "operate";
  if (verb === "document") return "docs";
  if (verb === "cover" || (WRITING.has(verb) && TESTS.test(head) && !isTool(head))) return "tests";
  if (
    WRITING.has(verb) &&
    (DOCS.test(head) || (files.length > 0 && files.every((file) => isWritten(file, text))))
  )
    return "docs";
  // "Make a page" is new, "make the page faster" is not.
  if (verb === "make" && /^(?:the|this|that|these|those|it|its|our|my|all|every|each|`)/i.test(object))
    return "change";
  if (BUILDING.has(verb)) return "build";
  return /^(?:write|draft|compose)$/.test(verb) ? (isReport(head, text) ? "report" : "build") : "change";
}

/** "It should list the last 10": what is made lists them, nobody else. */
const isDoneByThing = (verb: string, text: string) =>
  (REPORTING.has(verb) ||
    VERIFYING.has(verb) ||
    OPERATING.has(verb) ||
    /^(?:show|print|display|check)$/.test(verb)) &&
  OF_THING.test(text.slice(0, MAX_HEAD_CHARS));

/** "It should export CSV": what "it" is was said before. */
export const isOfIt = (text: string): boolean =>
  /^(?:it|they|this|these) (?:also |only )?(?:should|must|shall|needs? to|ha(?:s|ve) to)\b/i.test(text);

/** A report, and what only runs something, leaves the files as they are. */
export const deliveredBy = (work: Work): Delivers =>
  work === "report" || work === "verify" || work === "operate" ? "report" : "change";

/** Whether one that is done first is what it speaks of: tests, docs, a release of "it". */
export const followsAll = (work: Work): boolean =>
  work === "verify" || work === "tests" || work === "docs" || work === "operate";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const BUILDING = words(
  "create build implement add make develop introduce provide scaffold generate design support integrate bootstrap " +
    "define prototype code program model enable construct invent setup",
).union(new Set(["set up"]));
const WRITING = words(
  "create build implement add make develop write update extend improve fix expand generate provide rewrite complete " +
    "draft revise edit correct increase introduce refresh finish prepare include translate polish proofread",
);
const REPORTING = words(
  "review analyze analyse audit summarize summarise inspect investigate explore research evaluate assess compare list " +
    "catalog catalogue scan explain understand describe report find identify look examine study profile measure " +
    "estimate critique count diagnose search trace read locate discover gather collect benchmark recommend propose " +
    "answer suggest outline brainstorm discuss clarify determine survey spike",
);
const VERIFYING = words("verify validate confirm ensure prove recheck retest");
const OPERATING = words(
  "run deploy release publish commit push start stop restart tag ship execute launch monitor rerun rollback announce roll",
).union(new Set(["roll back", "roll out"]));

/** Without a verb of its own: what is asked, and what is wrong. */
export const isQuestion = (text: string): boolean =>
  /^(?:why|how (?:do|does|did|can|is|are|should|would|come|much|many)|what(?:'s| is| are| does| causes| happens)|where|which|who|is there|are there)\b/i.test(
    text,
  );
export const isComplaint = (text: string): boolean =>
  /\b(?:broken|crash(?:es|ed|ing)?|fail(?:s|ed|ing)?|wrong|incorrect|off by|(?:does|do|did|is|are|was)(?:n't|nt| not)|not working|missing|hangs|freezes|leaks?|stuck|flaky|cannot|can't)\b/i.test(
    text.slice(0, MAX_HEAD_CHARS),
  );

/** "unit tests for the parser" is "unit tests": what follows a preposition is something else. */
function headOf(object: string): string {
  const end = object
    .slice(0, MAX_HEAD_CHARS)
    .search(/\s(?:for|of|in|to|on|from|with|about|that|which|so|into|at|by)\s/i);
  return end === -1 ? object.slice(0, MAX_HEAD_CHARS) : object.slice(0, end);
}

/** Not "we should", nor "the tests should be run". */
const OF_THING =
  /^(?:it|they|this|that|users?|customers?|people|visitors?|admins?|(?:the|our|each|every|an?)\s(?!(?:team|agents?|reviewers?|developers?)\b)(?:[\w-]+\s){0,3}?[\w-]+)\s(?:also\s)?(?:should|must|shall|needs? to|has to|have to|ought to)\s(?!be\s(?!able\b))/i;

/** What a build makes is in no commit: "build the docker image" is to run something. */
const MADE =
  /^(?:the|all)\s.*\b(?:images?|binary|binaries|bundle|artifacts?|project|container|wheel|installer)$/i;
/** What is decided and written down before anything is built. */
const DESIGNED =
  /\b(?:interfaces?|architecture|approach|schema|api|system|strategy|solution|protocol|plan|workflow|data model|model|layer|service|engine|mechanism|pipeline)$/i;
const MAX_HEAD_CHARS = 200;
const TESTS = /\b(?:tests?|test cases?|specs|coverage)$/i;
/** "a test runner" ends otherwise; "a load test" is a test. */
const isTool = (head: string) => /\b(?:runner|framework|server|suite runner)$/i.test(head);
const DOCS =
  /\b(?:readme(?:\.md)?|docs?|documentation|changelog|guide|docstrings?|jsdoc|comments?|tutorial|manual|handbook|release notes|migration notes|adr)$/i;
/** What stands before a file that is only looked at. */
export const READ_FIRST =
  /\b(?:like|as in|see|per|following|according to|based on|using|described in|defined in|documented in|specified in|against|unlike|modelled on|modeled on|outlined in)\s+(?:the\s+)?[`"'(]{0,2}$/i;

const isWritten = (file: string, text: string) => {
  const at = text.indexOf(file);
  return (
    /\.(?:md|mdx|rst|adoc|txt)$/i.test(file) &&
    !READ_FIRST.test(text.slice(Math.max(0, at - 40), Math.max(0, at)))
  );
};

const isReport = (head: string, text: string) =>
  /\b(?:report|summary|analysis|overview|proposal|findings)$/i.test(head) && !/\.\w+$/.test(text);
