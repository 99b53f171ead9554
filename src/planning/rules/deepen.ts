/** What does a request need besides its clauses when it is not simple? To be understood first, and tests of its own. */

import type { Clause } from "../reading.ts";
import { ofRequest, type Surroundings } from "./clause-drafts.ts";
import type { Draft } from "./draft.ts";
import type { Tree } from "./paths.ts";
import { saysSomething } from "./said.ts";
import { thingIn, thingsIn } from "./things.ts";
import { listed, plainLine, shortened, subjectOf } from "./wording.ts";
import { isOfIt, workOf } from "./work.ts";

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
  // Who makes a part of something that was split further waits for what is decided about it as well.
  const clauses = new Set(understood.map(({ clause }) => clause));
  const isFor = (draft: Draft) =>
    understood.includes(draft) || (isChange(draft) && clauses.has(draft.clause));
  const deeper = drafts.map((draft) => ({
    ...draft,
    depth: Math.max(draft.depth, around.minDepth),
    after: isFor(draft) ? [...keys, ...draft.after] : draft.after,
  }));
  const hasTests = drafts.some(({ work }) => work === "tests");
  const isTested = (draft: Draft) => around.minDepth >= 3 && !hasTests && isChange(draft);
  const withTests = deeper.flatMap((draft) => (isTested(draft) ? [draft, testsFor(draft, around)] : [draft]));
  return [...first, ...withTests];
}

const isChange = ({ work, kind }: Draft) => kind === "part" && (work === "build" || work === "change");

/**
 * Changes of which something has to be found out, and documents that stand alone. Who reads, writes tests or runs
 * something finds out by that itself, and who renames by renaming; so does who changes what the request has somebody
 * look into. In an empty repository only what is new has anything to decide, and in a simple plan only if it is all.
 */
function toUnderstand(
  shallow: readonly Draft[],
  drafts: readonly Draft[],
  { minDepth, facts, clauses }: Surroundings,
): readonly Draft[] {
  const isSimple = minDepth < 3;
  const isEmpty = facts.files.length === 0;
  const isOpen = ({ clause }: Draft) => {
    const asked = clauses[clause ?? -1];
    if (!asked || PLAIN.has(asked.verb ?? "")) return false;
    if (clause === 0) return true;
    // What it should do is found out with what it is.
    if (isOfIt(asked.text) && asked.after.length > 0) return false;
    return thingsIn(asked).length > 0 && !FOLLOWING.test(asked.object.slice(0, MAX_ABOUT_CHARS));
  };
  const changes = shallow.filter((draft) => isChange(draft) && isOpen(draft));
  if (isEmpty && isSimple && drafts.length > 1) return [];
  const isNew = isEmpty && changes.some(({ work }) => work === "build");
  const open = isNew ? changes.filter(({ work }) => work === "build") : changes;
  if (open.length > 0)
    return isSimple || isNew ? open.filter(({ clause }) => !isInvestigated(clause, clauses)) : open;
  return isEmpty || drafts.length > 1 ? [] : shallow.filter(({ work }) => work === "docs");
}

/** What they are is known by who made the change before. */
const FOLLOWING = /\b(?:callers?|call sites?|imports|usages?|references)\b|^(?:what|whatever)\b/i;

/** Nothing is found out before these that doing them does not show. */
const PLAIN: ReadonlySet<string> = new Set("rename bump format reformat lint revert pin sort tag".split(" "));

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
  const isNew = isEmpty && drafts.every(({ work }) => work === "build");
  return (isNew ? [designOf(about)] : sidesOf(about, drafts, around)).map(({ subject, description }, n) => ({
    key: `0.${n + 1}`,
    kind: "understand",
    work: "report",
    isImperative: true,
    subject: subjectOf(subject, limits.maxSubjectChars),
    description,
    scope: [],
    reads: [...paths].slice(0, limits.maxFilesRead),
    delivers: "report",
    requirements: [...(isNew ? [] : ["Name files and lines."]), "Change nothing."],
    background: ofRequest(description, around).map((line) => line.replace(/^Part of/, "For")),
    depth: around.minDepth,
    after: [],
  }));
}

const isThere = (path: string, { files, folders }: Tree) => files.has(path) || folders.has(path);

const MAX_ABOUT_CHARS = 300;

/** The things that the tasks are about, without what is to be done with them; else what the request says of them. */
function aboutOf(drafts: readonly Draft[], { clauses }: Surroundings): string {
  const indices = [...new Set(drafts.map(({ clause }) => clause))];
  const touched = indices.flatMap((index) => (index === undefined ? [] : [clauses[index]!]));
  const things = new Set(touched.filter(({ text }) => !isOfIt(text)).flatMap(thingsIn));
  if (things.size > 0) return shortened(listed([...things]), MAX_ABOUT_CHARS);
  const said = touched.flatMap(({ context }) => context).find(saysSomething);
  return said === undefined ? "this request" : shortened(`"${plainLine(said)}"`, MAX_ABOUT_CHARS);
}

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
  const first = lookedFor(drafts, clauses, about);
  if (isSimple || !drafts.some(isChange)) return [first];
  const uses = usesOf(about);
  const tests = {
    subject: `Explore the tests around ${about}`,
    description: `Understand which tests cover ${about}, in which patterns they are made, and where there are none. Explore how they are run.`,
  };
  const isLookedInto = drafts.some(({ clause }) => isInvestigated(clause, clauses));
  const sides = [...(isLookedInto ? [] : [first]), uses, ...(hasTests ? [tests] : [])];
  return sides.filter(({ subject }, n) => sides.findIndex((one) => one.subject === subject) === n);
}

/** What is found out before all of them, in the words for the kind of change that they have in common. */
function lookedFor(drafts: readonly Draft[], clauses: readonly Clause[], about: string): Side {
  const verbs = drafts.map(({ clause }) => clauses[clause ?? -1]?.verb ?? "");
  if (verbs.every((verb) => REPLACING.has(verb))) return usesOf(about);
  if (drafts.every(({ work }) => work === "build"))
    return {
      subject: `Find the place for ${about}`,
      description: `Understand the structure of the code that ${about} will be a part of: explore where it goes, what it touches, the patterns to follow, and the tests that are there.`,
    };
  const isFaulty = verbs.every((verb) => MENDING.has(verb));
  const wanted = isFaulty ? (FAULT.test(about) ? "Find the cause of" : "Find out what is wrong with") : "";
  return {
    subject: `${wanted === "" ? "Explore the code behind" : wanted} ${about}`,
    description: `Understand the structure of the code that is behind ${about}: explore how it works today, ${
      isFaulty ? "find the cause" : "find the places"
    }, the patterns to follow, and the tests that cover it.`,
  };
}

const usesOf = (about: string): Side => ({
  subject: `Explore what uses ${about}`,
  description: `Understand what in the repository uses or depends on ${about}: callers, configuration, stored data, documents. Explore how far a change reaches.`,
});

const MENDING: ReadonlySet<string> = new Set("fix repair resolve solve correct debug patch".split(" "));
const REPLACING: ReadonlySet<string> = new Set(
  "remove delete drop ditch nuke kill replace deprecate swap".split(" "),
);
const FAULT =
  /\b(?:bugs?|crash(?:es)?|errors?|failures?|leaks?|race|deadlocks?|regressions?|issues?|problems?|faults?|timeouts?|exceptions?|hangs?|freezes?|warnings?|wrong|broken|missing|slow|flaky|incorrect|failing|"[^"]*")(?=\W|$)/i;

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
      ...draft.requirements.filter((line) => !/^Has\b|: done, and shown by /.test(line)),
    ],
    background: draft.background?.filter((line) => !line.startsWith("Leave")) ?? [],
    depth: draft.depth,
    after: [draft.key],
  };
}
