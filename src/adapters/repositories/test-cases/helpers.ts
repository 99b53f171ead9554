/** Tells helper files of tests, which give them data or functions and check nothing, from test files. */
import path from "node:path";
import { languageOf } from "../code-lines.ts";
import { isNamedAsTest } from "../test-files.ts";
import { casesIn, fileAsCase } from "./cases.ts";
import { maskedBoth } from "./mask.ts";

type SourceFile = { readonly path: string; readonly text: string };

/** Whether a file without cases only helps files that have some. `loaded`: the result of `loadedByTests`. */
export function helpsTests(file: string, text: string, loaded: ReadonlySet<string>): boolean {
  const gives = GIVES[languageOf(file)];
  if (gives === undefined || isNamedAsTest(file) || casesIn(file, text).length > 0) return false;
  const { code } = maskedBoth(file, text);
  return gives.test(code) && (loaded.has(withoutEnding(file)) || fileAsCase(file, text).checks === 0);
}

/** How a file exports names. */
const GIVES: Readonly<Record<string, RegExp>> = {
  js: /^[ \t]*export\b|^[ \t]*(?:module\.)?exports\b/m,
  python: /^(?:async def|def|class)\b|^\w+\s*=/m,
};

/**
 * The files, without extension, from which files with cases import names. An import without names, which only runs the
 * other file, does not count.
 */
export function loadedByTests(files: readonly SourceFile[]): ReadonlySet<string> {
  const loaded = files.flatMap((file) => {
    const found = languageOf(file.path) === "js" ? loadedByJs(file) : [];
    return found.length > 0 && casesIn(file.path, file.text).length > 0 ? found : [];
  });
  return new Set(loaded);
}

const loadedByJs = ({ path: from, text }: SourceFile): readonly string[] =>
  [...text.matchAll(JS_IMPORT)].flatMap(([, one, other]) => {
    const to = path.posix.join(path.posix.dirname(from), one ?? other ?? "");
    return [withoutEnding(to), path.posix.join(to, "index")];
  });

/** Imports with names: `import { a } from "./b"`, `const { a } = require("./b")`. */
const JS_IMPORT =
  /\bfrom\s*["'](\.[^"'\n]{1,300})["']|=\s*(?:await\s+import|require)\(\s*["'](\.[^"'\n]{1,300})["']/g;

const withoutEnding = (file: string): string => file.replace(/\.[cm]?[jt]sx?$/, "");
