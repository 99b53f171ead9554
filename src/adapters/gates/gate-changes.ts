/** Finds changes of files that define the gate, or that agents, CI and hooks obey, by comparing two commits. */
import type { Failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { GateChange, Obeyed } from "../../core/rules/gate-changes.ts";
import { git } from "../git/git.ts";
import { listFiles, readBlob } from "../git/trees.ts";
import { GATE_FILES, isLockFile } from "./detect.ts";
import { type GateReach, type ReadFile, reachOf } from "./gate-reach.ts";
import { scriptsOf, testSettingsOf } from "./package-json.ts";
import type { GateRules, Rules } from "./rules.ts";

type Sides = { readonly from: string; readonly to: string };

/** Empty if the gate means the same on both sides, and no other file that programs obey has changed. */
export async function gateChanges(
  folder: string,
  rules: GateRules,
  { from, to }: Sides,
  signal: AbortSignal,
): Promise<readonly GateChange[] | Failed> {
  const listed = await git(
    { folder, args: ["diff-tree", "-r", "-z", "--no-renames", "--raw", from, to] },
    signal,
  );
  if (!listed.ok) return { failure: listed.failure };
  const changed = changedIn(listed.out);
  const obeyed = [...changed.keys()].flatMap((file): GateChange[] => {
    const of = obeyedBy(file);
    return of === undefined ? [] : [{ of, file, what: file }];
  });
  const before = await rules.of(from, signal);
  if (hasFailed(before)) return before;
  // Without a gate there is nothing to bypass.
  if (before.commands.length === 0 || changed.size === 0) return obeyed;
  const after = await rules.of(to, signal);
  if (hasFailed(after)) return after;
  const trees = new Trees(folder, { from, to }, changed, signal);
  const found = await compare({ before, after }, trees);
  if (trees.failure) return { failure: trees.failure };
  const own = found.map(({ file, what }): GateChange => ({ of: "gate", file, what }));
  return [...own, ...obeyed];
}

type Found = { readonly file: string; readonly what: string };

async function compare(
  { before, after }: { readonly before: Rules; readonly after: Rules },
  trees: Trees,
): Promise<readonly Found[]> {
  const old = await reachOf(
    before.commands.map(({ command }) => command),
    trees.from,
    { scripts: "follow" },
  );
  const now = await reachOf(
    after.commands.map(({ command }) => command),
    trees.to,
    { scripts: "follow" },
  );
  const either = {
    folders: old.folders.union(now.folders),
    everywhere: old.everywhere.union(now.everywhere),
  };
  const programs = old.programs.union(now.programs);
  const text = `${old.text}\n${now.text}`;
  const found = new Map<string, Found>();
  const add = (file: string, what: string) => found.set(what, { file, what });
  for (const [what, { file, in: saidIn }] of [...old.places, ...now.places]) {
    const [was, is] = [await trees.from(file), await trees.to(file)];
    if (saidIn(was ?? "") !== saidIn(is ?? "")) add(file, what);
  }
  if (!isSame(before, after))
    for (const [file, kind] of trees.changed)
      if (kind !== "modified" && (GATE_FILES as readonly string[]).includes(file))
        // Scopes never name a lock file; it belongs to its package.json.
        add(isLockFile(file) ? "package.json" : file, `${file}: it decides which commands the gate has`);
  for (const file of trees.changed.keys()) {
    if (programs.has(file)) add(file, file);
    if (/(?:^|\/)package\.json$/.test(file))
      for (const what of await manifestChanges(file, either, trees)) add(file, what);
    for (const row of GATE_TOOLS) {
      // A program in the repository may call any tool.
      const isUsed = row.tool.test(text) || [...programs].some((program) => /\.\w*sh$/.test(program));
      if (isUsed && isAt(file, row, either) && (await differs(file, row, trees)))
        add(file, row.part ? `${file}: ${row.part.called}` : file);
    }
  }
  return [...found.values()];
}

const isSame = (a: Rules, b: Rules): boolean =>
  JSON.stringify(a.commands.map(({ command }) => command)) ===
  JSON.stringify(b.commands.map(({ command }) => command));

type Where = Pick<GateReach, "folders" | "everywhere">;

/** Whether the file is in a folder in which something is run; or in any folder, if something is run in all packages. */
function isAt(file: string, { file: wanted, isDeep }: GateFile, { folders, everywhere }: Where): boolean {
  if (isDeep) return wanted.test(file);
  if (everywhere.size > 0 && wanted.test(file.slice(file.lastIndexOf("/") + 1))) return true;
  return [...folders].some(
    (folder) => file.startsWith(folder === "" ? "" : `${folder}/`) && wanted.test(below(file, folder)),
  );
}

const below = (file: string, folder: string) => (folder === "" ? file : file.slice(folder.length + 1));

async function differs(file: string, { part }: GateFile, { from, to }: Trees): Promise<boolean> {
  if (!part) return true;
  return part.of((await from(file)) ?? "") !== part.of((await to(file)) ?? "");
}

/** Changed settings of test runners; and changed scripts, if scripts are run in all packages. */
async function manifestChanges(
  file: string,
  { folders, everywhere }: Where,
  { from, to }: Trees,
): Promise<readonly string[]> {
  const folder = file.slice(0, Math.max(0, file.lastIndexOf("/")));
  if (!folders.has(folder) && everywhere.size === 0) return [];
  const texts = [(await from(file)) ?? "", (await to(file)) ?? ""] as const;
  const differing = (read: (text: string) => Iterable<readonly [string, string]>) => {
    const [old, now] = texts.map((text) => new Map(read(text))) as [Map<string, string>, Map<string, string>];
    return [...new Set([...old.keys(), ...now.keys()])].filter((key) => old.get(key) !== now.get(key));
  };
  const isRun = (script: string) =>
    everywhere.has(script.replace(/^(?:pre|post)/, "")) || everywhere.has(script);
  const settings = differing(testSettingsOf).filter((key) => key !== "workspaces" || everywhere.size > 0);
  const scripts = everywhere.size === 0 ? [] : differing(scriptsOf).filter(isRun);
  return [
    ...settings.map((key) => `${file}: its settings of ${key}`),
    ...scripts.map((script) => `${file}: the script ${script}`),
  ];
}

type Kind = "added" | "removed" | "modified";

/** Reads records of `--raw -z`: ":mode mode id id letter", then the path. */
function changedIn(raw: string): ReadonlyMap<string, Kind> {
  const fields = raw.split("\0");
  const changed = new Map<string, Kind>();
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const letter = fields[i]!.at(-1);
    changed.set(fields[i + 1]!, letter === "A" ? "added" : letter === "D" ? "removed" : "modified");
  }
  return changed;
}

/** The files of both sides, each read once. An unchanged file is read from the old side. */
class Trees {
  readonly changed: ReadonlyMap<string, Kind>;
  /** The first error of a read; if there is one, no result counts. */
  failure: Failure | undefined;
  readonly #folder: string;
  readonly #sides: Sides;
  readonly #signal: AbortSignal;
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(folder: string, sides: Sides, changed: ReadonlyMap<string, Kind>, signal: AbortSignal) {
    this.#folder = folder;
    this.#sides = sides;
    this.changed = changed;
    this.#signal = signal;
  }

  readonly from: ReadFile = (file) => this.#once(this.#sides.from, file);
  readonly to: ReadFile = (file) =>
    this.#once(this.changed.has(file) ? this.#sides.to : this.#sides.from, file);

  #once(commit: string, file: string): Promise<string | undefined> {
    const key = `${commit} ${file}`;
    const known = this.#known.get(key) ?? this.#read(commit, file);
    this.#known.set(key, known);
    return known;
  }

  /** Links and folders do not count as files; of a file that is too long, only its beginning counts. */
  async #read(commit: string, path: string): Promise<string | undefined> {
    const folder = this.#folder;
    const listed = await listFiles({ folder, commit, paths: [path] }, this.#signal);
    if (hasFailed(listed)) return this.#failed(listed.failure);
    const file = listed.files.find((each) => each.path === path);
    if (file === undefined) return undefined;
    const text = await readBlob({ folder, id: file.id, maxBytes: MAX_FILE_BYTES }, this.#signal);
    return typeof text === "string" ? text : this.#failed(text.failure);
  }

  #failed(why: Failure): undefined {
    this.failure ??= why;
    return undefined;
  }
}

const MAX_FILE_BYTES = 1024 * 1024;

/** A file that configures a gate's tools, by its name; of some files only a part counts. */
type GateFile = {
  /** The row applies if a command that the gate reaches names one of these tools. */
  readonly tool: RegExp;
  /** The path below a folder in which something is run. */
  readonly file: RegExp;
  readonly isDeep?: true;
  /** The part of its text that counts, and the name of that part. */
  readonly part?: { readonly of: (text: string) => string; readonly called: string };
};

const lines = (wanted: RegExp) => (text: string) =>
  text
    .split(/\r?\n/)
    .filter((line) => wanted.test(line))
    .join("\n");

/** The sections of a TOML or INI file whose name matches; all lines of a section, or those that match `keys`. */
const sections =
  (wanted: RegExp, keys: RegExp = /\S/) =>
  (text: string): string => {
    let isIn = false;
    return text
      .split(/\r?\n/)
      .filter((line) => {
        const [, name] = /^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}/.exec(line) ?? [];
        if (name !== undefined) isIn = wanted.test(name);
        return isIn && (name !== undefined || keys.test(line));
      })
      .join("\n");
  };

const JS =
  /\b(?:npm|pnpm|yarn|bunx?|npx|node|deno|jest|vitest|mocha|ava|tap|playwright|karma|cypress|tsx|turbo|nx|lerna)\b/;
const PYTHON = /\b(?:py\.?test|tox|nox|python[\d.]*|uv|poetry|hatch|pdm|pipenv|coverage)\b/;
const PYTEST = { called: "its pytest settings" };

const GATE_TOOLS: readonly GateFile[] = [
  {
    tool: JS,
    file: /^(?:(?:jest|vitest|karma|playwright|cypress|ava|wdio|web-test-runner)\.(?:config|conf|workspace|setup)\..+|\.mocharc(?:\..+)?|\.taprc|\.(?:nyc|c8)rc(?:\..+)?|bunfig\.toml)$/,
  },
  { tool: /\bvitest\b/, file: /^vite\.config\..+$/ },
  { tool: /\b(?:tsc|tsgo|vue-tsc|ts-node|ts-jest)\b/, file: /^tsconfig(?:\..+)?\.json$/ },
  { tool: /\b(?:babel|jest)\b/, file: /^(?:babel\.config\..+|\.babelrc(?:\..+)?)$/ },
  { tool: /\beslint\b/, file: /^(?:eslint\.config\..+|\.eslintrc(?:\..+)?|\.eslintignore)$/ },
  { tool: /\bbiome\b/, file: /^biome\.jsonc?$/ },
  {
    tool: JS,
    file: /^\.npmrc$/,
    part: {
      of: lines(/^\s*(?:script-shell|node-options|ignore-scripts|shell-emulator)\b/),
      called: "how scripts are run",
    },
  },
  {
    tool: /\byarn\b/,
    file: /^\.yarnrc(?:\.yml)?$/,
    part: { of: lines(/^\s*yarn-?path/i), called: "which yarn is run" },
  },
  { tool: /\b(?:turbo|nx|lerna)\b/, file: /^(?:turbo|nx|lerna)\.json$/ },
  {
    tool: /\bpnpm\b/,
    file: /^pnpm-workspace\.yaml$/,
    part: { of: lines(/^\s*-|^packages/), called: "its packages" },
  },
  {
    tool: PYTHON,
    file: /^(?:sitecustomize|usercustomize|pytest)\.py$/,
  },
  // pytest reads these files in each folder that has tests.
  { tool: PYTHON, file: /(?:^|\/)(?:conftest\.py|\.?pytest\.(?:ini|toml))$/, isDeep: true },
  { tool: PYTHON, file: /^pyproject\.toml$/, part: { of: sections(/^tool\.(?:pytest|tox)\b/), ...PYTEST } },
  { tool: PYTHON, file: /^setup\.cfg$/, part: { of: sections(/^(?:tool:)?pytest$/), ...PYTEST } },
  { tool: PYTHON, file: /^tox\.ini$/, part: { of: sections(/^pytest$/), ...PYTEST } },
  { tool: /\btox\b/, file: /^tox\.ini$/ },
  { tool: /\bnox\b/, file: /^noxfile\.py$/ },
  {
    tool: /\bcargo\b/,
    file: /(?:^|\/)Cargo\.toml$/,
    isDeep: true,
    part: { of: cargoTests, called: "which tests are built and run" },
  },
  { tool: /\bcargo\b/, file: /^(?:\.cargo\/config(?:\.toml)?|rust-toolchain(?:\.toml)?)$/ },
  { tool: /\bgo\b/, file: /^go\.mod$/, part: { of: lines(/^module\b/), called: "the module line" } },
  { tool: /\bgolangci-lint\b/, file: /^\.golangci\..+$/ },
  { tool: /\bjust\b/, file: /^\.?justfile$/i },
  { tool: /\btask\b/, file: /^Taskfile\.ya?ml$/ },
  { tool: /\brake\b/, file: /^Rakefile$/ },
  { tool: /\brspec\b/, file: /^\.rspec$/ },
  { tool: /\bphpunit\b/, file: /^phpunit\.xml(?:\.dist)?$/ },
];

/** The parts of Cargo.toml that affect tests, without dependencies and optimisation settings. */
function cargoTests(text: string): string {
  return [
    sections(/^test$|^profile\.test\b|^workspace$/, /^\s*(?!resolver\b)\S/)(text),
    sections(/^(?:lib|bin|package)$/, /^\s*(?:test|doctest|harness|autotests|build)\s*=/)(text),
  ]
    .join("\n")
    .replaceAll(/^\[(?:lib|bin|package)\]$/gm, "");
}

/**
 * Files that agents, CI, hooks and later runs obey. Instructions in prose (AGENTS.md and the like) change every
 * day, and do not count.
 */
const OBEYED: readonly (readonly [Obeyed, RegExp])[] = [
  ["agents", /^(?:skein\.ya?ml|\.mcp\.json|opencode\.jsonc?|\.(?:claude|codex|gemini|opencode|skein)\/.+)$/],
  [
    "ci",
    /^(?:\.gitlab-ci\.yml|azure-pipelines\.yml|bitbucket-pipelines\.yml|Jenkinsfile|\.travis\.yml|\.circleci\/.+|\.github\/(?:workflows|actions)\/.+)$/,
  ],
  ["hooks", /^(?:lefthook\.ya?ml|\.pre-commit-config\.yaml|\.(?:husky|githooks)\/.+)$/],
  ["shell", /^\.envrc$/],
];

const obeyedBy = (file: string): Obeyed | undefined => OBEYED.find(([, names]) => names.test(file))?.[0];
