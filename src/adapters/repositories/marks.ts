/** Which forbidden marks did a worker leave? Searched in added lines of hand-written files. */
import { codeOf, commentOf, languageOf } from "./code-lines.ts";
import { type Conflicted, FOREIGN } from "./conflicts.ts";
import type { PatchFile, PatchLine } from "./patch.ts";

/** "src/a.ts:3 @ts-expect-error" */
export const findMarks = (files: readonly PatchFile[]): readonly string[] =>
  files
    .filter(({ path }) => !isNotOurs(path))
    .flatMap((file) => (isProse(file.path) ? [] : file.added.flatMap((line) => marksIn(file.path, line))));

const isNotOurs = (path: string): boolean =>
  path.split("/").some((part) => FOREIGN.has(part.toLowerCase())) || MADE.test(path);

const MADE =
  /\.(?:lock|min\.[a-z]+|map|snap|svg|pb\.\w+|g\.dart|generated\.\w+|gen\.\w+)$|_pb2?\.\w+$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml|npm-shrinkwrap\.json|go\.sum)$/i;

const isProse = (path: string): boolean =>
  /\.(?:md|mdx|markdown|rst|adoc|txt|csv|tsv|json|jsonl|ndjson|po|ipynb)$|(?:^|\/)(?:changelog|license|notice|readme|todo)$/i.test(
    path,
  );

function marksIn(path: string, { line, text }: PatchLine): readonly string[] {
  const comment = commentOf(path, text);
  const code = codeOf(path, text);
  const marks = [
    languageOf(path) === "js" ? TS_COMMENT.exec(comment)?.[0] : undefined,
    /\.(?:[cm]?ts|tsx|vue|svelte)$/.test(path) ? anyIn(code) : undefined,
    unfinishedIn(comment),
    languageOf(path) === "rust" ? /\b(?:todo|unimplemented)!/.exec(code)?.[0] : undefined,
  ];
  return marks.filter((mark) => mark !== undefined).map((mark) => `${path}:${line} ${mark}`);
}

const TS_COMMENT = /^@ts-(?:ignore|expect-error|nocheck)\b/;

/** As a type, not as a key, a parameter or a word. */
function anyIn(code: string): string | undefined {
  const found =
    /\bas\s+any\b|[\w)\]?]\s*:\s*any\b(?!\s*[:(])|<\s*any\s*>|\bany\s*\[\]|[<,]\s*any\s*[,>]/.exec(code);
  return found?.[0].replace(/^[\w)\]?]?\s*(?=:)/, "").trim();
}

/** At the start of a comment, or in the form of a mark. "The TODO app" does not count. */
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
