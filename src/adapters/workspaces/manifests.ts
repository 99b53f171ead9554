/** Finds the manifests and lock files of a tree, and checks whether the packages in copied folders fit them. */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { fields, parseJson } from "../../text/json.ts";
import { quoted } from "../../text/words.ts";
import { readBounded } from "../files/read-bounded.ts";
import { proposeSetup, SETUP_FILES } from "../gates/propose-setup.ts";
import { git } from "../git/git.ts";
import { gitInSlot, type Slot } from "./slot.ts";
import type { Source } from "./source.ts";

/** Files that make installed packages wrong when they change, by the folders that the packages are installed in. */
const MANIFESTS: readonly { readonly folders: RegExp; readonly files: readonly string[] }[] = [
  {
    folders: /^node_modules$/,
    files: [
      ...[
        "package.json",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "pnpm-workspace.yaml",
      ],
      ...["yarn.lock", "bun.lock", "bun.lockb"],
    ],
  },
  {
    folders: /^\.?v?env$/,
    files: [
      ...["pyproject.toml", "setup.py", "setup.cfg", "requirements*.txt", "*requirements.txt", "poetry.lock"],
      ...["uv.lock", "Pipfile", "Pipfile.lock", "pdm.lock"],
    ],
  },
  {
    folders: /^(?:vendor|target)$/,
    files: [
      ...["go.mod", "go.sum", "Cargo.toml", "Cargo.lock", "composer.json", "composer.lock"],
      ...["Gemfile", "Gemfile.lock"],
    ],
  },
  { folders: /^(?:deps|_build)$/, files: ["mix.exs", "mix.lock"] },
];

export const MANIFEST_NAMES: readonly string[] = [...new Set(MANIFESTS.flatMap(({ files }) => files))];

/** Matches in all folders of the tree, because a repository may have many packages. */
const pathspecs = (files: readonly string[]) => files.map((name) => `:(glob)**/${name}`);

/** Paths with the ids of their content, as in the index. */
type Ids = ReadonlyMap<string, string>;

const LISTING = ["ls-files", "--stage", "-z", "--"] as const;
/** Required for patterns to work. */
const GLOBS = { GIT_LITERAL_PATHSPECS: "0" };

function idsIn(listed: string): Ids {
  const ids = new Map<string, string>();
  for (const record of listed.split("\0")) {
    const [about, path] = record.split("\t", 2);
    if (path !== undefined) ids.set(path, about!.split(" ")[1]!);
  }
  return ids;
}

async function manifestsIn(
  slot: Slot,
  source: Source,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Ids> {
  const call = { args: [...LISTING, ...pathspecs(files)], environment: GLOBS };
  const listed = await gitInSlot(slot, source, call, signal);
  return listed.ok ? idsIn(listed.out) : new Map();
}

/** A text that stays the same as long as the set-up command would do the same. */
export async function fingerprint(
  setup: string,
  slot: Slot,
  source: Source,
  signal: AbortSignal,
): Promise<string> {
  const files = MANIFESTS.flatMap((one) => one.files);
  const ids = await manifestsIn(slot, source, files, signal);
  const hash = createHash("sha256").update(setup);
  for (const [path, id] of ids) hash.update(`\0${path}\0${id}`);
  return hash.digest("hex");
}

/**
 * `folders`: copied or shared from the user's checkout at `top`. Returns a sentence about packages that do not fit,
 * and the line that corrects it: without a set-up, a task that raises a dependency is gated with the old version.
 */
export async function staleCopies(
  { slot, source, top }: { readonly slot: Slot; readonly source: Source; readonly top: string },
  folders: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  const of = (path: string) => MANIFESTS.find((one) => one.folders.test(basename(path)));
  const relevant = folders.filter((path) => of(path) !== undefined);
  const files = [...new Set(relevant.flatMap((path) => of(path)!.files))];
  if (files.length === 0) return undefined;
  const wanted = await manifestsIn(slot, source, files, signal);
  const args = [...LISTING, ...pathspecs(files)];
  const here = await git({ folder: top, args, environment: GLOBS }, signal);
  if (!here.ok) return undefined; // It is only a hint.
  const ids = idsIn(here.out);
  const paths = new Set([...wanted.keys(), ...ids.keys()]);
  const differing = [...paths].filter(
    (path) => wanted.get(path) !== ids.get(path) && isServed(path, relevant),
  );
  const asks = new Map<string, string>(); // The packages asked for, each with the first file that asks for it.
  for (const path of differing.slice(0, MAX_COMPARED)) {
    const [is, was] = [await textAt(slot.tree, path), await textAt(top, path)];
    for (const what of differences(path, was, is)) if (!asks.has(what)) asks.set(what, path);
  }
  const [file] = asks.values();
  if (file === undefined) return undefined;
  const some = [...asks.keys()].slice(0, MAX_NAMED).join(", ") + (asks.size > MAX_NAMED ? " and more" : "");
  const command = await commandFor(slot.tree, file, wanted);
  return (
    `what it asks for is installed differently (${some}): it has your checkout's ${relevant.slice(0, 3).join(", ")}; ` +
    `let each workspace be set up, in skein.yaml: workspace: {setup: ${JSON.stringify(command)}}`
  );
}

/** A folder serves the manifests beside it and below it. */
const isServed = (path: string, folders: readonly string[]): boolean =>
  folders.some((folder) => {
    const beside = dirname(folder);
    return beside === "." || path.startsWith(`${beside}/`);
  });

const MAX_COMPARED = 50;
const MAX_NAMED = 5;

const textAt = async (folder: string, path: string): Promise<string> => {
  const read = await readBounded(join(folder, path), MAX_BYTES);
  return read.is === "bytes" ? read.bytes.toString() : "";
};

const MAX_BYTES = 16 * 1024 * 1024;

/**
 * What differs; in a package.json the names of changed dependencies, because its scripts and version install
 * nothing.
 */
function differences(path: string, was: string, is: string): readonly string[] {
  if (was === is) return [];
  if (basename(path) !== "package.json") return [path];
  const [old, now] = [dependenciesOf(was), dependenciesOf(is)];
  const names = new Set([...old.keys(), ...now.keys()]);
  return [...names].filter((name) => now.has(name) && old.get(name) !== now.get(name));
}

const GROUPS = ["dependencies", "devDependencies", "optionalDependencies", "overrides", "resolutions"];

function dependenciesOf(text: string): ReadonlyMap<string, string> {
  const manifest = fields(parseJson(text));
  return new Map(
    GROUPS.flatMap((group) =>
      Object.entries(fields(manifest[group])).map(([name, spec]) => [name, JSON.stringify(spec)] as const),
    ),
  );
}

/** The set-up command, by the nearest lock file above the differing file, else by the nearest manifest. */
async function commandFor(tree: string, file: string, ids: Ids): Promise<string> {
  const found: string[] = [];
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const texts = new Map<string, string>();
    for (const name of SETUP_FILES) {
      const path = folder === "." ? name : `${folder}/${name}`;
      if (ids.has(path)) texts.set(name, await textAt(tree, path));
    }
    const proposal = proposeSetup((name) => texts.get(name));
    if (proposal) {
      const command = inFolder(folder, proposal.command);
      if (proposal.lockFile !== "package.json") return command;
      found.push(command);
    }
    if (folder === ".") return found[0] ?? "<the command that installs it>";
  }
}

const inFolder = (folder: string, command: string): string =>
  folder === "." ? command : `cd ${quoted(folder)} && ${command}`;
