/** What must be asked before a request can be planned? What blocks it, and what is only decided by a default that is said. */
import type { RepositoryFacts } from "../facts.ts";
import type { Question } from "../plan.ts";
import type { Clause, Reading } from "../reading.ts";
import type { Words } from "../words.ts";
import { meantBy, type Tree } from "./paths.ts";
import { leadOf, saysSomething } from "./said.ts";
import { capitalised, continuous, plainLine, shortened } from "./wording.ts";
import { deliveredBy, workOf } from "./work.ts";

export type Asked = { readonly reading: Reading; readonly facts: RepositoryFacts; readonly tree: Tree };

/** What has a default that is good enough; what blocks planning is `blockingQuestion`. */
export const minorQuestions = ({ reading, facts, tree }: Asked): readonly Question[] =>
  [...whichFiles(reading, tree), ...whichTests(reading, facts)].slice(0, MAX_QUESTIONS);

/** Nobody answers more. */
const MAX_QUESTIONS = 8;

/** The id of the one question that blocks. */
export const WHAT = "what";

/** The one question without whose answer a plan would be guessing. */
export function blockingQuestion({ clauses, pasted }: Reading, facts: RepositoryFacts): Question | undefined {
  const [first] = clauses;
  if (first === undefined)
    return asked(WHAT, "What should be done?", "nothing: there is no plan without a request", true);
  if (!isVague(first) || (first.object !== "" && (pasted.length > 0 || isTold(first)))) return undefined;
  const verb = first.verb ?? "do";
  const fallback = defaultFor(verb, facts);
  const said = NOT_ALONE.test(verb)
    ? `What exactly is meant by ${JSON.stringify(shortened(plainLine(first.text), 60))}?`
    : `What exactly should be ${participleOf(verb)}?`;
  return asked(WHAT, said, fallback, true);
}

const asked = (id: string, question: string, fallback: string, blocking: boolean): Question => ({
  id,
  question: `${question} (Default: ${fallback})`,
  default: fallback,
  blocking,
});

/** What can be read as a whole can only be pointed at so. */
const PRONOUN = /^(?:it|this|that|these|those|them|things?|stuff|something|anything)\b/i;
const POINTING =
  /^(?:(?:it|this|that|these|those|them|things?|stuff|something|everything|anything|all|me|us|one)\b|(?:the|a|some|this|that|these|those|our|my|all(?: the)?) (?:things?|stuff|code|codebase|project|app|application|program|software|system|repo|repository|bugs?|issues?|problems?|errors?|mess|rest|part|parts|feature|features|other thing|changes?)\b)/i;
const DESCRIBING =
  /^\s*(?:(?:a (?:bit|lot|little)|much|more|really|so|very|far|way|again|asap|now|please|soon|up|work|works|working|run|go|properly|correctly|nicely|well|all|too|and|is|be|to|look|looks|feel)\s*)*(?:(?:much |more )?(?:better|good|great|nice|nicer|cleaner|perfect|right|awesome|modern|professional|robust|different|done|work|properly|correctly|again|asap|now|up|more))?\s*(?:please|now|asap|again|somehow|already|today)?\s*[.!?]*\s*$/i;

/** Nothing to act on: no object, or one that only points, and no name, file or list beside it. */
export function isVague({ verb, object, items, files, names, text, isUnbounded, count }: Clause): boolean {
  if (verb === undefined) return !/[\p{L}\p{N}]{2}|\p{Script=Han}/u.test(text);
  if (items.length > 0 || files.length > 0 || names.length > 0 || isUnbounded || count !== undefined)
    return false;
  const rest = plainLine(object.slice(0, 300));
  if (rest === "") return !SUFFICIENT.has(verb);
  const isRead = deliveredBy(workOf({ verb, object, files, text })) === "report";
  const pointed = (isRead ? PRONOUN : POINTING).exec(rest)?.[0];
  return pointed !== undefined && DESCRIBING.test(rest.slice(pointed.length));
}

/** What is pointed at was told before, or is told below. */
const isTold = (clause: Clause) =>
  clause.musts !== undefined || [...clause.context, leadOf(clause)].some(saysSomething);

/** These say enough alone: "deploy", "lint". */
const SUFFICIENT: ReadonlySet<string> = new Set(
  "test lint format deploy release publish build commit benchmark typecheck rollback".split(" "),
).union(new Set(["roll back", "roll out"]));

function defaultFor(verb: string, { testCommand }: RepositoryFacts): string {
  if (/^(?:fix|repair|debug|solve|resolve|correct|patch|handle)$/.test(verb))
    return testCommand === undefined
      ? "what the tests of this repository show to be broken"
      : `what \`${testCommand}\` shows to be broken`;
  if (/^(?:upgrade|bump)$/.test(verb)) return "the dependencies, within their major versions";
  if (/^(?:document|explain|describe)$/.test(verb)) return "what the repository is for and how it is used";
  if (/^(?:review|analy[sz]e|audit|check|inspect)$/.test(verb)) return "the sources of this repository";
  if (NOT_ALONE.test(verb)) return "refactor what is hardest to read, without a change of behaviour";
  if (/^(?:refactor|clean|clean up|tidy|tidy up|simplify|improve|optimi[sz]e|polish|enhance)$/.test(verb))
    return "what is hardest to read, without a change of behaviour";
  return "what these words fit best in this repository, named before it is touched";
}

const PARTICIPLES: Readonly<Record<string, string>> = {
  ...{
    write: "written",
    rewrite: "rewritten",
    build: "built",
    make: "made",
    run: "run",
    set: "set",
    find: "found",
  },
  ...{
    send: "sent",
    show: "shown",
    read: "read",
    split: "split",
    put: "put",
    hide: "hidden",
    format: "formatted",
  },
};

function participleOf(verb: string): string {
  const [first = verb, ...rest] = verb.split(" ");
  const known = Object.hasOwn(PARTICIPLES, first) ? PARTICIPLES[first]! : undefined;
  // The present continuous doubles the same letters and drops the same "e".
  const regular = /[^aeiou]y$/.test(first)
    ? `${first.slice(0, -1)}ied`
    : continuous(first).replace(/ing$/, "ed");
  return [known ?? regular, ...rest].join(" ");
}

function whichFiles({ clauses }: Reading, tree: Tree): readonly Question[] {
  const written = new Set(clauses.flatMap(({ files }) => files));
  return [...written].slice(0, 200).flatMap((name) => {
    const meant = meantBy(name, tree);
    if (meant.is !== "several") return [];
    const few = meant.paths.slice(0, 5).join(", ");
    const more = meant.paths.length > 5 ? ", …" : "";
    return [asked(`file:${name}`, `Which ${name} is meant: ${few}${more}?`, meant.paths[0]!, false)];
  });
}

function whichTests({ clauses }: Reading, facts: RepositoryFacts): readonly Question[] {
  if (facts.tests.length > 0 || facts.testCommand !== undefined) return [];
  if (!clauses.some((clause) => isFirstTest(clause) && !FRAMEWORK.test(clause.text))) return [];
  const [language = ""] = facts.languages;
  const usual = Object.hasOwn(FRAMEWORKS, language)
    ? FRAMEWORKS[language]!
    : "the one that is usual for the language";
  return [asked("tests", "Which test framework should be used?", usual, false)];
}

/** Tests that are mended have a framework, whether it was seen or not. */
const isFirstTest = (clause: Clause) =>
  workOf(clause) === "tests" &&
  !/^(?:fix|update|improve|correct|complete|extend|revise|edit)$/.test(clause.verb ?? "");

const FRAMEWORK =
  /\b(?:jest|vitest|mocha|pytest|unittest|junit|rspec|minitest|playwright|cypress|node:test|cargo test|go test|testing library|phpunit|xunit|nunit)\b/i;
const FRAMEWORKS: Readonly<Record<string, string>> = {
  TypeScript: "node:test, which Node brings with it",
  JavaScript: "node:test, which Node brings with it",
  Python: "pytest",
  Go: "go test",
  Rust: "cargo test",
  Java: "JUnit",
  Kotlin: "JUnit",
  Ruby: "RSpec",
  PHP: "PHPUnit",
  "C#": "xUnit",
  Elixir: "ExUnit",
  Swift: "XCTest",
};

/** The request with the answer, or the default, in place of what was vague in it. */
export function answered(request: string, first: Clause | undefined, answer: string, words: Words): string {
  const said = plainLine(answer);
  if (first === undefined || first.text === "") return said;
  const isWhole =
    first.verb === undefined || startsWithVerb(said, words) || SENTENCE.test(said.slice(0, 300));
  const wished = isWhole ? said : wishFor(said, first);
  const mended = /^[A-Z]/.test(first.text) ? capitalised(wished) : wished;
  const at = request.indexOf(first.text);
  if (at !== -1) return `${request.slice(0, at)}${mended}${request.slice(at + first.text.length)}`;
  // "After fixing the bug, add a test" has its verb in another form.
  const object = isWhole || first.object === "" ? -1 : request.indexOf(first.object);
  return object === -1
    ? mended
    : `${request.slice(0, object)}${said}${request.slice(object + first.object.length)}`;
}

/** "Make it better" of the cart is "improve the cart", "make it work" is "make the cart work". */
function wishFor(thing: string, { verb = "", object }: Clause): string {
  if (!NOT_ALONE.test(verb)) return `${verb} ${thing}`;
  const rest = plainLine(object.slice(0, 300));
  const wish = rest.slice(POINTING.exec(rest)?.[0].length ?? rest.length).trim();
  return verb !== "make" || wish === "" || BETTER.test(wish)
    ? `improve ${thing}`
    : `${verb} ${thing} ${wish}`;
}

const BETTER =
  /\b(?:better|good|great|nicer?|perfect|right|awesome|professional|different|more)\b|^(?:a (?:bit|lot|little)|please|now|asap|again|somehow)$/i;
/** What is told of a thing, and is no thing. */
const SENTENCE =
  /^(?!(?:what|whatever|how|which|where|why|that|anything|everything)\b).*\s(?:is|are|was|were|does|do|did|crashes|fails|hangs|leaks|freezes|should|must|cannot|(?:ca|is|does|do)n't)\s/i;

/** Verbs that say nothing without their object. */
const NOT_ALONE = /^(?:make|do|get|have|let|go|help|work)$/;

const startsWithVerb = (said: string, { actionVerbs }: Words) =>
  actionVerbs.includes(said.split(" ", 1)[0]!.toLowerCase());
