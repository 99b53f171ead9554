/** Shares out a request for the same work on many existing files or folders. */

import { meantBy, nameOf, readsIn } from "../paths.ts";
import { subjectOf } from "../wording.ts";
import { inGroups } from "./groups.ts";
import { carriedByAll, isReport, kindOf, type Lexicon, type Order, orderIn } from "./lexicon.ts";
import { limitAlone, withoutLimits } from "./limits.ts";
import type { Part, RequestShape, ShapeAround } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const sharedOut: RequestShape = (request, around) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = sentencesOf(request);
  const found = orderedAtOnce(sentences, around) ?? toldBefore(sentences, around);
  if (found === undefined || found.work.meant.items.length < 2) return undefined;
  const { sentence, limited, work, shared } = found;
  const { meant } = work;
  const agents = [limited, ...shared.map(limitAlone)].find((one) => one?.agents !== undefined)?.agents;
  const groups = inGroups(meant.items, countOf(meant, around, agents));
  const { maxContextFiles } = around.limits;
  const said = readsIn([sentence, ...shared].join("\n"), around.tree, maxContextFiles);
  const reads = said.filter((path) => !meant.items.includes(path));
  const parts = groups.map((files) => ({ ...partOf(files, { ...work, sentence }, around), reads }));
  return {
    parts: meant.isWhole ? [...parts, collecting(sentence, parts)] : parts,
    shared,
    limits: limited.limits,
    assumptions: meant.assumptions,
  };
};

type Sharing = {
  readonly sentence: string;
  readonly limited: ReturnType<typeof withoutLimits>;
  readonly work: FileWork;
  readonly shared: readonly string[];
};

/** "Review all files in src/. Do not run them." */
function orderedAtOnce(
  [sentence = "", ...shared]: readonly string[],
  around: ShapeAround,
): Sharing | undefined {
  const { lexicon } = around;
  if (!shared.every((one) => kindOf(one, lexicon) === "limit")) return undefined;
  const limited = withoutLimits(sentence);
  const order = orderIn(limited.text, lexicon);
  const work = order && workOn(order, limited.text, around);
  return work && { sentence, limited, work, shared };
}

/** "The 16 files in agents/ differ. Bring each to the layout of docs/format.md." */
function toldBefore(sentences: readonly string[], around: ShapeAround): Sharing | undefined {
  const { lexicon } = around;
  const orders = sentences.filter((one) => kindOf(one, lexicon) === "order");
  const [sentence] = orders;
  if (sentence === undefined || orders.length > 1) return undefined;
  const limited = withoutLimits(sentence);
  const { verb, object } = orderIn(limited.text, lexicon)!;
  const each = EACH_OF_THEM.exec(object);
  if (each === null || CROSSES.test(verb)) return undefined;
  const before = sentences.slice(0, sentences.indexOf(sentence));
  const [meant, more] = before.flatMap((one) => filesMeant(TOLD.exec(one)?.[0] ?? "", around) ?? []);
  const shared = sentences.filter((one) => one !== sentence);
  if (meant === undefined || more !== undefined) return undefined;
  if (!shared.every((one) => carriedByAll(one, lexicon))) return undefined;
  const rest = object.slice(each[0].length);
  const isInPlace = !lexicon.report.has(verb.toLowerCase());
  return {
    sentence,
    limited,
    work: { meant: { ...meant, isWhole: false }, verb, title: verb, rest, isInPlace },
    shared,
  };
}

const EACH_OF_THEM =
  /^(?:(?:each|every one|all) of (?:them|these|those)|them all|(?:each|every one)(?= (?:to|into|in|with|by|from|for|as|so)))\b/i;
/** These verbs need all files at once. */
const CROSSES = /^(?:rename|move|merge|combine|unify|compare|sort|link|delete|remove)$/i;
/** The start of a sentence about files: "The 16 files in agents/". */
const TOLD =
  /^(?:all\s+|each\s+(?:of\s+)?|every\s+)?(?:the\s+|our\s+|these\s+)?(?:\d{1,4}\s+)?(?:[\w-]+\s+){0,2}(?:files?|documents?|pages?|modules?|packages?|folders?)(?:\s+(?:in|under|of|below)\s+[`"']?[\w.@/-]+[`"']?)?/i;

type FileWork = {
  readonly meant: Meant;
  readonly verb: string;
  readonly title: string;
  /** The part of the title after the names of the files. */
  readonly rest?: string;
  readonly isInPlace?: boolean;
};

/** "Review all files in src/", "Add type hints to every file in src/", "Write tests for each module in src/". */
function workOn({ verb, object: written }: Order, text: string, around: ShapeAround): FileWork | undefined {
  const { lexicon } = around;
  const object = written.replace(/[.!?\s]+$/, "");
  if (isForEach(text, verb, lexicon)) {
    const meant = filesMeant(object, around);
    if (meant) return { meant, verb, title: verb };
  }
  const looked = lookedAt({ verb, object }, around);
  if (looked) return looked;
  const [, thing = "", to = "", where = ""] = EACH.exec(object) ?? [];
  if (where === "" || !lexicon.words.verbs.build.includes(verb.toLowerCase())) return undefined;
  const meant = filesMeant(where, around);
  // What is added *to* a file is in it; tests *for* a file are in another one.
  return (
    meant && {
      meant: { ...meant, isWhole: false },
      verb,
      title: `${verb} ${thing} ${to}`,
      isInPlace: to.toLowerCase() !== "for",
    }
  );
}

/** "Check the links in all files": one check, done in each of them. */
function lookedAt({ verb, object }: Order, around: ShapeAround): FileWork | undefined {
  const { report, check } = around.lexicon;
  const said = verb.toLowerCase();
  if (CROSSES.test(verb) || !(report.has(said) || check.has(said))) return undefined;
  const [, thing = "", where = ""] = IN_EACH.exec(object) ?? [];
  const meant = where === "" ? undefined : filesMeant(where, around);
  return meant && { meant, verb, title: `${verb} ${thing} in` };
}

const IN_EACH = /^([^,;:]{1,60}?) (?:in|of|across) ((?:all|every|each)\b.+|(?:the )?(?:entire|whole) .+)$/i;

const EACH = /^([^,;:]{1,60}?) (to|in|for) ((?:all|every|each)\b.+)$/i;

/** True if the work only reads, or changes each file by itself. A rename needs all files at once. */
const isForEach = (sentence: string, verb: string, lexicon: Lexicon): boolean =>
  isReport(sentence, lexicon) || lexicon.words.files.inPlace.includes(verb.toLowerCase());

/**
 * One task per agent, of at most five files, and of no more lines than one conversation holds. More tasks than a person
 * expects only if the request asks for them, or if five files per task make them necessary.
 */
function countOf({ items, kind, isWhole }: Meant, around: ShapeAround, asked: number | undefined): number {
  const { maxConcurrent, limits, facts } = around;
  // One task is reserved to put the results together.
  const unsaid = limits.maxTasksUnsaid - (isWhole ? 1 : 0);
  const agents = Math.max(1, asked ?? Math.min(maxConcurrent, unsaid));
  if (kind === "folders") return Math.min(agents, items.length);
  const bytes = items.reduce((sum, file) => sum + (facts.bytes.get(file) ?? 0), 0);
  const byLines = Math.ceil(bytes / limits.bytesALine / limits.maxLinesRead);
  const least = Math.ceil(items.length / limits.maxFilesRead);
  return Math.min(items.length, Math.max(agents, least, Math.min(byLines, unsaid)));
}

type Work = FileWork & { readonly sentence: string };

function partOf(items: readonly string[], work: Work, { limits }: ShapeAround): Part {
  const { sentence, title, rest = "", meant, isInPlace } = work;
  const names = items.map((item) => (meant.kind === "files" ? item.slice(item.lastIndexOf("/") + 1) : item));
  return {
    subject: subjectOf(`${title} ${names.join(", ")}${rest}`, limits.maxSubjectChars),
    words: sentence,
    says: [
      `Do this for these ${meant.kind} only; other tasks have the others:`,
      ...items.map((item) => `- ${item}`),
    ].join("\n"),
    after: [],
    ...(meant.kind === "files" && { files: items }),
    ...(isInPlace !== undefined && { isInPlace }),
  };
}

/** The last task, which puts the results of all parts together. */
const collecting = (sentence: string, parts: readonly Part[]): Part => ({
  subject: "Put the results of all parts together",
  words: sentence,
  says: "The tasks before this one have each done a part of it. Read their results, and make one result of them.",
  after: parts.map((_, at) => at),
  isReport: true,
});

/** The files or folders that "all files in src", "16 agent files" or "each module" refers to. */
type Meant = {
  readonly items: readonly string[];
  readonly kind: "files" | "folders";
  /** "All files", "entire repo", "summarize each": another task puts the results together. */
  readonly isWhole: boolean;
  readonly assumptions: readonly string[];
};

/** `object`: what follows the verb. Undefined if it names no files, or none that exist. */
function filesMeant(object: string, around: ShapeAround): Meant | undefined {
  if (object.length > MAX_OBJECT_CHARS) return undefined;
  return named(object, around) ?? whole(object, around) ?? ofAKind(object, around);
}

const MAX_OBJECT_CHARS = 2_000;
const files = (items: readonly string[], isWhole = false): Meant => ({
  items,
  kind: "files",
  isWhole,
  assumptions: [],
});

/** "src/a.ts, src/b.ts and c.ts": only names, each of one existing file. */
function named(object: string, { tree }: ShapeAround): Meant | undefined {
  const [list = ""] = object
    .replace(/^(?:these|the following|the)(?: \d{1,4})? files:\s+/i, "")
    .split(AIM, 1);
  const names = list.split(/,\s*(?:and\s+)?|\s+and\s+/).map((name) => name.replace(/^[`"']|[`"']$/g, ""));
  if (names.length < 2) return undefined;
  const found = names.map((name) => meantBy(name, tree));
  return found.every((one) => one.is === "file")
    ? files([...new Set(found.map(({ path }) => path))])
    : undefined;
}

/** What may follow the files: the aim of the work. */
const AIM = /\s+(?:for|with regard to|regarding|with a focus on|focusing on)\s+/i;

/** "the entire repo". */
function whole(object: string, around: ShapeAround): Meant | undefined {
  const { words } = around.lexicon;
  const said = object
    .split(AIM, 1)[0]!
    .toLowerCase()
    .replace(/^(?:the|our|this)\s+/, "");
  return words.files.whole.includes(said)
    ? shared(around.facts.files.filter(isOwn), true, around)
    : undefined;
}

const QUANTITY =
  /^(?:(all|every|each)(?: of)?\s+)?(?:(?:the|our|these)\s+)?(?:(\d{1,4})\s+)?(?:(?:of\s+)?(?:the|our|these)\s+)?/i;
const PLACE =
  /^(?:(?:in|under|inside|within|from|of)\s+(?:the\s+)?[`"']?([\w.@/-]{1,200}?)[`"']?(?:\s+(?:folder|directory))?)?$/i;

/** "all files in src/", "16 agent files", "the TypeScript files in lib", "each module in packages". */
function ofAKind(object: string, around: ShapeAround): Meant | undefined {
  const { nouns, folders } = around.lexicon.words.files;
  const said = object.split(AIM, 1)[0]!;
  const [start, every, number] = QUANTITY.exec(said)!;
  const words = said.slice(start.length).split(" ");
  const at = words.findIndex((word) => [...nouns, ...folders].includes(word.toLowerCase()));
  if (at < 0 || at > MAX_KIND_WORDS) return undefined;
  const place = PLACE.exec(words.slice(at + 1).join(" "));
  const within = place && folderOf(place[1], around);
  if (within === null || within === undefined) return undefined;
  // "Review the files" names none; a folder, a kind or "all" does.
  if (every === undefined && number === undefined && within === "") return undefined;
  const kinds = words.slice(0, at).map((word) => word.toLowerCase());
  if (folders.includes(words[at]!.toLowerCase()))
    return kinds.length === 0 ? eachFolder(within, around) : undefined;
  const found = around.facts.files.filter(
    (file) => file.startsWith(within) && isOwn(file) && fits(file, kinds),
  );
  if (number !== undefined)
    return found.length === Number(number) ? files(found, every !== undefined) : undefined;
  return shared(found, every !== undefined, around);
}

const MAX_KIND_WORDS = 2;

/** Undefined if there is no such folder. Empty if none was named. */
function folderOf(written: string | undefined, { tree }: ShapeAround): string | undefined {
  if (written === undefined) return "";
  const meant = meantBy(written, tree);
  return meant.is === "folder" ? meant.path : undefined;
}

/** True if each word is a folder in the path, a part of the name, or the ending. */
const fits = (file: string, kinds: readonly string[]): boolean =>
  kinds.every((kind) => {
    const singular = kind.replace(/([^s])s$/, "$1");
    if (ENDINGS[kind]?.test(file)) return true;
    const pieces = new Set(file.toLowerCase().split(/[/._-]/));
    return pieces.has(kind) || pieces.has(singular) || pieces.has(`${singular}s`);
  });

const ENDINGS: Readonly<Record<string, RegExp>> = {
  typescript: /\.[cm]?tsx?$/,
  javascript: /\.[cm]?jsx?$/,
  python: /\.py$/,
  markdown: /\.mdx?$/,
  rust: /\.rs$/,
  go: /\.go$/,
};

/** The folders directly below the named one; if none is named, below the first existing one of the usual places. */
function eachFolder(within: string, { tree }: ShapeAround): Meant | undefined {
  const below = (parent: string) =>
    [...tree.folders].filter(
      (folder) =>
        folder.startsWith(parent) &&
        folder !== parent &&
        folder.indexOf("/", parent.length) === folder.length - 1,
    );
  const places = within === "" ? ["packages/", "modules/", "src/", "lib/"] : [within];
  const items = places.map(below).find(({ length }) => length > 1);
  return items && { items: items.sort(), kind: "folders", isWhole: true, assumptions: [] };
}

/** If there are more files than the tasks can read, shares out the top folders, which contain them all. */
function shared(found: readonly string[], isWhole: boolean, { limits }: ShapeAround): Meant {
  if (found.length <= limits.maxBreadthTasks * limits.maxFilesRead) return files(found, isWhole);
  const items = [...new Set(found.map((file) => file.slice(0, file.indexOf("/") + 1) || file))];
  const assumption = `${found.length} files are too many to be named: their folders are shared out.`;
  return { items, kind: "folders", isWhole, assumptions: [assumption] };
}

/** True for files that people wrote: not generated, copied or binary ones. */
const isOwn = (path: string): boolean =>
  !/(?:^|\/)(?:node_modules|vendor|third_party|dist|build|coverage|target|__pycache__|\.git|\.skein)\//.test(
    path,
  ) &&
  !/(?:\.lock|-lock\.json|-lock\.yaml|\.lockb|go\.sum)$/.test(nameOf(path)) &&
  !/\.(?:png|jpe?g|gif|ico|svg|webp|woff2?|ttf|otf|eot|pdf|zip|gz|tgz|jar|mp[34]|mov|bin|exe|dll|so|wasm|map|snap)$/i.test(
    path,
  );
