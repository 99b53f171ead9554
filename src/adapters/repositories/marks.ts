/** Finds marks that a worker must not leave, such as `any` and TODO, in lines of hand-written files. */
import { codeOf, commentOf, languageOf } from "./code-lines.ts";
import { type Conflicted, FOREIGN } from "./conflicts.ts";
import type { PatchFile } from "./patch.ts";

/**
 * `kind`: set for marks that a repository may use by habit; undefined for marks that no repository keeps on
 * purpose.
 */
export type Mark = {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly kind: MarkKind | undefined;
};

export type MarkKind = "any" | "@ts-ignore" | "@ts-expect-error" | "@ts-nocheck" | "TODO" | "todo!";

export const findMarks = (files: readonly PatchFile[]): readonly Mark[] =>
  files
    .filter(({ path }) => !isNotOurs(path) && !isProse(path))
    .flatMap(({ path, added }) =>
      added.flatMap(({ line, text }) => marksIn(path, text).map((mark) => ({ path, line, ...mark }))),
    );

/** Such as "src/a.ts:3 @ts-expect-error". */
export const placeOfMark = ({ path, line, text }: Mark): string => `${path}:${line} ${text}`;

/**
 * Marks of a patch that are not new: their file has no more of the kind than before, because one was reworded, or
 * two became one.
 */
export function keptMarks(files: readonly PatchFile[], marks: readonly Mark[]): readonly Mark[] {
  const removed = new Map(files.map((file) => [file.path, file.removed]));
  const added = new Map(files.map((file) => [file.path, file.added.map(({ text }) => text)]));
  const countOf = (path: string, kind: MarkKind, lines: readonly string[] = []) =>
    lines.flatMap((text) => marksIn(path, text)).filter((mark) => mark.kind === kind).length;
  return marks.filter(
    ({ path, kind }) =>
      kind !== undefined && countOf(path, kind, added.get(path)) <= countOf(path, kind, removed.get(path)),
  );
}

/** The pattern by which `git grep` finds lines that may have the mark. */
export const COARSE: Readonly<Record<MarkKind, string>> = {
  any: "[^a-zA-Z0-9_]any[^a-zA-Z0-9_]",
  "@ts-ignore": "@ts-ignore",
  "@ts-expect-error": "@ts-expect-error",
  "@ts-nocheck": "@ts-nocheck",
  TODO: "TODO|FIXME|XXX|todo|fixme",
  "todo!": "(todo|unimplemented)!",
};

const isNotOurs = (path: string): boolean =>
  path.split("/").some((part) => FOREIGN.has(part.toLowerCase())) || MADE.test(path);

const MADE =
  /\.(?:lock|min\.[a-z]+|map|snap|svg|pb\.\w+|g\.dart|generated\.\w+|gen\.\w+)$|_pb2?\.\w+$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|go\.sum)$/i;

const isProse = (path: string): boolean =>
  /\.(?:md|mdx|markdown|rst|adoc|txt|csv|tsv|json|jsonl|ndjson|po|ipynb)$|(?:^|\/)(?:changelog|license|notice|readme|todo)$/i.test(
    path,
  );

export function marksIn(path: string, text: string): readonly Pick<Mark, "text" | "kind">[] {
  const comment = commentOf(path, text);
  const code = codeOf(path, text);
  const typed = /\.(?:[cm]?ts|tsx|vue|svelte)$/.test(path);
  const comments = languageOf(path) === "js" ? TS_COMMENT.exec(comment)?.[0] : undefined;
  const unfinished = unfinishedIn(comment);
  const found: readonly (readonly [string | undefined, MarkKind | undefined])[] = [
    [comments, comments as MarkKind | undefined],
    [typed ? anyIn(code) : undefined, "any"],
    [unfinished, unfinished !== undefined && /^(?:todo|fixme|xxx)/i.test(unfinished) ? "TODO" : undefined],
    [languageOf(path) === "rust" ? /\b(?:todo|unimplemented)!/.exec(code)?.[0] : undefined, "todo!"],
  ];
  return found.flatMap(([mark, kind]) => (mark === undefined ? [] : [{ text: mark, kind }]));
}

const TS_COMMENT = /^@ts-(?:ignore|expect-error|nocheck)\b/;

/** `any` as a type, not as a key, a parameter or a word. */
function anyIn(code: string): string | undefined {
  const found =
    /\bas\s+any\b|[\w)\]?]\s*:\s*any\b(?!\s*[:(])|<\s*any\s*>|\bany\s*\[\]|[<,]\s*any\s*[,>]/.exec(code);
  return found?.[0].replace(/^[\w)\]?]?\s*(?=:)/, "").trim();
}

/** A TODO at the start of a comment, or in the form of a mark. "The TODO app" does not count. */
function unfinishedIn(comment: string): string | undefined {
  return (
    /^(?:TODO|FIXME|XXX)\b(?![.\w/-])/.exec(comment)?.[0] ??
    /^(?:todo|fixme)(?=\s*[:(])/i.exec(comment)?.[0] ??
    /\b(?:TODO|FIXME|XXX)(?=\s*[:(])/.exec(comment)?.[0] ??
    /\b(?:TODO|FIXME)(?=[.!]?\s*(?:\*\/|-->)?\s*$)/.exec(comment)?.[0] ??
    /^(?:placeholder|stub)\b(?=\s*(?:[:.!-]|\*\/|-->|for now|implementation|$))/i.exec(comment)?.[0] ??
    /^(?:not (?:yet )?implemented|implement (?:me|this|later)|to be implemented)\b/i.exec(comment)?.[0] ??
    /^\.{3}\s*(?:the )?(?:rest of|existing|remaining|previous)\b[^.]*\b(?:code|file|implementation|logic|methods?|functions?|unchanged)\b/i.exec(
      comment,
    )?.[0]
  );
}

export const mayHaveConflict = ({ added }: PatchFile): boolean =>
  added.some(({ text }) => /^(?:<{7}|>{7}) /.test(text));

/** Conflicts in the current files of which at least one marker line is new. */
export const conflictMarks = (
  files: readonly PatchFile[],
  found: readonly Conflicted[],
): readonly string[] => {
  const added = new Map(files.map(({ path, added }) => [path, new Set(added.map(({ line }) => line))]));
  return found.flatMap(({ file, blocks }) =>
    blocks
      .filter(({ first, middle, last }) => [first, middle, last].some((line) => added.get(file)?.has(line)))
      .map(({ first }) => `${file}:${first} conflict markers`),
  );
};
