/** Splits a line into code and comment, by its language; wrong only for texts that span several lines. */
import type { PatchFile, PatchLine } from "./patch.ts";

/** A family of languages with the same marks for tests and comments; "" if unknown. */
export function languageOf(path: string): string {
  const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return LANGUAGES.get(extension) ?? "";
}

const LANGUAGES = new Map<string, string>(
  Object.entries({
    js: "js jsx ts tsx mjs cjs mts cts vue svelte",
    python: "py pyi",
    go: "go",
    rust: "rs",
    java: "java kt kts scala groovy",
    csharp: "cs fs vb",
    ruby: "rb",
    php: "php",
    swift: "swift m mm",
    c: "c cc cpp cxx h hh hpp",
    elixir: "ex exs",
    css: "css scss less",
    dart: "dart",
    shell: "sh bash zsh fish pl r jl yaml yml toml cfg ini mk makefile dockerfile tf",
    html: "html htm xml",
    sql: "sql lua hs elm",
  }).flatMap(([language, extensions]) => extensions.split(" ").map((one) => [one, language] as const)),
);

const HASH = new Set(["python", "ruby", "elixir", "shell"]);

/** Where a comment begins, by language; PHP has both kinds. */
function commentStart(path: string): RegExp {
  const language = languageOf(path);
  if (language === "html" || /\.(?:vue|svelte)$/.test(path)) return /<!--|\/\/|\/\*|^\s*\*(?!\/)/;
  if (HASH.has(language)) return /#/;
  if (language === "sql") return /--/;
  if (language === "php") return /\/\/|\/\*|^\s*\*(?!\/)|#(?!\[)/;
  if (language === "") return /\/\/|\/\*|^\s*\*(?!\/)|(?:^|\s)#|<!--|(?:^|\s)--\s/;
  return /\/\/|\/\*|^\s*\*(?!\/)/;
}

/** A line without the text in quotes. The quotes stay, so that the words around them stay apart. */
const withoutStrings = (line: string): string =>
  line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, '""');

/** A line without strings and comments. */
export function codeOf(path: string, line: string): string {
  const plain = withoutStrings(line.slice(0, MAX_LINE_CHARS));
  const at = plain.search(commentStart(path));
  return at === -1 ? plain : plain.slice(0, at);
}

/** The text of a comment without its opening signs; "" if the line has none. */
export function commentOf(path: string, line: string): string {
  const plain = withoutStrings(line.slice(0, MAX_LINE_CHARS));
  const at = plain.search(commentStart(path));
  return at === -1 ? "" : plain.slice(at).replace(/^[\s/*#<!-]+/, "");
}

const MAX_LINE_CHARS = 2_000;

/** Only new lines: not those that were moved, re-indented (in a comment, too), or renamed along with their file. */
export function onlyFresh(files: readonly PatchFile[]): readonly PatchFile[] {
  const gone = new Map<string, number>();
  for (const line of files.flatMap(({ removed }) => removed)) {
    const text = withoutIndentation(line);
    gone.set(text, (gone.get(text) ?? 0) + 1);
  }
  const isFresh = (line: PatchLine) => {
    const text = withoutIndentation(line.text);
    const left = gone.get(text) ?? 0;
    gone.set(text, left - 1);
    return left <= 0;
  };
  return files.map((file) => ({ ...file, added: file.added.filter(isFresh) }));
}

/** Spaces in the middle of a line stand behind the signs of a comment, or align something. */
const withoutIndentation = (line: string): string => line.trim().replace(/[ \t]+/g, " ");
