/** Finds the cause that several failures share: a missing module, export or name, as tools report it. */
import type { ProblemClass } from "../../../core/rules/repair.ts";
import type { ToolProblem } from "./found.ts";
import { isFile, type Sheet } from "./sheet.ts";

/** The cause, in the same words for every tool; undefined if a message concerns only its own place. */
export const causeOf = (message: string, file: string): string | undefined =>
  firstCause(SHAPES, message, file);

export function firstCause(shapes: readonly CauseShape[], message: string, file = ""): string | undefined {
  const text = message.slice(0, MAX_READ_CHARS);
  for (const [shape, say] of shapes) {
    const match = shape.exec(text);
    if (match) return say(match.slice(1), file);
  }
  return undefined;
}

const MAX_READ_CHARS = 2_000;

export type CauseShape = readonly [RegExp, (parts: readonly string[], file: string) => string];

const SHAPES: readonly CauseShape[] = [
  [
    /Cannot find (?:module|package) '([^']{1,500})'(?: imported)? from '?([^'\s]{1,500})/,
    ([spec, from]) => missingModule(spec!, from!),
  ],
  [/Cannot find (?:module|package) '([^']{1,500})'/, ([spec], file) => missingModule(spec!, file)],
  [
    /module '([^']{1,500})' does not provide an export named '([^']{1,200})'/,
    ([spec, name], file) => missingExport(name!, resolved(spec!, file)),
  ],
  [/No module named '([^']{1,200})'/, ([name]) => `module ${name} is missing`],
  [/cannot import name '([^']{1,200})' from '([^']{1,200})'/, ([name, from]) => missingExport(name!, from!)],
  [/'([^']{1,200})' object has no attribute '([^']{1,200})'/, ([of, name]) => `${name} of ${of} is missing`],
  [/module '([^']{1,200})' has no attribute '([^']{1,200})'/, ([of, name]) => missingExport(name!, of!)],
  [/\bname '([^']{1,200})' is not defined/, ([name]) => `name ${name} is missing`],
  [/^(?:\S{1,200} )?([\w$.]{1,200}) is not defined/m, ([name]) => `name ${name} is missing`],
  [/^(?:\S{1,200} )?([\w$.]{1,200}) is not a (?:function|constructor)/m, ([name]) => `${name} is missing`],
];

export const missingModule = (spec: string, from: string) => `module ${resolved(spec, from)} is missing`;
export const missingExport = (name: string, of: string) => `export ${name} of ${of} is missing`;

/** A relative module by its path in the workspace without extension, so that every importer gives the same name. */
export function resolved(spec: string, from: string): string {
  const parts = spec.startsWith(".") ? from.split("/").slice(0, -1) : [];
  for (const part of spec.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/").replace(/\.(?:[cm]?[jt]sx?|json)$/, "");
}

const ENDINGS = [".ts", ".tsx", ".mts", ".js", ".jsx", ".mjs", ".cjs", "/index.ts", "/index.js"];

/** The file behind a relative module, if it can be found. */
export const sourceOf = (spec: string, from: string, sheet: Sheet): string | undefined =>
  spec.startsWith(".") ? sheet.first(ENDINGS.map((end) => resolved(spec, from) + end)) : undefined;

/** The source that a test is about, by convention: sum.test.ts → sum.ts, test_sum.py → sum.py. */
export function subjectOf(test: string, sheet: Sheet): readonly string[] {
  const slash = test.lastIndexOf("/") + 1;
  const [folder, name] = [test.slice(0, slash), test.slice(slash)];
  const subject = name
    .replace(/[.-](?:test|spec)(?=\.[^.]+$)/, "")
    .replace(/_(?:test|spec)(?=\.[^.]+$)/, "")
    .replace(/^test_/, "");
  const above = folder.replace(/(?:^|(?<=\/))(?:__tests__|tests?|spec)\/$/, "");
  if (subject === name && above === folder) return [];
  const folders = [folder, above, `${above}src/`, `${above}lib/`];
  const found = sheet.first(folders.map((place) => place + subject).filter((path) => path !== test));
  return found === undefined ? [] : [found];
}

type TestFailure = {
  readonly name: string;
  readonly place: string | undefined;
  /** Other files in the stack trace, innermost first. */
  readonly others: readonly string[];
  readonly text: string;
  readonly message?: string;
  /** Whether its file could not even be loaded. */
  readonly isUnloaded?: boolean;
};

/** Makes the problem of a failed test. The file that the test is about is named last. */
export function failedTest(sheet: Sheet, failed: TestFailure): ToolProblem {
  const { name, place, others, text, message = text, isUnloaded = false } = failed;
  return {
    class: isUnloaded ? classOfUnloaded(text) : "tests",
    name,
    files: [place, ...others, ...(place ? subjectOf(place, sheet) : [])].filter(isFile),
    message,
    cause: causeOf(text, place ?? ""),
    ...(isUnloaded && { hides: true }),
  };
}

/** A test file that could not be loaded is a build problem. */
export const classOfUnloaded = (message: string): ProblemClass =>
  /SyntaxError|IndentationError|Cannot find (?:module|package)|ModuleNotFoundError|ImportError|Failed to (?:parse|resolve|load)|Transform failed|does not provide an export|ERR_MODULE_NOT_FOUND/.test(
    message.slice(0, MAX_READ_CHARS),
  )
    ? "build"
    : "tests";
