/** Judges trees of made-up files, whose lines say what they provide and need, and so what fails. */
import type { GateReport } from "../../src/core/gate.ts";
import type { Problem, ProblemClass } from "../../src/core/rules/repair.ts";

/** Paths with their texts. */
export type Files = ReadonlyMap<string, string>;

/**
 * The meaning of lines; all other lines are only text.
 *
 *   mark: a b        the tasks that changed this line, each once
 *   provides: x      needs: x        what is needed must be provided by some file
 *   room: p 2        takes: p        at most as many lines take as there is room for
 *   fails: x         broken: x       the tree fails by this line alone
 *   <<<<<<< x                        a conflict that was committed
 */
const COMMANDS = ["markers", "build", "types", "test"] as const;
type Command = (typeof COMMANDS)[number];

const CLASSES: Record<Command, ProblemClass> = {
  markers: "conflict-markers",
  build: "build",
  types: "types",
  test: "tests",
};

export type Line = { readonly path: string; readonly word: string; readonly rest: string };

export function* linesOf(files: Files): Generator<Line> {
  for (const [path, text] of files) {
    for (const line of text.split("\n")) {
      const [, word = "", rest = ""] = /^(<<<<<<<|[a-z]+:) ?(.*)$/.exec(line) ?? [];
      if (word !== "") yield { path, word, rest };
    }
  }
}

/** What is wrong with a tree, by the name in a gate's report. */
export function wrongWith(files: Files): ReadonlyMap<string, Problem> {
  const lines = [...linesOf(files)];
  const rests = (word: string) => lines.filter((line) => line.word === word);
  const provided = new Set(rests("provides:").map(({ rest }) => rest));
  const found = new Map<string, Problem>();
  const add = (command: Command, what: string, paths: readonly string[]) => {
    const name = `${command}: ${what}`;
    found.set(name, { class: CLASSES[command], name, files: paths, message: `${what} is wrong` });
  };
  for (const { path, word, rest } of lines) {
    if (word === "<<<<<<<") add("markers", rest, [path]);
    if (word === "broken:") add("build", rest, [path]);
    if (word === "fails:") add("test", rest, [path]);
    if (word === "needs:" && !provided.has(rest)) add("types", `${path} needs ${rest}`, [path]);
    if (word !== "room:") continue;
    const [pool = "", room = ""] = rest.split(" ");
    const takers = rests("takes:").filter((line) => line.rest === pool);
    if (takers.length > Number(room)) add("test", `room in ${pool}`, [path]);
  }
  return found;
}

/** A gate's report with each command and what fails in it. */
export const reportOf = (failures: Iterable<string>): GateReport => {
  const names = [...failures];
  const commands = COMMANDS.map((name) => {
    const own = names.filter((failed) => failed.startsWith(`${name}: `));
    return { name, green: own.length === 0, failures: own.map((failed) => failed.slice(name.length + 2)) };
  });
  return { commands };
};

/** The report of one command with steps, which ends at its first step that fails, so that later failures are hidden. */
export function stagedReportOf(failures: Iterable<string>): GateReport {
  const names = [...failures];
  const step = COMMANDS.find((name) => names.some((failed) => failed.startsWith(`${name}: `)));
  const shown = step === undefined ? [] : names.filter((failed) => failed.startsWith(`${step}: `));
  const classes = step === undefined ? [] : [CLASSES[step]];
  return { commands: [{ name: WHOLE, green: shown.length === 0, failures: shown, classes }] };
}

const WHOLE = "all";

/** A failure's name in the tree, whichever command has reported it. */
export const plainName = (name: string): string => name.replace(new RegExp(`^${WHOLE}: `), "");

/** How often each task has left its mark. */
export function marksIn(files: Files): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { word, rest } of linesOf(files)) {
    if (word !== "mark:") continue;
    for (const who of rest.split(" ").filter((text) => text !== "")) {
      counts.set(who, (counts.get(who) ?? 0) + 1);
    }
  }
  return counts;
}

/** The text of a file with one line replaced, or with a line added at its end. */
export function withLine(files: Files, path: string, before: string | undefined, after: string): string {
  const text = files.get(path) ?? "";
  if (before === undefined) return `${text}${after}\n`;
  const lines = text
    .split("\n")
    .flatMap((line) => (line === before ? (after === "" ? [] : [after]) : [line]));
  return lines.join("\n");
}
