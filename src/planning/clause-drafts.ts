/** Which tasks does one clause of a request make? */
import { type Breadth, breadthOf, type Item, shortNames } from "./breadth.ts";
import type { Draft } from "./draft.ts";
import type { RepositoryFacts } from "./facts.ts";
import type { PlanLimits } from "./limits.ts";
import { pathsOf, type Tree } from "./paths.ts";
import type { Clause } from "./reading.ts";
import { othersIn, type Part, partsOf } from "./split.ts";
import { capitalised, plainLine, subjectOf } from "./wording.ts";
import type { Words } from "./words.ts";
import { deliveredBy, type Work, workOf } from "./work.ts";

/** What is the same for all clauses of a request. */
export type Surroundings = {
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
    const all = isForAll(clause) ? [collectDraft({ clause, index, work, around }, groups)] : [];
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
  const says = sentenceOf(clause);
  return {
    ...commonOf({ clause, index, work, around }),
    key: `${index + 1}`,
    kind: work === "verify" ? "verify" : "part",
    subject: subjectOf(says, around.limits.maxSubjectChars),
    description: `${ended(says)}`,
    ...pathsOf({
      clause,
      work,
      tree: around.tree,
      chosen: around.chosen,
      maxScope: around.limits.maxFilesModified,
    }),
    requirements: [...itemRequirements(clause), ...around.constraints],
    depth: 1,
  };
}

function partDraft({ clause, index, work, around }: Asked, part: Part, n: number): Draft {
  const own = clause.files.filter((file) => part.item.includes(file));
  const shared = clause.files.filter((file) => !clause.items.some((item) => item.includes(file)));
  const files = [...own, ...shared];
  const partWork =
    work === "build" || work === "change" ? work : workOf({ ...clause, object: part.item, files });
  return {
    ...commonOf({ clause, index, work: partWork, around }),
    key: `${index + 1}.${n + 1}`,
    kind: "part",
    subject: subjectOf(part.says, around.limits.maxSubjectChars),
    description: ended(part.says),
    ...pathsOf({
      clause: { ...clause, files },
      work: partWork,
      tree: around.tree,
      chosen: around.chosen,
      maxScope: around.limits.maxFilesModified,
    }),
    requirements: [`Part of: ${quotedText(clause.text)}.`, othersIn(part), ...around.constraints],
    depth: 2,
  };
}

function groupDraft(
  { clause, index, work, around }: Asked,
  breadth: Breadth,
  items: readonly Item[],
  n: number,
): Draft {
  const paths = items.flatMap((item) => item.paths);
  const delivers = deliveredBy(work);
  const names = items.map(({ name }) => name).join(", ");
  const says =
    delivers === "report"
      ? `${verbOf(clause)} ${names}${tailOf(clause)}`
      : `${sentenceOf(clause)}. The part of this task: ${names}`;
  const short = `${verbOf(clause)} ${shortNames(items).join(", ")}${delivers === "report" ? tailOf(clause) : ""}`;
  const { maxSubjectChars } = around.limits;
  const numbered = `${subjectOf(sentenceOf(clause), maxSubjectChars - 18)}, part ${n + 1} of ${breadth.groups.length}`;
  const isShort = short.length <= maxSubjectChars && (delivers === "report" || clause.items.length > 1);
  return {
    ...commonOf({ clause, index, work, around }),
    key: `${index + 1}.${n + 1}`,
    kind: "part",
    subject: isShort ? subjectOf(short, maxSubjectChars) : numbered,
    description: ended(plainLine(says)),
    scope: delivers === "change" ? paths : [],
    reads: delivers === "change" ? [] : paths,
    requirements: [
      delivers === "report" ? "Give each of them an entry of its own, by name." : "",
      `Leave the other ${breadth.kind} to their own tasks.`,
      ...around.constraints,
    ].filter((line) => line !== ""),
    depth: Math.max(2, around.minDepth),
    group: `${index + 1}`,
    ...(isForAll(clause) ? { isCollected: true } : {}),
  };
}

function collectDraft({ clause, index, around }: Asked, groups: readonly Draft[]): Draft {
  return {
    ...commonOf({ clause, index, work: "report", around }),
    key: `${index + 1}.all`,
    kind: "collect",
    isImperative: true,
    subject: subjectOf(`Sum up the results: ${sentenceOf(clause)}`, around.limits.maxSubjectChars),
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

/** One account of all is wanted where nobody could read all the parts. */
const isForAll = ({ isUnbounded, text }: Clause) => isUnbounded || /\bsummari[sz]e each\b/i.test(text);

type Common = "work" | "clause" | "isImperative" | "delivers" | "after";
const commonOf = ({ clause, index, work }: Asked): Pick<Draft, Common> => ({
  work,
  clause: index,
  isImperative: clause.verb !== undefined,
  delivers: deliveredBy(work),
  after: [],
});

/** What it says, beginning with its verb: "could you please fix x" is "Fix x". */
export function sentenceOf({ text, verb }: Clause): string {
  const line = plainLine(text);
  if (verb === undefined) return capitalised(line);
  return capitalised(line);
}

const verbOf = ({ verb }: Clause) => capitalised(verb ?? "work on");

/** "Review 16 agent files for typos" is about typos, whichever files a task has. */
function tailOf({ object }: Clause): string {
  const at = object
    .slice(0, 300)
    .search(/\s(?:for|against|with regard to|regarding|and report|according to)\s/i);
  return at === -1 ? "" : plainLine(` ${object.slice(at, at + 200)}`).replace(/^/, " ");
}

/** Of one deliverable with several sides, each is something it must have. */
const itemRequirements = ({ items }: Clause): readonly string[] =>
  items.length < 2 ? [] : items.slice(0, MAX_REQUIREMENTS).map((item) => `Has: ${plainLine(item)}.`);

const MAX_REQUIREMENTS = 30;
const MAX_QUOTED_CHARS = 300;
const quotedText = (text: string) =>
  JSON.stringify(plainLine(text.slice(0, MAX_QUOTED_CHARS)) + (text.length > MAX_QUOTED_CHARS ? "…" : ""));

const ended = (says: string) => (/[.!?…。！？]$/u.test(says) ? says : `${says}.`);
