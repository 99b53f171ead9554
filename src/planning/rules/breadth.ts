/** Which tasks does the same work on many items make? One an agent, each with its own items, every item named once. */
import type { RepositoryFacts } from "../facts.ts";
import type { PlanLimits } from "../limits.ts";
import type { Clause } from "../reading.ts";
import type { Item } from "./item.ts";
import { filesIn, foldersIn, largeFolders, likeFiles } from "./like-items.ts";
import { meantBy, nameOf, type Tree } from "./paths.ts";
import { isAboutAllAtOnce } from "./split.ts";
import { deliveredBy, type Work } from "./work.ts";

export type Breadth = {
  readonly groups: readonly (readonly Item[])[];
  /** What they are, in words: "files", "folders". */
  readonly kind: "files" | "folders" | "items";
  readonly assumptions: readonly string[];
  readonly risks: readonly string[];
};

export type BreadthAsked = {
  readonly clause: Clause;
  readonly work: Work;
  readonly facts: RepositoryFacts;
  readonly tree: Tree;
  readonly limits: PlanLimits;
  readonly agents: number;
};

/** Undefined: the clause is about one thing, or about things of which nothing is known. */
export function breadthOf(asked: BreadthAsked): Breadth | undefined {
  const found = itemsOf(asked);
  if (found === undefined || found.items.length < 2) return undefined;
  const { limits, agents } = asked;
  const lines = found.items.reduce((sum, { bytes }) => sum + bytes, 0) / limits.bytesALine;
  const isFiles = found.kind === "files";
  const perTask = deliveredBy(asked.work) === "change" ? limits.maxFilesModified : limits.maxFilesRead;
  const wanted = Math.max(
    Math.min(agents, found.items.length),
    isFiles ? Math.ceil(found.items.length / perTask) : 0,
    isFiles ? Math.ceil(lines / limits.maxLinesRead) : 0,
  );
  const count = Math.min(wanted, found.items.length, Math.max(limits.maxBreadthTasks, agents));
  return { ...found, groups: inGroups(found.items, count) };
}

/** Contiguous, and of nearly equal size: the first ones have one more. */
export function inGroups<T>(items: readonly T[], count: number): readonly (readonly T[])[] {
  const groups = Math.max(1, Math.min(count, items.length));
  const [size, more] = [Math.floor(items.length / groups), items.length % groups];
  return Array.from({ length: groups }, (_, i) => {
    const start = i * size + Math.min(i, more);
    return items.slice(start, start + size + (i < more ? 1 : 0));
  });
}

type Found = Omit<Breadth, "groups"> & { readonly items: readonly Item[] };

function itemsOf(asked: BreadthAsked): Found | undefined {
  const { clause } = asked;
  if (isAboutAllAtOnce(clause)) return undefined;
  return (
    namedFiles(asked) ??
    countedItems(asked) ??
    unboundedItems(asked) ??
    folderToRead(asked) ??
    namedItems(asked)
  );
}

const plain = (items: readonly Item[], kind: Found["kind"]): Found => ({
  items,
  kind,
  assumptions: [],
  risks: [],
});

/** Files that were named one by one: two to report on, or more to change than one change should touch. */
function namedFiles({ clause, work, tree, facts, limits }: BreadthAsked): Found | undefined {
  if (clause.files.length < 2 || clause.itemsAre !== "each") return undefined;
  const listed = new Set(clause.items.flatMap((item) => clause.files.filter((file) => item.includes(file))));
  if (listed.size < 2 || clause.items.length > listed.size) return undefined;
  const paths = [...listed].flatMap((file) => {
    const meant = meantBy(file, tree);
    if (meant.is === "several") return [meant.paths[0]!];
    return meant.is === "path" ? [meant.path] : meant.is === "unknown" ? [meant.written] : [];
  });
  if (deliveredBy(work) === "change" && paths.length <= limits.maxFilesModified) return undefined;
  return plain(
    [...new Set(paths)].map((path) => fileItem(path, facts)),
    "files",
  );
}

/** "16 agent files": those that are there, or numbers where none are known. */
function countedItems(asked: BreadthAsked): Found | undefined {
  const { clause, tree, facts } = asked;
  const { count } = clause;
  if (count === undefined || count < 2 || clause.items.length > 1 || !isManyOf(clause.object))
    return undefined;
  const files = likeFiles(clause, { tree, facts, count });
  const found = files.map((path) => fileItem(path, facts));
  if (files.length === count) return plain(found, "files");
  if (files.length > 1 && files.length < count)
    return {
      ...plain(found, "files"),
      assumptions: [
        `The request speaks of ${count}; ${files.length} that fit are in the repository, and these are meant.`,
      ],
    };
  const noun = /\bfiles?\b/i.test(clause.object) ? "file" : "item";
  const numbered = Math.min(count, MAX_NUMBERED);
  const items = Array.from({ length: numbered }, (_, i) => ({
    name: `${noun} ${i + 1} of ${count}`,
    paths: [],
    bytes: 0,
  }));
  const assumption = `None of the ${count} could be found by name: they are counted in the order of their paths.`;
  const risks = count > numbered ? [`Only the first ${numbered} of ${count} are handed out.`] : [];
  return { items, kind: noun === "file" ? "files" : "items", assumptions: [assumption], risks };
}

/** No plan names more; the number comes from a sentence, and could be any. */
const MAX_NUMBERED = 500;

/** "3 retries" and "2 seconds" are no pieces of work. */
const isManyOf = (object: string) =>
  /\b(?:files?|documents?|docs|modules?|components?|packages?|services?|folders?|directories|pages?|endpoints?|scripts?|classes|agents?|templates?|schemas?|migrations?|plugins?|examples?|routes?|screens?|views?|models?|notebooks?|prompts?|reports?|tickets|issues|articles|tests?|specs?)\b/i.test(
    object.slice(0, 200),
  );

function unboundedItems(asked: BreadthAsked): Found | undefined {
  const { clause, tree, facts, limits, work } = asked;
  // "For each package, add a README with a and b" has these in each of them.
  const isOfEach = clause.itemsAre === "with" && /^for\s/i.test(clause.text);
  if (!clause.isUnbounded || (clause.items.length > 1 && !isOfEach) || facts.files.length === 0)
    return undefined;
  if (isSomewhere(clause, work)) return undefined;
  const folders = foldersIn(clause, facts);
  if (folders.length > 1) return plain(folders, "folders");
  const files = likeFiles(clause, { tree, facts, isExact: deliveredBy(work) === "change" });
  const perTask = deliveredBy(work) === "change" ? limits.maxFilesModified : limits.maxFilesRead;
  if (files.length > limits.maxBreadthTasks * perTask) return tooMany(files, asked);
  return plain(
    files.map((path) => fileItem(path, facts)),
    "files",
  );
}

/** Whole folders, if there are enough for everybody; of a folder that holds them all itself, many files for each. */
function tooMany(files: readonly string[], { facts, limits, agents }: BreadthAsked): Found {
  const most = limits.maxBreadthTasks;
  const folders = largeFolders(files, facts, most);
  const areEnough = folders.length >= Math.min(agents, most);
  const found = areEnough
    ? plain(folders, "folders")
    : plain(
        files.map((path) => fileItem(path, facts)),
        "files",
      );
  const each = areEnough ? "whole folders" : "many of them";
  return {
    ...found,
    risks: [`${files.length} files are more than ${most} tasks can read closely: each has ${each}.`],
  };
}

/**
 * "Rename x everywhere", "fix all tests": nobody knows where that leads, and a task that found nothing to change in its
 * files would fail. It stays one.
 */
const isSomewhere = ({ verb, text }: Clause, work: Work) =>
  deliveredBy(work) === "change" &&
  (verb === undefined ||
    SEARCHING.has(verb) ||
    /\b(?:everywhere|throughout|across the board|all over)\b/i.test(text));

const SEARCHING: ReadonlySet<string> = new Set(
  "rename replace remove delete fix upgrade update bump migrate swap drop repair resolve deprecate find move port make".split(
    " ",
  ),
);

/** "Review src/core/" where that is more than one head holds. */
function folderToRead(asked: BreadthAsked): Found | undefined {
  const { clause, work, tree, facts, limits } = asked;
  if (deliveredBy(work) !== "report" || clause.files.length !== 1) return undefined;
  const meant = meantBy(clause.files[0]!, tree);
  if (meant.is !== "path" || !meant.path.endsWith("/")) return undefined;
  const files = filesIn(meant.path, facts).map((path) => fileItem(path, facts));
  const lines = files.reduce((sum, { bytes }) => sum + bytes, 0) / limits.bytesALine;
  if (files.length <= limits.maxFilesRead && lines <= limits.maxLinesRead) return undefined;
  if (files.length <= limits.maxBreadthTasks * limits.maxFilesRead) return plain(files, "files");
  return tooMany(
    files.map(({ name }) => name),
    asked,
  );
}

/** Many things to look at, by name: the same work on each. */
function namedItems({ clause, work, agents }: BreadthAsked): Found | undefined {
  if (deliveredBy(work) !== "report" || clause.itemsAre !== "each" || clause.items.length <= agents)
    return undefined;
  return plain(
    clause.items.map((name) => ({ name, paths: [], bytes: 0 })),
    "items",
  );
}

const fileItem = (path: string, facts: RepositoryFacts): Item => ({
  name: path,
  paths: [path],
  bytes: facts.bytes.get(path) ?? 0,
});

/** File names without their folders where that leaves no two alike. */
export function shortNames(items: readonly Item[]): readonly string[] {
  const short = items.map(({ name }) => (name.endsWith("/") || name.includes(" ") ? name : nameOf(name)));
  return new Set(short).size === short.length ? short : items.map(({ name }) => name);
}
