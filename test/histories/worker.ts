/** Makes a worker's changes for a planted task: right for the tree that it sees, except for planted faults. */
import type { Problem } from "../../src/core/rules/repair.ts";
import type { Outsider, Planted } from "./plant.ts";
import { type Files, linesOf, plainName, withLine, wrongWith } from "./tree.ts";
import type { Changes } from "./trees.ts";

export const ownFile = (key: string) => `src/${key}.txt`;

export function scopeOf({ key, makes }: Planted): readonly string[] {
  switch (makes.is) {
    case "shared":
      return [sharedFile(makes.line)];
    case "renames":
      return [ownFile(key), `src/lib${makes.lib}.txt`, `src/user${makes.lib}.txt`];
    case "plain":
      return makes.slot === undefined ? [ownFile(key)] : [ownFile(key), WIDE];
    default:
      return [ownFile(key)];
  }
}

const WIDE = "src/wide.txt";
const sharedFile = (line: number) => `src/shared${line}.txt`;

/** The changes of each commit of the branch; the last commit has everything. */
export function work(task: Planted, files: Files, attempt: number): readonly Changes[] {
  const { key, makes } = task;
  if (makes.is === "shared") return [markShared(files, makes.line, key)];
  const own = (...lines: readonly string[]) =>
    [`text: by ${key}`, ...lines].map((line) => `${line}\n`).join("");
  const drafts = Array.from(
    { length: task.commits - 1 },
    (_, i): Changes => new Map([[ownFile(key), own(`text: draft ${i}`)]]),
  );
  const elsewhere = makes.is === "renames" ? renamed(files, makes.lib) : slotOf(files, task);
  const whole = own(`mark: ${key}`, ...linesFor(task, files, attempt));
  return [...drafts, new Map([...elsewhere, [ownFile(key), whole]])];
}

function linesFor({ key, makes }: Planted, files: Files, attempt: number): readonly string[] {
  switch (makes.is) {
    case "bad":
      return attempt <= makes.times
        ? [`${makes.how}: ${makes.how === "needs" ? "nothing of " : ""}${key}`]
        : [];
    case "uses":
      return [`needs: ${provides(files, `lib${makes.lib}`) ? "" : "new-"}lib${makes.lib}`];
    case "takes":
      return roomIn(files, makes.pool) > 0 ? [`takes: pool${makes.pool}`] : [];
    case "offers":
      return [`provides: part${makes.part}`];
    case "wants":
      return attempt === 1 || provides(files, `part${makes.part}`) ? [`needs: part${makes.part}`] : [];
    default:
      return [];
  }
}

const provides = (files: Files, name: string) =>
  linesOf(files).some(({ word, rest }) => word === "provides:" && rest === name);

function roomIn(files: Files, pool: number): number {
  const lines = [...linesOf(files)];
  const taken = lines.filter(({ word, rest }) => word === "takes:" && rest === `pool${pool}`).length;
  const room = lines.find(({ word, rest }) => word === "room:" && rest.startsWith(`pool${pool} `));
  return Number(room?.rest.split(" ")[1] ?? 0) - taken;
}

/** The old name stays if another file uses it by now. */
function renamed(files: Files, lib: number): Changes {
  const [libFile, userFile] = [`src/lib${lib}.txt`, `src/user${lib}.txt`];
  const isUsed = linesOf(files).some(
    ({ path, word, rest }) => path !== userFile && word === "needs:" && rest === `lib${lib}`,
  );
  const after = isUsed ? `provides: lib${lib}\nprovides: new-lib${lib}` : `provides: new-lib${lib}`;
  return new Map([
    [libFile, withLine(files, libFile, `provides: lib${lib}`, after)],
    [userFile, withLine(files, userFile, `needs: lib${lib}`, `needs: new-lib${lib}`)],
  ]);
}

function slotOf(files: Files, { key, makes }: Planted): Changes {
  if (makes.is !== "plain" || makes.slot === undefined) return new Map();
  const [before, after] = [`slot: ${makes.slot} free`, `slot: ${makes.slot} of ${key}`];
  return new Map([[WIDE, withLine(files, WIDE, before, after)]]);
}

function markShared(files: Files, line: number, key: string): Changes {
  const path = sharedFile(line);
  const now = [...linesOf(files)].find((found) => found.path === path && found.word === "mark:")!;
  const before = now.rest === "" ? "mark:" : `mark: ${now.rest}`;
  return new Map([[path, withLine(files, path, before, `${before} ${key}`)]]);
}

/** The number of attempts so far, by failure. */
export type Tried = Map<string, number>;

export type Wanted = {
  readonly repairs: readonly string[];
  readonly scope: readonly string[];
  readonly files: Files;
  /** One failure hides others here, so a fix that broke something else would not be seen; it breaks nothing. */
  readonly staged: boolean;
};

/**
 * Makes a fix: it mends one of its failures that is still there, unless that failure is too stubborn yet. An attempt in
 * vain leaves a trace; every second one of these mends the failure but breaks something else.
 */
export function mend(wanted: Wanted, stubborn: ReadonlyMap<string, number>, tried: Tried): Changes {
  const { repairs, scope, files, staged } = wanted;
  const wrong = wrongWith(files);
  const there = repairs.map(plainName).find((name) => wrong.has(name));
  const path = (there === undefined ? undefined : wrong.get(there)!.files[0]) ?? scope[0]!;
  if (there === undefined) return new Map([[path, withLine(files, path, undefined, "text: nothing found")]]);
  const times = (tried.get(there) ?? 0) + 1;
  tried.set(there, times);
  const text = mended(files, path, wrong.get(there)!);
  if (times > (stubborn.get(there) ?? 0)) return new Map([[path, text]]);
  return times % 2 === 0 && !staged
    ? new Map([[path, `${text}fails: worse in ${path} ${times}\n`]])
    : new Map([[path, withLine(files, path, undefined, `text: tried ${times}`)]]);
}

function mended(files: Files, path: string, { name }: Problem): string {
  const what = name.slice(name.indexOf(": ") + 2);
  const room = /^room in (.*)$/.exec(what)?.[1];
  if (room !== undefined) {
    const line = [...linesOf(files)].find(
      ({ word, rest }) => word === "room:" && rest.startsWith(`${room} `),
    )!;
    return withLine(
      files,
      path,
      `room: ${line.rest}`,
      `room: ${room} ${Number(line.rest.split(" ")[1]) + 3}`,
    );
  }
  const missing = / needs (.*)$/.exec(what)?.[1];
  const gone =
    missing !== undefined ? [`needs: ${missing}`] : [`fails: ${what}`, `broken: ${what}`, `<<<<<<< ${what}`];
  return gone.reduce(
    (text, line) => withLine(new Map([[path, text]]), path, line, ""),
    files.get(path) ?? "",
  );
}

/** The commit of another person, on top of the target. */
export function outside(what: Outsider["what"], n: number, files: Files): Changes {
  const path = `src/outside${n}.txt`;
  const own = (line: string) => new Map([[path, `mark: outside${n}\n${line}\n`]]);
  switch (what) {
    case "green":
      return own("text: all is well");
    case "red":
      return own(`fails: outside ${n}`);
    case "takes":
      return own("takes: pool0");
    case "shared":
      return markShared(files, n % 2, `outside${n}`);
  }
}
