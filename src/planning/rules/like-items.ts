/** Which files and folders does "all TypeScript files", "each module" or "agent files" mean in this repository? */
import type { RepositoryFacts } from "../facts.ts";
import { isAscii, wordsIn } from "../plain.ts";
import type { Clause } from "../reading.ts";
import type { Item } from "./item.ts";
import { isTest, meantBy, nameOf, type Tree } from "./paths.ts";

type Around = {
  readonly tree: Tree;
  readonly facts: RepositoryFacts;
  readonly count?: number;
  readonly isExact?: boolean;
};

/** Sorted as they are in the facts. Empty: the words fit nothing. With a count, what fits it wins. */
export function likeFiles(
  { object, files }: Pick<Clause, "object" | "files">,
  around: Around,
): readonly string[] {
  const within = withinFolders([...files, ...placesIn(object, around.tree)], around);
  const words = kindWordsOf(object);
  const byWord = words.map((word) => ({ word, fits: fitsOf(word) }));
  let found = within;
  for (const { fits } of byWord) {
    const narrowed = found.filter(fits);
    // A word that fits nothing ("old", "public") describes, and names no place.
    if (narrowed.length > 0) found = narrowed;
    else if (around.count !== undefined || around.isExact) return [];
  }
  if (around.count === undefined) return found;
  if (byWord.length === 0 && files.length === 0) return [];
  return inOneFolder(found, around.count);
}

/** "16 agent files": of those that fit, a folder that has just so many. */
function inOneFolder(found: readonly string[], count: number): readonly string[] {
  if (found.length === count) return found;
  const byFolder = new Map<string, string[]>();
  for (const path of found) {
    const key = `${path.slice(0, path.lastIndexOf("/") + 1)}*${endingOf(path)}`;
    const same = byFolder.get(key);
    if (same) same.push(path);
    else byFolder.set(key, [path]);
  }
  const nearest =
    [...byFolder.values()].sort((a, b) => Math.abs(a.length - count) - Math.abs(b.length - count))[0] ?? [];
  if (nearest.length === count || found.length <= count) return nearest.length === count ? nearest : found;
  return nearest.length < count && nearest.length * 4 >= count * 3 ? nearest : [];
}

function withinFolders(files: readonly string[], { tree, facts }: Around): readonly string[] {
  const folders = files.flatMap((file) => {
    const meant = meantBy(file, tree);
    return meant.is === "path" && meant.path.endsWith("/") ? [meant.path] : [];
  });
  const own = facts.files.filter(isOwn);
  return folders.length === 0 ? own : own.filter((path) => folders.some((folder) => path.startsWith(folder)));
}

/** "All files in src": the word alone is a folder where there is one, and any word where there is none. */
function placesIn(object: string, { folders }: Tree): readonly string[] {
  const said = object.matchAll(
    /\b(?:in|under|inside|within|from)\s+(?:the\s+)?([\w.@-]{1,80})(?![\w.@/-])/gi,
  );
  return [...said].flatMap(([, word]) => (folders.has(`${word}/`) ? [`${word}/`] : []));
}

export const filesIn = (folder: string, facts: RepositoryFacts): readonly string[] =>
  facts.files.filter((path) => path.startsWith(folder) && isOwn(path));

/** What people wrote, and nothing that is made, copied or no text. */
const isOwn = (path: string) =>
  !/(?:^|\/)(?:node_modules|vendor|third_party|dist|build|coverage|target|__pycache__|\.git|\.skein)\//.test(
    path,
  ) &&
  !/(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml|Cargo\.lock|poetry\.lock|uv\.lock|go\.sum|Gemfile\.lock|composer\.lock)$/.test(
    path,
  ) &&
  !/\.(?:png|jpe?g|gif|ico|svg|webp|woff2?|ttf|otf|eot|pdf|zip|gz|tgz|jar|mp[34]|mov|bin|exe|dll|so|wasm|map|min\.js|snap)$/i.test(
    path,
  );

/** Words of the object that can say which files: what is left without those that say how many, or only "file". */
function kindWordsOf(object: string): readonly string[] {
  const line = object.slice(0, 300);
  // "a licence to all source files" is about source files.
  const from = Math.max(0, line.search(/\b(?:all|every|each|entire|whole|\d+)\b/i));
  const rest = line.slice(from);
  const upTo = rest.search(
    /\s(?:for|in|of|to|on|from|with|about|that|which|so|into|under|and|without|against|using)\s/i,
  );
  return (upTo === -1 ? rest : rest.slice(0, upTo))
    .toLowerCase()
    .split(isAscii(rest) ? /[^a-z\d.+#_-]+/ : /[^\p{L}\p{N}.+#_-]+/u)
    .filter((word) => word !== "" && !EMPTY.has(word) && !/^\d+$/.test(word))
    .slice(0, 4);
}

const EMPTY: ReadonlySet<string> = new Set(
  (
    "all every each the a an our my your these those this entire whole file files module modules repo repository codebase " +
    "project code folder folders directory directories document documents existing remaining single one it its them " +
    "everything app application"
  ).split(" "),
);

function fitsOf(word: string): (path: string) => boolean {
  const endings = KINDS[word];
  if (endings !== undefined)
    return (path) => endings.includes(endingOf(path)) && (word !== "source" || !isTest(path));
  if (/^(?:tests?|specs?)$/.test(word)) return isTest;
  if (word.startsWith(".")) return (path) => path.toLowerCase().endsWith(word);
  const singular = word.replace(/ies$/, "y").replace(/([^s])s$/, "$1");
  const forms = new Set([word, singular, `${singular}s`, singular.replace(/y$/, "ies")]);
  return (path) => {
    const parts = path.toLowerCase().split("/");
    const name = parts.pop()!;
    return parts.some((part) => forms.has(part)) || wordsIn(name).some((piece) => forms.has(piece));
  };
}

const endingOf = (path: string) => nameOf(path).split(".").at(-1)!.toLowerCase();

const CODE =
  "ts tsx mts cts js jsx mjs cjs py rb go rs java kt scala swift c h cc cpp cxx hpp cs php ex exs erl hs dart lua vue svelte sh sql zig jl r pl";
const KINDS: Readonly<Record<string, readonly string[] | undefined>> = {
  __proto__: null as never,
  source: CODE.split(" "),
  typescript: ["ts", "tsx", "mts", "cts"],
  ts: ["ts", "tsx"],
  javascript: ["js", "jsx", "mjs", "cjs"],
  js: ["js", "jsx", "mjs", "cjs"],
  python: ["py", "pyi"],
  ruby: ["rb"],
  rust: ["rs"],
  go: ["go"],
  java: ["java"],
  kotlin: ["kt", "kts"],
  swift: ["swift"],
  php: ["php"],
  css: ["css", "scss", "less", "sass"],
  html: ["html", "htm"],
  sql: ["sql"],
  shell: ["sh", "bash"],
  yaml: ["yaml", "yml"],
  json: ["json"],
  toml: ["toml"],
  markdown: ["md", "mdx"],
  md: ["md", "mdx"],
  documentation: ["md", "mdx", "rst", "adoc"],
  docs: ["md", "mdx", "rst", "adoc"],
};

/** "each module", "every package": the folders one level below where the sources are, or at the top. */
export function foldersIn(
  { object, text }: Pick<Clause, "object" | "text">,
  facts: RepositoryFacts,
): readonly Item[] {
  if (!FOLDERS.test(object.slice(0, 200)) && !FOLDERS.test(text.slice(0, 500))) return [];
  const counts = new Map<string, number>();
  const bytes = new Map<string, number>();
  for (const path of facts.files) {
    const folder = isOwn(path) && !isTest(path) ? moduleOf(path) : undefined;
    if (folder === undefined) continue;
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
    bytes.set(folder, (bytes.get(folder) ?? 0) + (facts.bytes.get(path) ?? 0));
  }
  const inside = [...counts.keys()].filter((folder) => folder.split("/").length > 2);
  const chosen =
    inside.length > 1 ? inside : [...counts.keys()].filter((folder) => !/^(?:docs|\.[^/]*)\/$/.test(folder));
  return chosen.sort().map((folder) => ({ name: folder, paths: [folder], bytes: bytes.get(folder)! }));
}

const FOLDERS =
  /\b(?:each|every|all)\s+(?:of\s+)?(?:the\s+|our\s+)?(?:[\w-]+\s+)?(?:modules?|packages?|folders?|director(?:y|ies)|services?|subsystems?|workspaces?)\b/i;
const HOMES: ReadonlySet<string> = new Set([
  "src",
  "lib",
  "packages",
  "apps",
  "services",
  "crates",
  "modules",
  "internal",
  "cmd",
  "pkg",
  "app",
]);

function moduleOf(path: string): string | undefined {
  const [top, second, third] = path.split("/");
  if (second === undefined) return undefined;
  return HOMES.has(top!) && third !== undefined ? `${top}/${second}/` : `${top}/`;
}

/** Folders that together hold all the files, each file in just one; the largest are opened first. */
export function largeFolders(files: readonly string[], facts: RepositoryFacts, max: number): readonly Item[] {
  let parts: readonly Part[] = openPart({ folder: "", isWhole: true, files });
  for (;;) {
    const largest = parts.reduce((a, b) =>
      b.isWhole && (!a.isWhole || b.files.length > a.files.length) ? b : a,
    );
    const opened = largest.isWhole ? openPart(largest) : [];
    if (!largest.isWhole || largest.files.length < MIN_OPENED || parts.length - 1 + opened.length > max)
      break;
    parts = parts.flatMap((part) => (part === largest ? opened : [part]));
  }
  const bytesOf = (paths: readonly string[]) =>
    paths.reduce((sum, path) => sum + (facts.bytes.get(path) ?? 0), 0);
  return parts.map(({ folder, isWhole, files: held }) => ({
    name: isWhole ? folder : `files directly in ${folder === "" ? "the top folder" : folder}`,
    paths: isWhole ? [folder] : held,
    bytes: bytesOf(held),
  }));
}

/** A smaller folder is one task's work. */
const MIN_OPENED = 6;

type Part = { readonly folder: string; readonly isWhole: boolean; readonly files: readonly string[] };

function openPart({ folder, files }: Part): readonly Part[] {
  const inside = new Map<string, string[]>();
  const direct: string[] = [];
  for (const path of files) {
    const slash = path.indexOf("/", folder.length);
    if (slash === -1) direct.push(path);
    else {
      const below = path.slice(0, slash + 1);
      const same = inside.get(below);
      if (same) same.push(path);
      else inside.set(below, [path]);
    }
  }
  const whole = [...inside].map(([below, held]) => ({ folder: below, isWhole: true, files: held }));
  return direct.length === 0 ? whole : [{ folder, isWhole: false, files: direct }, ...whole];
}
