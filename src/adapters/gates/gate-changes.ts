/** Does a change touch what defines the gate, or what steers agents? Both sides are read and compared. */
import type { Failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { GateChange } from "../../core/rules/gate-changes.ts";
import { git } from "../git/git.ts";
import { listFiles, readBlob } from "../git/trees.ts";
import { GATE_FILES, isLockFile } from "./detect.ts";
import { GATE_TOOLS, type GateFile, STEERS } from "./gate-files.ts";
import { type GateReach, type ReadFile, reachOf } from "./gate-reach.ts";
import { scriptsOf, testSettingsOf } from "./package-json.ts";
import type { GateRules, Rules } from "./rules.ts";

type Sides = { readonly from: string; readonly to: string };

/** Empty if the gate means the same on both sides, and nothing that steers agents has changed. */
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
  const steering = [...changed.keys()]
    .filter((file) => STEERS.test(file))
    .map((file): GateChange => ({ of: "agents", file, what: file }));
  const before = await rules.of(from, signal);
  if (hasFailed(before)) return before;
  // Without a gate there is nothing to bypass.
  if (before.commands.length === 0 || changed.size === 0) return steering;
  const after = await rules.of(to, signal);
  if (hasFailed(after)) return after;
  const trees = new Trees(folder, { from, to }, changed, signal);
  const found = await compare({ before, after }, trees);
  if (trees.failure) return { failure: trees.failure };
  const own = found.map(({ file, what }): GateChange => ({ of: "gate", file, what }));
  return [...own, ...steering];
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
        // A lock file is in no scope; it belongs to its package.json.
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

/** In a folder in which something is run; or in any folder, if something is run in all packages. */
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

/** Changed settings of test runners; and if scripts are run in all packages, those scripts. */
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

/** Records of `--raw -z`: ":mode mode id id letter", then the path. */
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
  /** The first error: then nothing that was read counts. */
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

  /** A link or a folder is not a file; of a file that is too long, its beginning counts. */
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
