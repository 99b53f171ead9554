/** Reads the errors of compilers and linters from their output, each at its place; warnings are ignored. */
import type { ProblemClass } from "../../../core/rules/repair.ts";
import { type CauseShape, firstCause, missingExport, missingModule, resolved, sourceOf } from "./cause.ts";
import { steady, type ToolProblem } from "./found.ts";
import { block, gist, isFile, lineReader, type Reader, type Sheet } from "./sheet.ts";

type ErrorAt = {
  readonly written: string;
  /** The path in the workspace, if it is not simply `written`. */
  readonly place?: string | undefined;
  readonly at?: string;
  readonly rule?: string | undefined;
  readonly text: string;
  readonly message?: string;
  readonly cause?: string | undefined;
  /** True if the compiler stops there; false for a linter, which reads the other files. */
  readonly hides: boolean;
};

/** Names an error by its file, its rule and its message, without line numbers. */
function errorAt(sheet: Sheet, error: ErrorAt): ToolProblem & { readonly at: string } {
  const { written, rule, text, at = "", message = text, cause, hides } = error;
  const place = error.place ?? sheet.place(written);
  const where = [place ?? steady(written), rule?.trim()].filter((part) => part).join(" ");
  const name = `${where}: ${steady(text)}`;
  const files = [place].filter(isFile);
  return { class: "build", name, files, message, cause, hides, at: `${written}:${at}` };
}

/** One problem for each file with conflict markers, whichever tool reports it. */
function conflictMarker(sheet: Sheet, written: string, place = sheet.place(written)): ToolProblem {
  return {
    class: "conflict-markers",
    name: `${steady(place ?? written)}: conflict marker`,
    files: [place].filter(isFile),
    message: `${place ?? written} holds conflict markers`,
    hides: true,
  };
}

/** `git diff --check`. The caller knows which files hold markers on purpose. */
export const markers = lineReader(
  /^(\S.{0,999}?):\d{1,9}: leftover conflict marker$/,
  ([, file = ""], sheet) => conflictMarker(sheet, file),
);

/** Reads tsc in its plain and its pretty form. */
export const typescript = lineReader(
  /^(?:(?<file>\S.{0,999}?)(?:\((?<at>\d{1,9},\d{1,9})\):|:(?<at>\d{1,9}:\d{1,9}) -) )?error (?<code>TS\d{1,6}): (?<text>.*)$/,
  ({ groups = {} }, sheet, i) => {
    const { file = "", at = "", code = "", text = "" } = groups;
    if (code === "TS1185") return conflictMarker(sheet, file);
    const more = block(sheet.lines, i + 1, (next) => !/^(?: {2}|$|\d+ | *~)/.test(next), 12);
    const related = more.map((next) => sheet.place(RELATED.exec(next)?.[1] ?? ""));
    const { cause, spec } = typescriptCause(code, text, file);
    const source = spec === undefined ? undefined : sourceOf(spec, file, sheet);
    const message = gist([`${code}: ${text}`, ...more.filter((next) => /^ {2}[A-Z]/.test(next))], 4);
    const hides = typescriptClass(code) === "build";
    const found = errorAt(sheet, { written: file, at, rule: code, text, message, cause, hides });
    const files = [...found.files, source, ...related].filter(isFile);
    return { ...found, class: typescriptClass(code), files };
  },
);

const RELATED = /^ {2}(\S.{0,999}?):\d{1,9}:\d{1,9}(?: - .*)?$/;

/** 1xxx are syntax errors; 5xxx, 6xxx and 18003 concern what the compiler was told to compile. */
const typescriptClass = (code: string): ProblemClass =>
  /^TS(?:1\d{3}|5\d{3}|6\d{3}|18003)$/.test(code) ? "build" : "types";

/** A cause only if the message names what is missing: two values of wrong types have nothing else in common. */
function typescriptCause(code: string, text: string, file: string): { cause?: string; spec?: string } {
  const quoted = Array.from(text.matchAll(/'("?)([^']{1,200}?)\1'/g), (match) => match[2]!);
  const [first = "", second = ""] = quoted;
  switch (code) {
    case "TS2305": // Module has no exported member
    case "TS2459": // declares it locally, but it is not exported
    case "TS2614":
    case "TS2724": // the same, "did you mean"
      return second === "" ? {} : { cause: missingExport(second, resolved(first, file)), spec: first };
    case "TS2307": // Cannot find module
    case "TS2792":
    case "TS7016":
      return { cause: missingModule(first, file), spec: first };
    case "TS2304": // Cannot find name
    case "TS2552":
    case "TS2503":
      return { cause: `name ${first} is missing` };
    case "TS2339": // Property does not exist on type
    case "TS2551":
    case "TS2353": // Object literal may only specify known properties
      return { cause: `property ${first} of ${second} is missing` };
    default:
      return {};
  }
}

export const rustc = lineReader(/^error(?:\[(E\d{1,6})\])?: (.*)$/, ([line, rule, text = ""], sheet, i) => {
  const told = block(sheet.lines, i + 1, (next) => next === "", 20);
  const [, written, at] = told.map((next) => RUST_AT.exec(next)).find((match) => match !== null) ?? [];
  if (written === undefined || at === undefined) return undefined; // A summary line, or the output of another tool.
  if (/encountered diff marker/.test(text)) return conflictMarker(sheet, written);
  const message = gist([line, ...told.filter((next) => /\^|= (?:note|help)/.test(next))], 3);
  const names = Array.from(text.matchAll(/`([^`]{1,200})`/g), (match) => match[1]).join(" ");
  const cause = rule !== undefined && RUST_MISSING.has(rule) ? `${rule} ${names}` : undefined;
  return errorAt(sheet, { written, at, rule, text, message, cause, hides: true });
});

const RUST_AT = /^ *--> (\S.{0,999}?):(\d{1,9}:\d{1,9})$/;
/** Errors about missing things: a name, an import, a method, a field, a type, a module's file; or a private one. */
const RUST_MISSING: ReadonlySet<string> = new Set([
  ...["E0405", "E0407", "E0412", "E0423", "E0425", "E0432", "E0433", "E0531", "E0560", "E0583", "E0599"],
  ...["E0603", "E0609", "E0616"],
]);

export const GO_ERROR = /^(?:vet: )?([^\s:]{1,1000}\.go):(\d{1,9}(?::\d{1,9})?): (.*)$/;

export const go = lineReader(GO_ERROR, ([line, written = "", at = "", text = ""], sheet, i) => {
  const isLint = LINTER_AT_END.test(text) || (!line.startsWith("vet: ") && isVetFinding(sheet.lines, i));
  return errorAt(sheet, { written, at, text, cause: firstCause(GO_CAUSES, text), hides: !isLint });
});

/** `golangci-lint` and `staticcheck` end a line with the rule: "(errcheck)", "(SA4006)". */
const LINTER_AT_END = / \([a-zA-Z][\w-]{1,40}\)$/;

/** `go vet` prints findings of a package that it could load below "# [name of the package]". */
function isVetFinding(lines: readonly string[], i: number): boolean {
  const head = lines.slice(Math.max(0, i - MAX_VET_LINES), i).findLast((line) => line.startsWith("# "));
  return head?.startsWith("# [") ?? false;
}

const MAX_VET_LINES = 500;

const GO_CAUSES: readonly CauseShape[] = [
  [/^undefined: (\S{1,200})/, ([name]) => `name ${name} is missing`],
  [/\(type (\S{1,200}) has no field or method (\w{1,200})/, ([of, name]) => `${name} of ${of} is missing`],
  [
    /(?:no required module provides|cannot find module providing) package ([^\s:;]{1,500})/,
    ([name]) => `module ${name} is missing`,
  ],
  [/^package (\S{1,500}) is not in/, ([name]) => `module ${name} is missing`],
];

/** Reads gcc, clang, javac and similar compilers, and the linker. */
export const gcc: Reader = {
  mark: /:\d{1,9}: (?:fatal )?error: |undefined (?:reference to|symbol: )|multiple definition of|ld: cannot find -l/,
  read(sheet, finds) {
    const { lines } = sheet;
    const folders: string[] = [];
    for (const [i, line] of lines.entries()) {
      enter(line, folders);
      const linked = LINKER.exec(line)?.[0];
      if (linked !== undefined) {
        // The place is an object file with a temporary name; only the symbol counts.
        const near = /\((\S{1,1000}?):\d{1,9}\)$/.exec(lines[i + 1] ?? "")?.[1] ?? "";
        const [cause, files] = [steady(linked), [sheet.place(near)].filter(isFile)];
        finds.add({ class: "build", name: cause, files, message: line, cause, hides: true });
        continue;
      }
      const [, short = "", at = "", text = ""] = C_ERROR.exec(line) ?? [];
      if (short === "") continue;
      const written = folders.length === 0 ? short : `${folders.at(-1)}/${short}`;
      const includers = lines
        .slice(Math.max(0, i - 10), i)
        .map((above) => sheet.place(FROM.exec(above)?.[1] ?? ""));
      const place = sheet.place(written) ?? includers.findLast(isFile);
      const message = gist([text, ...block(lines, i + 1, (next) => !/^\s*\d* \|/.test(next), 2)], 3);
      const found = errorAt(sheet, { written, place, at, text, message, cause: cCause(text), hides: true });
      if (/conflict marker/.test(text)) finds.add(conflictMarker(sheet, written, place));
      else finds.add(found, found.at);
    }
  },
};

const C_ERROR = /^([^\s:][^:]{0,999}):(\d{1,9}(?::\d{1,9})?): (?:fatal )?error: (.*)$/;
const FROM = /^(?:In file included from|\s{1,40}from) ([^\s:]{1,1000}):\d/;
const LINKER =
  /undefined reference to [`'‘"][^'’"]{1,300}['’"]|undefined symbol: \S.{0,300}|multiple definition of [`'‘"][^'’";]{1,300}['’"]|ld: cannot find -l\S{1,100}/;

/** Inside `make -C folder`, paths are relative to that folder. */
function enter(line: string, folders: string[]): void {
  const [, verb, folder] =
    /^\w{0,20}make(?:\[\d{1,4}\])?: (Entering|Leaving) directory [`'‘](.{1,1000})['’]$/.exec(line) ?? [];
  if (verb === "Leaving") folders.pop();
  else if (folder !== undefined && folders.length < 1_000) folders.push(folder);
}

function cCause(text: string): string | undefined {
  const member = /no member named [‘'`"]([^’'"]{1,200})[’'"](?: in [‘'`"]([^’'"]{1,200}))?/.exec(text);
  if (member === null) return firstCause(C_CAUSES, text);
  const owner = member[2] ?? /^[‘'`"]([^’'"]{1,200})/.exec(text)?.[1] ?? "";
  return `${member[1]} of ${owner.replace(/^(?:const )?(?:struct|class|union) /, "")} is missing`;
}

const C_CAUSES: readonly CauseShape[] = [
  [/^([^\s:]{1,500}): No such file or directory$/, ([file]) => `header ${file} is missing`],
  [
    /^(?:use of undeclared identifier )?[‘'`"]([^’'"]{1,200})[’'"](?: (?:undeclared|was not declared)|$)/,
    ([name]) => `name ${name} is missing`,
  ],
];

export const eslint: Reader = {
  mark: /^✖ \d{1,9} problems? \(/,
  read(sheet, finds) {
    let written = "";
    for (const line of sheet.lines) {
      if (/^\S/.test(line)) written = line;
      const [, at, row = ""] = /^ {2,20}(\d{1,9}:\d{1,9}) {2,20}error {2,20}(\S.*)$/.exec(line) ?? [];
      if (at === undefined) continue;
      const [text = "", rule] = row.split("  ").filter((part) => part.trim() !== "");
      const message = `${text.trim()}${rule === undefined ? "" : ` (${rule.trim()})`}`;
      finds.add(errorAt(sheet, { written, at, rule, text, message, hides: false }), at);
    }
  },
};

export const biome = lineReader(/^(\S.{0,999}?) ━{5}/, ([, title = ""], sheet, i) => {
  const head = title.replace(/(?: {1,4}[A-Z]{4,20}){0,4} {0,4}$/, "");
  const space = head.lastIndexOf(" ");
  const text = /^ {2}× (.*)$/.exec(sheet.lines[i + 2] ?? "")?.[1];
  // A file that could not be formatted because it could not be parsed is also reported by the parser.
  if (space === -1 || text === undefined || /aborted due to parsing errors/.test(text)) return undefined;
  const [, written = "", at = ""] = /^(.{1,1000}?)(?::(\d{1,9}:\d{1,9}))?$/.exec(head.slice(0, space)) ?? [];
  const rule = head.slice(space + 1);
  return errorAt(sheet, { written, at, rule, text, message: `${text} (${rule})`, hides: false });
});
