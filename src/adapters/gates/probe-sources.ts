/** Finds the files of a tree that are sources under test, and makes them unusable for the probe of the gate. */
import { chmod, lstat, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Failed, hasFailed } from "../../core/result.ts";
import { readShort } from "../files/read-bounded.ts";
import { git } from "../git/git.ts";
import { listFiles, readBlob, type TreeFile } from "../git/trees.ts";
import { isTestFile } from "../repositories/test-files.ts";
import { isReachedInside } from "../workspaces/folders.ts";
import { type ReadFile, reachOf } from "./gate-reach.ts";

export type TreeFiles = {
  readonly sources: readonly string[];
  readonly hasTests: boolean;
  /** Manifests, lock files and configuration with their content, as "<id> <path>". */
  readonly settings: readonly string[];
  readonly read: ReadFile;
};

/** `run`: all commands that Skein runs here. */
export async function filesOf(
  folder: string,
  commit: string,
  run: readonly (readonly string[])[],
  signal: AbortSignal,
): Promise<TreeFiles | Failed> {
  const listed = await listFiles({ folder, commit }, signal);
  if (hasFailed(listed)) return listed;
  const { files } = listed;
  const ids = new Map(files.map(({ path, id }) => [path, id]));
  const read: ReadFile = async (file) => {
    const id = ids.get(file);
    if (id === undefined) return undefined;
    const text = await readBlob({ folder, id, maxBytes: MAX_TEXT_BYTES }, signal);
    return typeof text === "string" ? text : "";
  };
  const { programs } = await reachOf(run, read);
  const isRun = isRunBy([...programs].filter((file) => ids.has(file)));
  const programsUnder = files.filter((entry) => isSource(entry) && !isRun(entry.path));
  const tests = files.map(({ path }) => path).filter((file) => isTestFile(file) || isRun(file));
  const scripts = programsUnder.filter(isScript).map(({ path }) => path);
  const isNamed = await namedIn({ folder, commit, tests }, scripts, signal);
  return {
    sources: programsUnder.filter((entry) => !isScript(entry) || isNamed(entry.path)).map(({ path }) => path),
    hasTests: files.some(({ path }) => isTestFile(path)),
    settings: files
      .filter(({ path }) => isSettings(path) && !isOthers(path))
      .map(({ id, path }) => `${id} ${path}`),
    read,
  };
}

/** A tool of the project, such as a release script, which is a source under test only if a test names it. */
const isScript = ({ path: file, isExecutable }: TreeFile): boolean =>
  TOOL_FOLDER.test(file) || SHELL.test(file) || (isExecutable && !basename(file).includes("."));

const SHELL = /\.(?:sh|bash|zsh|ksh|fish|ps1)$/i;

type Tests = { readonly folder: string; readonly commit: string; readonly tests: readonly string[] };

async function namedIn(
  { folder, commit, tests }: Tests,
  scripts: readonly string[],
  signal: AbortSignal,
): Promise<(file: string) => boolean> {
  if (scripts.length === 0 || tests.length === 0) return () => false;
  const stemOf = (file: string) => basename(file).replace(/\..*$/, "");
  const names = [...new Set(scripts.map(stemOf))].slice(0, MAX_NAMES).flatMap((name) => ["-e", name]);
  const args = ["grep", "-o", "-h", "-I", "-w", "-F", ...names, commit, "--", ...tests.slice(0, MAX_TESTS)];
  const found = await git({ folder, args }, signal);
  // Exit code 1 means that no test names one; if git fails, all count as named.
  if (!found.ok) return () => found.code !== 1;
  const named = new Set(found.out.split("\n"));
  return (file) => named.has(stemOf(file));
}

const MAX_NAMES = 500;
const MAX_TESTS = 1_000;

/**
 * A program that a command runs, such as `node tools/test.js`, is part of the gate and not a source under test.
 * The same holds for other files in its tool folder.
 */
function isRunBy(programs: readonly string[]): (file: string) => boolean {
  const own = new Set(programs);
  const folders = programs
    .map((file) => file.slice(0, file.lastIndexOf("/") + 1))
    .filter((folder) => TOOL_FOLDER.test(folder));
  return (file) => own.has(file) || folders.some((folder) => file.startsWith(folder));
}

const TOOL_FOLDER = /(?:^|\/)(?:tools?|scripts?|ci|hack|build|dev)\//;

const MAX_TEXT_BYTES = 1_000_000;

const isSource = ({ path: file, isExecutable }: TreeFile): boolean =>
  (SOURCE.test(file) || (isExecutable && !basename(file).includes("."))) &&
  !isTestFile(file) &&
  !isSettings(file) &&
  !isOthers(file) &&
  !OF_TESTS.test(file);

const SOURCE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyx|go|rs|c|cc|cpp|cxx|h|hh|hpp|hxx|m|mm|java|kt|scala|groovy|cs|fs|vb|rb|php|pl|pm|swift|dart|exs?|erl|hs|lua|clj|cljs|elm|ml|mli|zig|jl|r|nim|cr|d|f90|sh|bash|zsh|ksh|fish|ps1)$/i;

const OF_TESTS =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|cypress|testdata|fixtures?|__fixtures__|__snapshots__|__mocks__|mocks)\//i;

/** Whether the file is in a folder of tools, documentation or third-party code. */
const isOthers = (file: string): boolean =>
  /(?:^|\/)(?:\.[^/]+|node_modules|vendor(?:ed)?|third[_-]?party|bower_components|docs?)\//i.test(file);

const isSettings = (file: string): boolean => {
  const name = basename(file);
  return SETTINGS.test(name) || name.startsWith(".");
};

const SETTINGS = new RegExp(
  `^(?:${[
    ...["package\\.json", "package-lock\\.json", "npm-shrinkwrap\\.json", "pnpm-(?:lock|workspace)\\.yaml"],
    ...[
      "yarn\\.lock",
      "bun\\.lockb?",
      "deno\\.(?:jsonc?|lock)",
      "(?:nx|turbo|lerna)\\.json",
      "[jt]sconfig.*\\.json",
    ],
    ...["pyproject\\.toml", "(?:poetry|uv|pdm)\\.lock", "Pipfile(?:\\.lock)?", "requirements.*\\.(?:txt|in)"],
    ...["setup\\.(?:py|cfg)", "(?:pytest|tox|mypy)\\.ini", "(?:conftest|noxfile|tasks|manage)\\.py"],
    ...["Cargo\\.(?:toml|lock)", "build\\.rs", "rust-toolchain(?:\\.toml)?", "go\\.(?:mod|sum|work)"],
    ...["Gemfile(?:\\.lock)?", "Rakefile", ".*\\.gemspec", "composer\\.(?:json|lock)", "phpunit\\.xml.*"],
    ...["mix\\.(?:exs|lock)", "rebar\\.config", "pom\\.xml", ".*\\.gradle(?:\\.kts)?", "gradle\\.properties"],
    ...[
      "gradlew",
      "mvnw",
      "configure",
      "(?:GNU)?[Mm]akefile",
      ".*\\.(?:mk|cmake|ninja|csproj|fsproj|sln|cabal)",
    ],
    ...["CMakeLists\\.txt", "meson\\.build", "[Jj]ustfile", "build\\.zig", "Package\\.(?:swift|resolved)"],
    ...["(?:gulp|Grunt|Jake)file\\..*", ".*\\.(?:config|conf)\\.[^.]+", "skein\\.ya?ml", "Dockerfile.*"],
  ].join("|")})$`,
);

/** Must be called in a workspace that is thrown away, because builds of these files must not be reused. */
export async function makeUnusable(
  folder: string,
  files: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (let n = 0; n < files.length && !signal.aborted; n += AT_ONCE)
    await Promise.all(files.slice(n, n + AT_ONCE).map((file) => spoil(folder, file)));
}

const AT_ONCE = 64;

/** Replaces a file by a new one, because the set-up may have linked the old one to another. */
async function spoil(folder: string, file: string): Promise<void> {
  const at = join(folder, file);
  if (!(await isReachedInside(folder, file))) return;
  const found = await lstat(at).catch(() => undefined);
  if (!found?.isFile()) return; // The set-up moved it, so it is not what is built or run.
  const text = await readShort(at);
  if (!SOURCE.test(file) && !text.startsWith("#!")) return; // It is a compiled program.
  await rm(at);
  await writeFile(at, unusable(file, text), { flag: "wx" });
  await chmod(at, found.mode & 0o777);
}

/**
 * The broken text. A shell stops at the first line; for all other languages the text is invalid, so that
 * compiling, importing or starting it fails. The interpreter line and the package name stay, because without them
 * a tool might skip the file.
 */
function unusable(file: string, text: string): string {
  const first = /^#!.*\n/.exec(text)?.[0] ?? "";
  if (/\.php$/i.test(file)) return `${first}<?php\n${BROKEN}`;
  if (/\.(?:vue|svelte)$/i.test(file)) return `<script>\n${BROKEN}</script>\n`;
  if (file.endsWith(".go")) return `${/^package\s+\w+/m.exec(text)?.[0] ?? ""}\n${BROKEN}`;
  return `${first}${BROKEN}`;
}

const BROKEN = "exit 1\n#error made unusable, to see whether the tests notice\n)]}\n";
