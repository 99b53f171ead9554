/** Adds to a failing test the sources that it imports, because a fix of the test alone can only weaken it. */
import path from "node:path";
import { readShort } from "../files/read-bounded.ts";
import { isTestFile } from "../repositories/test-files.ts";
import { isReachedInside } from "../workspaces/folders.ts";
import { sourceOf } from "./tool-output/cause.ts";
import type { ToolProblem } from "./tool-output/found.ts";

/**
 * Adds the imported sources to failures that name only tests. If there are none, no file is named, so that the fix
 * may search for the place itself.
 */
export async function withTestedFiles(
  failures: readonly ToolProblem[],
  folder: string,
  has: (file: string) => boolean,
): Promise<readonly ToolProblem[]> {
  const namesOnlyTests = ({ class: kind, files }: ToolProblem) =>
    kind === "tests" && files.length > 0 && files.every(isTestFile);
  const tested = new Map<string, readonly string[]>();
  for (const test of new Set(failures.filter(namesOnlyTests).flatMap(({ files }) => files)))
    tested.set(test, importsOf(await textInside(folder, test), test, has));
  return failures.map((found) => {
    if (!namesOnlyTests(found)) return found;
    const sources = [...new Set(found.files.flatMap((test) => tested.get(test) ?? []))];
    return { ...found, files: sources.length === 0 ? [] : [...found.files, ...sources] };
  });
}

/**
 * The text of a test file. A worker wrote the file and the output that names it, so it may be a link or a device,
 * or lie behind one; such a file counts as empty.
 */
export async function textInside(folder: string, test: string): Promise<string> {
  return (await isReachedInside(folder, test)) ? readShort(path.join(folder, test), MAX_BYTES) : "";
}

/** Imported sources of this project, without tests and test helpers, where a fix would weaken the test as well. */
function importsOf(text: string, test: string, has: (file: string) => boolean): readonly string[] {
  const first = (candidates: readonly string[]) => candidates.find(has);
  const sheet = { lines: [], place: (written: string) => written, first };
  const relative = [...text.matchAll(JAVASCRIPT)].map(([, spec = ""]) => sourceOf(spec, test, sheet));
  const modules = test.endsWith(".py")
    ? [...text.matchAll(PYTHON)].flatMap(([, name = "", names = ""]) => modulesOf(name, names, first))
    : [];
  const files = [...relative, ...modules].filter((file) => file !== undefined);
  return [...new Set(files)].filter((file) => !isOfTests(file)).slice(0, MAX_IMPORTS);
}

const JAVASCRIPT = /(?:from|import|require\(|import\()\s*["'](\.[^"'\n]{1,300})["']/g;
const PYTHON = /^(?:from|import)[ \t]+([A-Za-z_][\w.]{0,200})(?:[ \t]+import[ \t]+\(?([\w, \t]{1,500}))?/gm;
const isOfTests = (file: string) => isTestFile(file) || OF_TESTS.test(file);
const OF_TESTS = /(?:^|\/)(?:(?:tests?|__tests__|specs?|e2e)\/|conftest\.py$)/i;

/**
 * Reads `from pkg import sums`: the imported name may be a module itself, and then pkg/__init__.py is not the
 * source.
 */
function modulesOf(
  name: string,
  names: string,
  first: (candidates: readonly string[]) => string | undefined,
): readonly (string | undefined)[] {
  const imported = [...names.matchAll(/(?:^|,)\s*(\w+)/g)].map(([, one]) => first(asFiles(`${name}.${one}`)));
  const inner = imported.filter((file) => file !== undefined);
  return inner.length > 0 ? inner : [first(asFiles(name))];
}

const asFiles = (name: string): readonly string[] => {
  const base = name.replaceAll(".", "/");
  return ["", "src/", "lib/"].flatMap((top) => [`${top}${base}.py`, `${top}${base}/__init__.py`]);
};

/** A fix touches few files, and the test is one of them. */
const MAX_IMPORTS = 2;
const MAX_BYTES = 500_000;
