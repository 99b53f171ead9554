/** Which tasks does one clause of a request make? */

import type { RepositoryFacts } from "../facts.ts";
import type { PlanLimits } from "../limits.ts";
import type { Clause } from "../reading.ts";
import type { Words } from "../words.ts";
import { type Breadth, breadthOf, shortNames } from "./breadth.ts";
import { criterionOf } from "./criteria.ts";
import type { Draft } from "./draft.ts";
import type { Item } from "./item.ts";
import { leavesFiles, pathsOf, type Tree } from "./paths.ts";
import { inWhat, saidAlone, sentenceOf } from "./said.ts";
import { afterItems, othersIn, type Part, partsOf } from "./split.ts";
import { capitalised, plainLine, subjectOf } from "./wording.ts";
import { deliveredBy, isComplaint, isQuestion, type Work, workOf } from "./work.ts";

/** What is the same for all clauses of a request. */
export type Surroundings = {
  /** As it was read. */
  readonly request: string;
  readonly clauses: readonly Clause[];
  readonly facts: RepositoryFacts;
  readonly tree: Tree;
  readonly words: Words;
  readonly limits: PlanLimits;
  /** How many work at once. */
  readonly agents: number;
  readonly minDepth: number;
  /** Which file a name means, where several have it. */
  readonly chosen: ReadonlyMap<string, string>;
  /** What holds for all of it. */
  readonly constraints: readonly string[];
};

export type Drafted = {
  readonly drafts: readonly Draft[];
  readonly assumptions: readonly string[];
  readonly risks: readonly string[];
};

export function draftsOf(clause: Clause, index: number, around: Surroundings): Drafted {
  const work = workOf(clause);
  const breadth = breadthOf({ ...around, clause, work });
  if (breadth) {
    const groups = breadth.groups.map((items, n) =>
      groupDraft({ clause, index, work, around }, breadth, items, n),
    );
    const all = isForAll(clause, work) ? [collectDraft({ clause, index, work, around }, groups)] : [];
    return { drafts: [...groups, ...all], assumptions: breadth.assumptions, risks: breadth.risks };
  }
  const parts = partsOf(clause, work, around.words);
  const drafts =
    parts.length > 0
      ? parts.map((part, n) => partDraft({ clause, index, work, around }, part, n))
      : [wholeDraft({ clause, index, work, around })];
  return { drafts, assumptions: [], risks: [] };
}

type Asked = {
  readonly clause: Clause;
  readonly index: number;
  readonly work: Work;
  readonly around: Surroundings;
};

function wholeDraft({ clause, index, work, around }: Asked): Draft {
  const says = saidAlone(around.clauses, index, around.words);
  return {
    ...commonOf({ clause, index, work, around }),
    key: `${index + 1}`,
    kind: work === "verify" ? "verify" : "part",
    subject: subjectOf(says, around.limits.maxSubjectChars),
    description: ended(says),
    ...pathsIn({ ...clause, text: `${clause.text}\n${says}` }, work, around),
    requirements: [
      ...mustsOf(clause),
      ...itemRequirements(clause),
      criterionOf(says, work),
      ...around.constraints,
    ],
    background: ofRequest(says, around),
    depth: 1,
  };
}

function partDraft({ clause, index, work, around }: Asked, part: Part, n: number): Draft {
  const own = clause.files.filter((file) => part.item.includes(file));
  const shared = clause.files.filter((file) => !clause.items.some((item) => item.includes(file)));
  const { verb = clause.verb, object = part.item } = part;
  const asked = {
    ...clause,
    text: own.length > 0 ? part.item : clause.text,
    object,
    files: [...own, ...shared],
  };
  // "Include tests and a README": each is what it is.
  const isOwn =
    part.verb !== undefined || clause.itemsAre === "each" || (work !== "build" && work !== "change");
  const partWork = isOwn ? workOf({ ...asked, ...(verb === undefined ? {} : { verb }) }) : work;
  const says = `${part.says}${inWhat(around.clauses, index)}`;
  return {
    ...commonOf({ clause, index, work: partWork, around }),
    key: `${index + 1}.${n + 1}`,
    kind: "part",
    subject: subjectOf(says, around.limits.maxSubjectChars),
    description: ended(says),
    ...pathsIn(asked, partWork, around),
    requirements: [...mustsOf(clause), criterionOf(says, partWork), ...around.constraints],
    background: [`Part of: ${quotedText(around.request)}.`, othersIn(part)],
    depth: part.depth ?? 2,
    thing: plainLine(part.object ?? part.item),
    after: part.after.map((before) => `${index + 1}.${before + 1}`),
  };
}

const pathsIn = (clause: Clause, work: Work, { tree, chosen, limits }: Surroundings) =>
  pathsOf({ clause, work, tree, chosen, maxScope: limits.maxFilesModified });

/** Who does one part of a request sees nothing else of it: what was meant, and what was pasted, is in the rest. */
export function ofRequest(says: string, { request }: Pick<Surroundings, "request">): readonly string[] {
  const bare = (said: string) =>
    plainLine(said)
      .toLowerCase()
      .replace(/[\s.!?]{1,5}$/, "");
  return bare(request.slice(0, MAX_QUOTED_CHARS)) === bare(says) ? [] : [`Part of: ${quotedText(request)}.`];
}

function groupDraft(asked: Asked, breadth: Breadth, items: readonly Item[], n: number): Draft {
  const { clause, index, work, around } = asked;
  const { maxSubjectChars } = around.limits;
  const paths = items.flatMap((item) => item.paths);
  const delivers = deliveredBy(work);
  // Where tests and docs of a source go, its path does not say.
  const isChanged = (work === "change" || work === "build") && !leavesFiles(clause);
  const whole = sentenceOf(clause, around.words);
  const says = plainLine(withItems(clause, whole, items.map(({ name }) => name).join(", ")));
  const short = withItems(clause, whole, shortNames(items).join(", "));
  const numbered = `${subjectOf(whole, maxSubjectChars - 18)}, part ${n + 1} of ${breadth.groups.length}`;
  return {
    ...commonOf(asked),
    key: `${index + 1}.${n + 1}`,
    kind: "part",
    subject: short.length <= maxSubjectChars ? subjectOf(short, maxSubjectChars) : numbered,
    description: ended(says),
    scope: isChanged ? paths : [],
    reads: isChanged ? [] : paths,
    requirements: [
      ...(delivers === "report" && items.length > 1
        ? ["Give each of them an entry of its own, by name."]
        : []),
      criterionOf(says, work),
      ...around.constraints,
    ],
    background: [
      `Leave the other ${breadth.kind} to their own tasks.`,
      ...(around.clauses.length > 1 ? ofRequest(says, around) : []),
    ],
    depth: Math.max(2, around.minDepth),
    group: `${index + 1}`,
    ...(isForAll(clause, work) ? { isCollected: true } : {}),
  };
}

/** What stands for many: "all TypeScript files", "16 agent files", "each of our modules". */
const QUANTIFIED =
  /\b(?:all|every|each|the entire|the whole|(?:the )?\d{1,6})\s+(?:of\s+)?(?:the\s+|our\s+)?(?:[\w.+#-]{1,40}\s+){0,3}?(?:files?|modules?|packages?|folders?|director(?:y|ies)|services?|components?|documents?|repo|repository|codebase|project|scripts?|pages?|endpoints?)\b(?:\s+in\s+\S*\/\S*)?/i;

/** The sentence with the items of one task in place of the words for all of them. */
function withItems(clause: Clause, whole: string, names: string): string {
  if (clause.items.length < 2 && QUANTIFIED.test(whole)) return whole.replace(QUANTIFIED, () => names);
  if (/^(?:$|(?:all|every|each|the|our|these|those|any|\d+)\b|\S*\/\S*$)/i.test(clause.object))
    return `${verbOf(clause)} ${names}${tailOf(clause)}`;
  if (/^for\s/i.test(clause.text)) return `${whole} for ${names}`;
  return `${whole}. The part of this task: ${names}`;
}

function collectDraft({ clause, index, around }: Asked, groups: readonly Draft[]): Draft {
  return {
    ...commonOf({ clause, index, work: "report", around }),
    key: `${index + 1}.all`,
    kind: "collect",
    isImperative: true,
    subject: subjectOf(
      `Sum up the results: ${sentenceOf(clause, around.words)}`,
      around.limits.maxSubjectChars,
    ),
    description:
      `Bring the results of the ${groups.length} parts together in one account of the whole: what they have in common, ` +
      "where they contradict each other, what matters most, and what is left open.",
    scope: [],
    reads: [],
    requirements: ["Read the whole result of every task that it waits for.", ...around.constraints],
    depth: Math.max(2, around.minDepth),
    after: groups.map(({ key }) => key),
  };
}

/** One account of all is wanted where nobody could read all the parts; what was changed speaks for itself. */
const isForAll = ({ isUnbounded, text }: Clause, work: Work) =>
  deliveredBy(work) === "report"
    ? isUnbounded
    : isUnbounded && /\b(?:all files|(?:entire|whole) (?:repo|repository|codebase|project))\b/i.test(text);

type Common = "work" | "clause" | "isImperative" | "delivers" | "after";
const commonOf = ({ clause, index, work }: Asked): Pick<Draft, Common> => ({
  work,
  clause: index,
  isImperative: clause.verb !== undefined || isQuestion(clause.text) || isComplaint(clause.text),
  delivers: deliveredBy(work),
  after: [],
});

/** "Review and summarise", where both are said of the same. */
function verbOf({ verb = "work on", text }: Clause): string {
  const pair = /^([a-z]+) and [a-z]+(?=\s)/i.exec(text);
  return capitalised(pair?.[1]?.toLowerCase() === verb ? pair[0] : verb);
}

/** "Review 16 agent files for typos" is about typos, whichever files a task has. */
function tailOf(clause: Clause): string {
  const object = clause.object || (clause.items.at(-1) ?? "");
  const at = object
    .slice(0, 300)
    .search(/\s(?:for|against|with regard to|regarding|and report|according to)\s/i);
  const tail = at === -1 ? afterItems(clause) : object.slice(at);
  return tail === "" ? "" : ` ${plainLine(tail.slice(0, 200))}`;
}

/** Of one deliverable with several sides, each is something it must have. */
const itemRequirements = ({ items, text }: Clause): readonly string[] =>
  items.length < 2 && items.every((item) => text.includes(item))
    ? []
    : items
        .slice(0, MAX_REQUIREMENTS)
        .map((item) => `${isComplaint(item) ? "Mended" : "Has"}: ${plainLine(item)}.`);

/** What is said of the thing is to be kept in mind by everybody who makes a part of it. */
const mustsOf = ({ musts = [] }: Clause): readonly string[] =>
  musts.slice(0, MAX_REQUIREMENTS).map((must) => ended(capitalised(plainLine(must))));

const MAX_REQUIREMENTS = 30;
/** A request of a page, with what was pasted into it. */
const MAX_QUOTED_CHARS = 1_500;
const quotedText = (text: string) =>
  JSON.stringify(plainLine(text.slice(0, MAX_QUOTED_CHARS)) + (text.length > MAX_QUOTED_CHARS ? "…" : ""));

const ended = (says: string) => (/[.!?…。！？]$/u.test(says) ? says : `${says}.`);
