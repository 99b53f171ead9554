/** Reads which tests failed under `node --test`, from its spec and its TAP reporter, with the same names for both. */
import { failedTest, subjectOf } from "./cause.ts";
import { crashesIn } from "./crash.ts";
import type { Finds, ToolProblem } from "./found.ts";
import { block, frames, gist, isFile, type Reader, type Sheet } from "./sheet.ts";

export const nodeSpec: Reader = {
  mark: /^✖ failing tests:$/,
  read(sheet, finds) {
    const { lines } = sheet;
    const crashes = crashesByFile(sheet);
    const tree = new Tree();
    let isRecap = false;
    for (const [i, line] of lines.entries()) {
      if (line === "✖ failing tests:") isRecap = true;
      else if (!isRecap) tree.take(line);
      const place = PLACE.exec(line);
      const title = isRecap && place ? /^✖ (.*)$/.exec(lines[i + 1] ?? "")?.[1] : undefined;
      if (title === undefined) {
        if (isRecap && /^▶ |^ℹ tests \d/.test(line)) isRecap = false; // The output of another run begins.
        continue;
      }
      const told = block(lines, i + 2, (next) => PLACE.test(next) || (next !== "" && !next.startsWith(" ")));
      const file = place![1]!;
      const leaf = withoutTime(title);
      const stack = told.findIndex((each) => /^\s+at /.test(each));
      const message = gist(stack === -1 ? told : told.slice(0, stack)).replace(/^'(.*)'$/, "$1");
      addTest({ sheet, finds, crashes }, { file, path: tree.pathOf(leaf), at: place![0], message, told });
    }
  },
};

const PLACE = /^(?:test|suite|hook) at (\S.{0,999}?):\d{1,9}:\d{1,9}$/;
/** A title of the spec reporter, without its duration. */
export const withoutTime = (title: string) => title.replace(/ \(\d{1,12}(?:\.\d{1,12})?ms\)(?: # .*)?$/, "");

/** The test tree: the recap names only the innermost test, and the tree above it shows its suites. */
class Tree {
  readonly #suites: string[] = [];
  readonly #paths = new Map<string, string[]>();

  take(line: string): void {
    const match = /^((?: {2}){0,40})([▶✖]) (.*)$/.exec(line);
    if (!match) return;
    const depth = match[1]!.length / 2;
    const name = withoutTime(match[3]!);
    this.#suites.length = Math.min(this.#suites.length, depth);
    if (match[2] === "▶") {
      this.#suites[depth] = name;
      return;
    }
    const path = [...this.#suites.slice(0, depth), name].join(" > ");
    this.#paths.set(name, [...(this.#paths.get(name) ?? []), path].slice(0, MAX_TWINS));
  }

  /** The full name of a test. Equal names are taken in the order of the tree, which is also that of the recap. */
  pathOf(leaf: string): string {
    const paths = this.#paths.get(leaf);
    const path = paths?.[0] ?? leaf;
    if (paths && paths.length > 1) this.#paths.set(leaf, paths.slice(1));
    return path;
  }
}

/** How many tests with the same name are told apart by their suites. */
const MAX_TWINS = 100;

export const nodeTap: Reader = {
  mark: /^\s*not ok \d/,
  read(sheet, finds) {
    const { lines } = sheet;
    const crashes = crashesByFile(sheet);
    const suites: string[] = [];
    for (const [i, line] of lines.entries()) {
      const match = TAP_LINE.exec(line);
      if (!match) continue;
      const depth = Math.floor(match[1]!.length / 4);
      const name = match[3]!.replace(/\\([#\\])/g, "$1");
      if (match[2] === "# Subtest:") {
        suites.length = Math.min(suites.length, depth);
        suites[depth] = name;
      } else if (!/ # (?:TODO|SKIP)\b/i.test(match[3]!)) {
        const told = block(lines, i + 1, (next) => next.trim() === "..." || TAP_LINE.test(next));
        const at = field(told, "location");
        const path = [...suites.slice(0, depth), name].filter(isFile).join(" > ");
        const message = field(told, "error");
        const file = at.replace(/:\d{1,9}:\d{1,9}$/, "");
        const stack = told.map((each) => `at ${each.trim()}`);
        addTest({ sheet, finds, crashes }, { file, path, at, message, told: stack });
      }
    }
  },
};

const TAP_LINE = /^((?: {4}){0,40})(# Subtest:|not ok \d{1,9}(?: -)?) ?(.*)$/;

/** A field of the block below a test: quoted, or on its own lines. */
function field(told: readonly string[], name: string): string {
  const i = told.findIndex((line) => line.trimStart().startsWith(`${name}: `));
  if (i === -1) return "";
  const value = told[i]!.trimStart().slice(name.length + 2);
  if (!value.startsWith("|")) return value.replace(/^'(.*)'$/, "$1");
  const depth = told[i]!.search(/\S/);
  return gist(block(told, i + 1, (line) => line.trim() !== "" && line.search(/\S/) <= depth));
}

type ToldTest = {
  readonly file: string;
  readonly path: string;
  readonly at: string;
  readonly message: string;
  readonly told: readonly string[];
};

function addTest({ sheet, finds, crashes }: Reading, { file, path, at, message, told }: ToldTest): void {
  // The test was cancelled because its parent failed, or failed only because of its subtests.
  if (/did not finish before its parent|^\d+ subtests? failed/.test(message)) return;
  const place = sheet.place(file);
  const crash = place === path ? crashes.get(path) : undefined;
  if (crash) {
    finds.add({ ...crash, name: path, files: [...crash.files, ...subjectOf(path, sheet)] });
    return;
  }
  const name = place === undefined || place === path ? path : `${place} > ${path}`;
  const failed = failedTest(sheet, { name, place, others: frames(told, sheet), text: message });
  finds.add(place === path ? { ...failed, hides: true } : failed, at); // The file ended before its tests did.
}

type Reading = {
  readonly sheet: Sheet;
  readonly finds: Finds;
  /** Crashes by the file that crashed. */
  readonly crashes: ReadonlyMap<string, ToolProblem>;
};

const crashesByFile = (sheet: Sheet): ReadonlyMap<string, ToolProblem> =>
  new Map(crashesIn(sheet).flatMap((crash) => crash.files.slice(0, 1).map((file) => [file, crash])));
