/** Which marks did a worker leave that it must not leave? Looked for in added lines of what people write by hand. */
import { codeOf, commentOf, languageOf } from "./code-lines.ts";
import type { PatchFile, PatchLine } from "./patch.ts";

/** "src/a.ts:3 @ts-expect-error" */
export const findMarks = (files: readonly PatchFile[]): readonly string[] =>
  files
    .filter(({ path }) => !isNotOurs(path))
    .flatMap((file) => [
      ...(isProse(file.path) ? [] : file.added.flatMap((line) => marksIn(file.path, line))),
      ...conflictMarks(file),
    ]);

/** Somebody else's, made by a program, or there to be read by a test. */
const isNotOurs = (path: string): boolean =>
  path.split("/").some((part) => FOREIGN.has(part.toLowerCase())) || MADE.test(path);

const FOREIGN = new Set([
  ...["node_modules", "vendor", "vendored", "third_party", "third-party", "dist", "build", "out", "target"],
  ...["fixtures", "__fixtures__", "fixture", "testdata", "__snapshots__", "generated", "__generated__"],
]);

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

/** As a type, and not as a key, a parameter or a word. */
function anyIn(code: string): string | undefined {
  const found =
    /\bas\s+any\b|[\w)\]?]\s*:\s*any\b(?!\s*[:(])|<\s*any\s*>|\bany\s*\[\]|[<,]\s*any\s*[,>]/.exec(code);
  return found?.[0].replace(/^[\w)\]?]?\s*(?=:)/, "").trim();
}

/** At the start of a comment, or in the form of a mark: "the TODO app" is none. */
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

/** All three in order: a row of "=" alone underlines a heading. */
function conflictMarks({ path, added }: PatchFile): readonly string[] {
  const marks: string[] = [];
  let start: number | undefined;
  let hasMiddle = false;
  for (const { line, text } of added) {
    if (/^<{7} /.test(text)) {
      start = line;
      hasMiddle = false;
    } else if (start !== undefined && /^={7}\r?$/.test(text)) hasMiddle = true;
    else if (start !== undefined && hasMiddle && /^>{7} /.test(text)) {
      marks.push(`${path}:${start} conflict markers`);
      start = undefined;
    }
  }
  return marks;
}
