/** How is a clause said to somebody who hears nothing else? "Fix it" with what "it" is. */
import type { Clause } from "../reading.ts";
import type { Words } from "../words.ts";
import { thingsIn } from "./things.ts";
import { capitalised, listed, plainLine, shortened, uncapitalised } from "./wording.ts";
import { isComplaint, isOfIt, isQuestion, type Work, workOf } from "./work.ts";

/** An imperative sentence without its full stop. */
export function saidAlone(clauses: readonly Clause[], index: number, words: Words): string {
  const clause = clauses[index]!;
  const says = sentenceOf(clause, words);
  const object = plainLine(clause.object.slice(0, MAX_OBJECT_CHARS));
  if (/^why$/i.test(object))
    return `${says} ${uncapitalised(toldBefore(clauses, index)).replace(REPORTED, "")}`.trim();
  const pronoun = POINTING.exec(object);
  if (pronoun) {
    const meant = pronoun[1]!.toLowerCase() === "both" ? bothBefore(clauses, index) : meantBy(clauses, index);
    const at = meant === "" ? -1 : says.toLowerCase().lastIndexOf(object.toLowerCase());
    if (at === -1) return says;
    const from = at + pronoun.index + pronoun[0].length - pronoun[1]!.length;
    return `${says.slice(0, from)}${meant}${says.slice(from + pronoun[1]!.length)}`;
  }
  if (GENERIC.test(object) && clause.files.length === 0) return `${says}${forWhat(clauses, index)}`;
  return `${says}${inWhat(clauses, index)}`;
}

/** " in the order page", of what a page that was spoken of before should do. */
export function inWhat(clauses: readonly Clause[], index: number): string {
  const { text, after } = clauses[index]!;
  const thing = isOfIt(text) && after.length === 1 ? shortThing(clauses[after[0]!]!) : "";
  return thing === "" ? "" : ` in ${thing.split(/ (?:in|for|of|on|at) /, 1)[0]!}`;
}

const MAX_OBJECT_CHARS = 200;
const MAX_MEANT_CHARS = 60;

/** As a thing of its own: "this page" and "that it works" point at nothing before. */
const POINTING =
  /(?:^|\s)(it|them|both|this|these|those|that)(?=$|[,;]|\s(?:in|on|with|by|to|for|from|and|using|via|as|at|up|please|asap|before|until|today|tomorrow|out|properly|correctly|again|too|now|accordingly)\b)/i;

/** Of whom nobody can tell what they are for. */
const GENERIC =
  /^(?:(?:an?|some|the|missing|good|full|proper|unit|integration|regression|e2e|end-to-end|automated)\s)*(?:tests?|test coverage|docs|documentation)$/i;

function meantBy(clauses: readonly Clause[], index: number): string {
  const { verb = "" } = clauses[index]!;
  const told = toldOf(clauses[index]!);
  const earlier = clauses.slice(0, index).findLast((one) => thingsIn(one).length > 0 || WHY.test(one.object));
  const complaint = earlier ? WHY.exec(earlier.object.slice(0, MAX_OBJECT_CHARS))?.[1] : told;
  if (complaint !== undefined) return complained(complaint, verb);
  if (earlier) return shortThing(earlier);
  const before = toldBefore(clauses, index);
  return before === "" ? "" : complained(before, verb);
}

const toldOf = (clause: Clause) => [...clause.context, leadOf(clause)].find(saysSomething);

/** Of it, or else of what was asked for before it. */
function toldBefore(clauses: readonly Clause[], index: number): string {
  const one = clauses.slice(0, index + 1).findLast((clause) => toldOf(clause) !== undefined);
  return one ? plainLine(toldOf(one)!.slice(0, MAX_OBJECT_CHARS)) : "";
}

function bothBefore(clauses: readonly Clause[], index: number): string {
  const two = clauses.slice(0, index).findLast((one) => thingsIn(one).length === 2);
  return two ? shortThing(two) : "";
}

const WHY = /^why\s(.{3,})/i;

/** Three words are a sentence; fewer are a label. */
export const saysSomething = (context: string): boolean =>
  /^\S+\s+\S+\s+\S/.test(context) &&
  !/\b(?:following|these|below)$|^(?:hi|hello|hey|dear|hope|thanks|thank|cheers|regards|best)\b/i.test(
    context,
  ) &&
  !isScenario(context);

/** "Given a, when b, then c": by what it is seen to be done. */
export const isScenario = (context: string): boolean =>
  /^(?:given|when|scenario)\b.{1,300}\bthen\b/i.test(context);

const shortThing = (clause: Clause) => {
  const thing = listed(thingsIn(clause));
  return thing.length > MAX_MEANT_CHARS ? "" : thing;
};

/** "It crashes when x" is the crash when x; of others it is said that they are so, or asked why. */
function complained(sentence: string, verb: string): string {
  const line = shortened(
    plainLine(sentence.slice(0, MAX_OBJECT_CHARS)).replace(REPORTED, ""),
    MAX_MEANT_CHARS + 20,
  );
  const failing = FAILING.exec(line);
  if (failing) return `the ${NOUNS[failing[1]!.toLowerCase()]}${failing[2]}`;
  if (/^(?:fix|solve|resolve|correct|repair)$/.test(verb)) return `that ${uncapitalised(line)}`;
  const subject = SUBJECT.exec(line)?.[1];
  if (subject !== undefined && !/^(?:investigate|debug|diagnose)$/.test(verb)) return uncapitalised(subject);
  return /^(?:investigate|debug|diagnose|understand|explain|analy[sz]e)$/.test(verb)
    ? `why ${uncapitalised(line)}`
    : "";
}

/** "We've had complaints from customers that x": x. */
const REPORTED =
  /^(?:we(?:'ve| have)?|customers|users|people|i(?:'ve| have)?) (?:had|got|received|seen|noticed|report|complain|say|found)\b.{0,60}?\bthat /i;
/** "The README is outdated": the README. */
const SUBJECT =
  /^((?:the|our|my|this) (?:[\w./-]+ ){0,3}?[\w./-]+) (?:is|are|was|were|has|have|needs|looks|seems)\b/i;
const FAILING =
  /^(?:it|this|(?:the|our|my) (?:app|application|program|tool|cli)) (crashes|hangs|fails|freezes)\b(.*)$/i;
const NOUNS: Readonly<Record<string, string>> = {
  crashes: "crash",
  hangs: "hang",
  fails: "failure",
  freezes: "freeze",
};

/** Of one change there is no doubt; of several, who reads the whole request knows. */
function forWhat(clauses: readonly Clause[], index: number): string {
  const changed = clauses.slice(0, index).filter((one) => isChange(workOf(one)));
  const thing = changed.length === 1 ? shortThing(changed[0]!) : "";
  return thing === "" ? "" : ` for ${thing}`;
}

const isChange = (work: Work) => work === "build" || work === "change";

/** "The format is wrong" in "the format is wrong, please fix it". */
export function leadOf({ text, verb }: Pick<Clause, "text" | "verb">): string {
  const at = verb === undefined ? -1 : text.toLowerCase().indexOf(` ${verb} `);
  return at === -1
    ? ""
    : text.slice(0, at).replace(/[,;:–—-]?\s*(?:so\s+)?(?:please|and|so|can you|could you)?$/i, "");
}

/** What it says, beginning with its verb: "it should support x" is "Support x", "a new page" is "Implement a new page". */
export function sentenceOf(
  clause: Pick<Clause, "text" | "verb" | "object" | "items">,
  { phrasal }: Words,
): string {
  const line = plainLine(clause.text);
  const { verb } = clause;
  if (verb === undefined && isQuestion(line)) return `Answer: ${capitalised(line)}?`;
  if (verb === undefined && isComplaint(line)) return `Fix: ${uncapitalised(complaintIn(line))}`;
  if (verb === undefined)
    return /^(?:an?|the|new|better)\s/i.test(line) ? `Implement ${line}` : capitalised(line);
  const lower = line.toLowerCase();
  const isSaidSo =
    lower.startsWith(verb) || [...phrasal].some(([said, meant]) => meant === verb && lower.startsWith(said));
  if (isSaidSo) return capitalised(line);
  const at = lower.indexOf(` ${verb} `);
  if (at !== -1 && at < MAX_LEAD_CHARS)
    return capitalised(line.slice(at + 1).replace(/^let (?:me|us)\b/i, "let people"));
  const rest = uncapitalised(plainLine(clause.object)) || listed(clause.items.map(plainLine));
  const more = PASSIVE.exec(line.slice(0, MAX_OBJECT_CHARS))?.[1] ?? "";
  return rest === "" ? capitalised(line) : capitalised(`${verb} ${rest}${more}`);
}

/** Without "Bug:" before it, and without what is told after it. */
const complaintIn = (line: string) =>
  line.replace(/^(?:bug|issue|problem|error)(?: report)?\s?: */i, "").split(/[.!?] (?=[A-Z])/, 1)[0]!;

/** "on logout" in "the cache should be cleared on logout". */
const PASSIVE =
  /\bbe (?:\w+ly )?\w+(?:ed|en|t)((?: (?:to|on|in|with|by|from|for|into|when|using|as|at|after|before)\b).*)$/i;

/** "The user of the old application should": what stands before a verb is no longer. */
const MAX_LEAD_CHARS = 60;
