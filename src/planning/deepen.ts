/** What does a request need besides its clauses when it is not simple? To be understood first, and tests of its own. */
import type { Surroundings } from "./clause-drafts.ts";
import type { Draft } from "./draft.ts";
import { listed, plainLine, shortened, subjectOf, theOne } from "./wording.ts";

/**
 * A task that was split less often than its tier asks for gets somebody before it who finds out what is there, in a
 * simple plan one for all of them; in the third tier three, each from its side, and tests after each change.
 */
export function deepened(drafts: readonly Draft[], around: Surroundings): readonly Draft[] {
  const shallow = new Set(drafts.filter(({ depth }) => depth < around.minDepth));
  if (shallow.size === 0) return drafts;
  const waiting = [...shallow].filter(needsUnderstanding);
  const understood = waiting.length > 0 ? waiting : [...shallow];
  const first = understandingOf(understood, around);
  const keys = first.map(({ key }) => key);
  const deeper = drafts.map((draft) => ({
    ...draft,
    depth: Math.max(draft.depth, around.minDepth),
    after: understood.includes(draft) ? [...keys, ...draft.after] : draft.after,
  }));
  const hasTests = drafts.some(({ work }) => work === "tests");
  const isTested = (draft: Draft) =>
    around.minDepth >= 3 &&
    !hasTests &&
    (draft.work === "build" || draft.work === "change") &&
    draft.kind === "part";
  return [
    ...first,
    ...deeper.flatMap((draft) => (isTested(draft) ? [draft, testsFor(draft, around)] : [draft])),
  ];
}

/** Who writes docs, tests or runs something waits for the change, and with it for what the change waited for. */
const needsUnderstanding = ({ work, kind }: Draft) =>
  kind === "part" && (work === "build" || work === "change" || work === "report");

type Side = { readonly subject: string; readonly description: string };

function understandingOf(drafts: readonly Draft[], around: Surroundings): readonly Draft[] {
  const about = aboutOf(drafts, around);
  const sides = around.facts.files.length === 0 ? [designOf(about)] : sidesOf(about, drafts, around);
  return sides.map(({ subject, description }, n) => ({
    key: `0.${n + 1}`,
    kind: "understand",
    work: "report",
    isImperative: true,
    subject: subjectOf(subject, around.limits.maxSubjectChars),
    description,
    scope: [],
    reads: [...new Set(drafts.flatMap(({ scope, reads }) => [...scope, ...reads]))].slice(
      0,
      around.limits.maxFilesRead,
    ),
    delivers: "report",
    requirements: ["Name files and lines.", "Change nothing."],
    depth: around.minDepth,
    after: [],
  }));
}

const MAX_ABOUT_CHARS = 300;

/** The things that the tasks are about, without what is to be done with them; else what the request says of them. */
function aboutOf(drafts: readonly Draft[], { clauses, request }: Surroundings): string {
  const indices = [...new Set(drafts.map(({ clause }) => clause))];
  const touched = indices.flatMap((index) => (index === undefined ? [] : [clauses[index]!]));
  const things = touched
    .map(({ object, items }) => thingIn(object || listed(items)))
    .filter((thing) => thing !== "");
  const said = touched.flatMap(({ context }) => context).map(plainLine);
  const about = things.length > 0 ? listed([...new Set(things)]) : (said[0] ?? request);
  return shortened(plainLine(about.slice(0, 2 * MAX_ABOUT_CHARS)), MAX_ABOUT_CHARS);
}

/** "the settings page from classes to hooks" is the settings page; "it" and "what breaks" are nothing by themselves. */
function thingIn(object: string): string {
  const line = plainLine(object.slice(0, MAX_ABOUT_CHARS));
  const end = line.search(
    /[,;:(]|\s(?:to|from|so|that|which|into|with|without|by|using|when|if|because|after|before|as|and)\s/i,
  );
  const thing = end === -1 ? line : line.slice(0, end);
  return /^(?:it|this|that|them|these|those|why|what|how|whether|everything|something)\b/i.test(thing)
    ? ""
    : theOne(thing);
}

const designOf = (about: string): Side => ({
  subject: `Design ${about}`,
  description: `Decide on the approach to ${about}: what it consists of, the interfaces between the parts, where each goes, and why.`,
});

function sidesOf(
  about: string,
  drafts: readonly Draft[],
  { minDepth, facts }: Surroundings,
): readonly Side[] {
  const where = facts.tests.length > 0 ? ", and the tests that cover it" : "";
  const places = {
    subject: `Explore the code behind ${about}`,
    description: `Understand the structure of the code that is behind ${about}: find the places, the patterns to follow${where}.`,
  };
  if (minDepth < 3) return [places];
  const uses = {
    subject: `Explore what uses ${about}`,
    description: `Understand what in the repository uses or depends on ${about}: callers, configuration, stored data, documents. Explore how far a change reaches.`,
  };
  const tests = {
    subject: `Explore the tests around ${about}`,
    description: `Understand which tests cover ${about}, in which patterns they are made, and where there are none. Explore how they are run.`,
  };
  const hasChange = drafts.some(({ work }) => work === "change" || work === "build");
  const plain = { ...places, description: places.description.replace(where, "") };
  return [plain, ...(hasChange ? [uses] : []), ...(hasChange && facts.tests.length > 0 ? [tests] : [])];
}

function testsFor(draft: Draft, { limits, tree }: Surroundings): Draft {
  const says = plainLine(draft.subject);
  const sources = draft.scope.filter((path) => tree.files.has(path) || !path.endsWith("/"));
  return {
    key: `${draft.key}.t`,
    kind: "tests",
    work: "tests",
    ...(draft.clause === undefined ? {} : { clause: draft.clause }),
    isImperative: true,
    subject: subjectOf(`Test: ${says}`, limits.maxSubjectChars),
    description: `Write tests that verify what was done by "${says}", edge cases and failures included.`,
    scope: [],
    reads: sources.slice(0, limits.maxFilesRead),
    delivers: "change",
    requirements: [
      "Each test fails without the change that it is for.",
      ...draft.requirements.filter((line) => !/^(?:Part of|Leave to|Has):/.test(line)),
    ],
    depth: draft.depth,
    after: [draft.key],
  };
}
