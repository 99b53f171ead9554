/** Indexes a file so that it can be found: the terms of its name and content, and its imports. */
import path from "node:path";
import { countTerms, type TermCounts } from "./relevance.ts";

export type IndexedFile = {
  readonly path: string;
  readonly name: TermCounts;
  readonly content: TermCounts;
  /** The imports as written in the file. */
  readonly imports: readonly string[];
};

export function indexFile(file: string, text: string): IndexedFile {
  const isText = !text.slice(0, 1_000).includes("\0");
  return {
    path: file,
    name: countTerms(file.replace(/\.\w+$/, "")),
    content: countTerms(isText ? text.slice(0, MAX_CHARS) : ""),
    imports: isText ? importsIn(text) : [],
  };
}

const MAX_CHARS = 200_000;
const MAX_IMPORTS = 300;

const importsIn = (text: string): readonly string[] => {
  const found = [...text.slice(0, MAX_CHARS).matchAll(IMPORT)].slice(0, MAX_IMPORTS);
  return [...new Set(found.map(([, quoted, dotted]) => quoted ?? dotted!.replaceAll(".", "/")))];
};

/** `import … from "x"`, `require("x")`, `#include "x"`; Python's `from a.b import c`. */
const IMPORT =
  /^\s*(?:(?:import|export)\b[^"'\n;]*(?:from\s*)?|[^\n]*?\b(?:require|import)\(\s*|#\s*include\s*|\}\s*from\s*)["']([^"'\n]{1,300})["']|^\s*from\s+([\w.]{1,200})\s+import\b/gm;

/** For each file the indexes of the listed files that it imports; other imports are left out. */
export function importPlaces(files: readonly IndexedFile[]): readonly (readonly number[])[] {
  const places = new Map(files.map(({ path: file }, i) => [file, i]));
  return files.map(({ path: file, imports }) => {
    const folder = path.posix.dirname(file);
    return imports.flatMap((written) => {
      for (const name of [path.posix.join(folder, written), written])
        for (const ending of ENDINGS) {
          const place = places.get(name.replace(/\.js$/, ending === "" ? ".js" : "") + ending);
          if (place !== undefined && files[place]!.path !== file) return [place];
        }
      return [];
    });
  });
}

const ENDINGS = [
  "",
  ".ts",
  ".tsx",
  ".js",
  ".jsx",
  ".mjs",
  ".py",
  ".h",
  "/index.ts",
  "/index.js",
  "/__init__.py",
];
