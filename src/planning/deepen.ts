/** What does a request need besides its clauses when it is not simple? To be understood first, and tests of its own. */
import { ofRequest, type Surroundings } from "./clause-drafts.ts";
import type { Draft } from "./draft.ts";
import type { Tree } from "./paths.ts";
import type { Clause } from "./reading.ts";
import { listed, plainLine, shortened, subjectOf, theOne } from "./wording.ts";
import { workOf } from "./work.ts";

/**
 * A task that was split less often than its tier asks for gets somebody before it who finds out what is there, in a
 * simple plan one for all of them; in the third tier three, each from its side, and tests after each change.
 */
export function deepened(drafts: readonly Draft[], around: Surroundings): readonly Draft[] {
  const shallow = drafts.filter(({ depth }) => depth < around.minDepth);
  if (shallow.length === 0) return drafts;
  const understood = toUnderstand(shallow, drafts, around);
  const first = understood.length === 0 ? [] : understandingOf(understood, around);
  const keys = first.map(({ key }) => key);
  const deeper = drafts.map((draft) => ({
    ...draft,
    depth: Math.max(draft.depth, around.minDepth),
    after: understood.includes(draft) ? [...keys, ...draft.after] : draft.after,
  }));
  const hasTests = drafts.some(({ work }) => work === "tests");
  const isTested = (draft: Draft) => around.minDepth >= 3 && !hasTests && isChange(draft);
  const withTests = deeper.flatMap((draft) => (isTested(draft) ? [draft, testsFor(draft, around)] : [draft]));
  return [...first, ...withTests];
}

const isChange = ({ work, kind }: Draft) => kind === "part" && (work === "build" || work === "change");

/**
 * Changes to what is there. A report is understanding itself, and in an empty repository there is nothing to look at:
 * they get somebody before them only where there is nothing else to split, or very much to decide. Who writes docs or
 * tests, or runs something, waits for the change, and with it for what the change waited for. So does who changes what
 * the request has somebody look into first.
 */
function toUnderstand(
  shallow: readonly Draft[],
  drafts: readonly Draft[],
  { minDepth, facts, clauses }: Surroundings,
): readonly Draft[] {
  const changes = shallow.filter(isChange);
  const isSimple = minDepth < 3;
  if (changes.length > 0 && facts.files.length > 0)
    return isSimple ? changes.filter(({ clause }) => !isInvestigated(clause, clauses)) : changes;
  if (changes.length > 0 && !isSimple) return changes;
  return drafts.length > 1 && isSimple ? [] : shallow;
}

/** The request itself has somebody look into it first. */
const isInvestigated = (clause: number | undefined, clauses: readonly Clause[]) =>
  clauses[clause ?? -1]?.after.some((before) => workOf(clauses[before]!) === "report") ?? false;

/** What is found out, in a subject and a description. */
type Side = { readonly subject: string; readonly description: string };

function understandingOf(drafts: readonly Draft[], around: Surroundings): readonly Draft[] {
  const { facts, limits, tree } = around;
  const about = aboutOf(drafts, around);
  const isEmpty = facts.files.length === 0;
  const paths = new Set(
    drafts.flatMap(({ scope, reads }) => [...scope, ...reads]).filter((path) => isThere(path, tree)),
  );
  return (isEmpty ? [designOf(about)] : sidesOf(about, drafts, around)).map(
    ({ subject, description }, n) => ({
      key: `0.${n + 1}`,
      kind: "understand",
      work: "report",
      isImperative: true,
      subject: subjectOf(subject, limits.maxSubjectChars),
      description,
      scope: [],
      reads: [...paths].slice(0, limits.maxFilesRead),
      delivers: "report",
      requirements: [
        ...(isEmpty ? [] : ["Name files and lines."]),
        "Change nothing.",
        ...ofRequest(description, around).map((line) => line.replace(/^Part of/, "For")),
      ],
      depth: around.minDepth,
      after: [],
    }),
  );
}

const isThere = (path: string, { files, folders }: Tree) => files.has(path) || folders.has(path);

const MAX_ABOUT_CHARS = 300;

/** The things that the tasks are about, without what is to be done with them; else what the request says of them. */
function aboutOf(drafts: readonly Draft[], { clauses }: Surroundings): string {
  const indices = [...new Set(drafts.map(({ clause }) => clause))];
  const touched = indices.flatMap((index) => (index === undefined ? [] : [clauses[index]!]));
  const things = new Set(touched.flatMap(thingsIn));
  if (things.size > 0) return shortened(listed([...things]), MAX_ABOUT_CHARS);
  const said = touched.flatMap(({ context }) => context)[0];
  return said === undefined ? "this request" : shortened(`"${plainLine(said)}"`, MAX_ABOUT_CHARS);
}

function thingsIn({ object, items, verb }: Clause): readonly string[] {
  // "make the dashboard load faster" is about the dashboard.
  const plain =
    verb === "make"
      ? object.replace(
          /\s(?:load|run|work|look|behave|return|use|more|\w{2,40}(?:er|able|ible|ive|ous|ful|safe|ready))\b.*$/i,
          "",
        )
      : object;
  return (plain === "" ? items : [plain]).map(thingIn).filter((thing) => thing !== "");
}

/** "the settings page from classes to hooks" is the settings page; "it" and "what breaks" are nothing by themselves. */
function thingIn(object: string): string {
  const line = plainLine(object.slice(0, MAX_ABOUT_CHARS));
  const end = line.search(ENDING);
  const thing = (end === -1 ? line : line.slice(0, end)).replace(/^(?:this|that)\s/i, "the ");
  return NOTHING.test(thing) ? "" : theOne(thing);
}

const ENDING =
  /[,;:(]|\sin\s\S*[./]|\s(?:to|from|so|that|which|into|with|without|by|using|when|if|because|after|before|as|and)\s/i;
const NOTHING = /^(?:(?:it|this|that|them|these|those|everything|something)$|(?:why|what|how|whether)\b)/i;

const designOf = (about: string): Side => ({
  subject: `Design ${about}`,
  description: `Decide on the approach to ${about}: what it consists of, the interfaces between the parts, where each goes, and why.`,
});

const coverageOf = (about: string): Side => ({
  subject: `Explore what ${about} should cover`,
  description: `Understand the structure of what ${about} speaks of: explore what a reader needs to know, with the places that show it.`,
});

function sidesOf(
  about: string,
  drafts: readonly Draft[],
  { minDepth, facts, clauses }: Surroundings,
): readonly Side[] {
  const isSimple = minDepth < 3;
  if (isSimple && drafts.every(({ work }) => work === "docs")) return [coverageOf(about)];
  const hasTests = facts.tests.length > 0;
  const places = {
    subject: `Explore the code behind ${about}`,
    description: `Understand the structure of the code that is behind ${about}: find the places, the patterns to follow${
      hasTests && isSimple ? ", and the tests that cover it" : ""
    }.`,
  };
  if (isSimple || !drafts.some(isChange)) return [places];
  const uses = {
    subject: `Explore what uses ${about}`,
    description: `Understand what in the repository uses or depends on ${about}: callers, configuration, stored data, documents. Explore how far a change reaches.`,
  };
  const tests = {
    subject: `Explore the tests around ${about}`,
    description: `Understand which tests cover ${about}, in which patterns they are made, and where there are none. Explore how they are run.`,
  };
  const isLookedInto = drafts.some(({ clause }) => isInvestigated(clause, clauses));
  return [...(isLookedInto ? [] : [places]), uses, ...(hasTests ? [tests] : [])];
}

function testsFor(draft: Draft, { limits, clauses }: Surroundings): Draft {
  const says = plainLine(draft.subject);
  const thing = thingIn(draft.thing ?? clauses[draft.clause ?? -1]?.object ?? "");
  return {
    key: `${draft.key}.t`,
    kind: "tests",
    work: "tests",
    ...(draft.clause === undefined ? {} : { clause: draft.clause }),
    isImperative: true,
    subject: subjectOf(thing === "" ? `Test: ${says}` : `Write tests for ${thing}`, limits.maxSubjectChars),
    description: `Write tests that verify what was done by "${says}", edge cases and failures included.`,
    scope: [],
    reads: draft.scope.filter((path) => !path.endsWith("/")).slice(0, limits.maxFilesRead),
    delivers: "change",
    requirements: [
      "Each test fails without the change that it is for.",
      ...draft.requirements.filter((line) => !/^(?:Leave|Has)\b/.test(line)),
    ],
    depth: draft.depth,
    after: [draft.key],
  };
}
