/** Reads the commands of a shell script, with folder variables expanded. */
import path from "node:path";

/** Prefix of a path from the top of the tree, wherever the line is run. */
export const TOP = "@top@/";

const MAX_SCRIPT_CHARS = 100_000;

export const isShellScript = (file: string, text: string): boolean =>
  /\.(?:ba|da|k|z)?sh$/.test(file) || /^#!.{0,200}\b(?:ba|da|k|z)?sh\b/.test(text);

export function linesOfScript(file: string, text: string): string {
  const known = new Map<string, string>();
  const own = TOP + path.posix.dirname(file);
  const lines: string[] = [];
  for (const raw of withoutDocuments(text.slice(0, MAX_SCRIPT_CHARS).split("\n"))) {
    if (/^\s*#/.test(raw)) continue;
    const line = raw
      .replaceAll(OWN_FOLDER, own)
      .replaceAll(TOP_FOLDER, TOP.slice(0, -1))
      .replaceAll(/\$(?:\{(\w{1,80})\}|(\w{1,80}))/g, (all, a, b) => known.get(a ?? b) ?? all)
      .slice(0, MAX_SCRIPT_CHARS);
    const [, name, value] = ASSIGNED.exec(line) ?? [];
    if (name !== undefined && value !== undefined && value.length < 200) known.set(name, folderIn(value));
    lines.push(line);
    for (const [, a, b] of line.matchAll(/\$\(([^()]{1,1000})\)|`([^`]{1,1000})`/g)) lines.push(a ?? b ?? "");
  }
  return lines.join("\n");
}

const THIS = String.raw`"?\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE(?:\[0\])?(?::-\$0)?\})"?`;
const OWN_FOLDER = new RegExp(
  String.raw`\$\(dirname (?:-- )?${THIS}\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}`,
  "g",
);
const TOP_FOLDER = /\$\(git rev-parse --show-toplevel\)/g;
const ASSIGNED = /^\s*(?:(?:export|readonly|local|declare) )?(\w{1,80})=(.*)$/;

/** The folder in "$(cd a && pwd)", which is a. */
function folderIn(value: string): string {
  const plain = value.trim().replaceAll(/["']/g, "");
  const [, folder] =
    /^\$\(cd (?:-P |-- )?(\S{1,200}?)(?: ?>.{1,20}?)? ?(?:&&|;) ?pwd(?: -P)?\)$/.exec(plain) ?? [];
  return folder ?? plain;
}

/** Drops here-documents, except those that are fed to another shell. */
function withoutDocuments(lines: readonly string[]): readonly string[] {
  const lastAt = new Map(lines.map((line, i) => [line.trim(), i]));
  let end: string | undefined;
  return lines.filter((line, i) => {
    if (end !== undefined) {
      if (line.trim() === end) end = undefined;
      return false;
    }
    const [, tag] = /<<-?\s{0,5}["']?(\w{1,80})["']?/.exec(line) ?? [];
    if (tag !== undefined && (lastAt.get(tag) ?? -1) > i && !/\b(?:ba|da|k|z)?sh\b.*<</.test(line)) end = tag;
    return true;
  });
}

/** Splits a line: "CI=1 node a.js && npm run 'b c'" is [["CI=1", "node", "a.js"], ["npm", "run", "b c"]]. */
export function commandsIn(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) words.push(word);
    word = undefined;
  };
  const endCommand = () => {
    endWord();
    if (words.length > 0) commands.push(words);
    words = [];
  };
  for (const [token] of line.replaceAll(/\\\r?\n/g, " ").matchAll(TOKENS)) {
    if (/^[ \t]+$/.test(token) || (token.startsWith("#") && word === undefined)) endWord();
    else if (/^[\n;&|()]+$/.test(token)) endCommand();
    else word = (word ?? "") + unquoted(token);
  }
  endCommand();
  return commands;
}

/** Comments, blanks, separators, quoted text (even if never closed), anything else. */
const TOKENS =
  /(?<![^\s;&|()])#[^\n]*|[ \t]+|[\n;&|()]+|"(?:[^"\\]|\\.)*"?|'[^']*'?|\\.|[^\s;&|()"'\\]+|\s/gs;

function unquoted(token: string): string {
  const [quote] = token;
  if (quote === "\\") return token.slice(1);
  if (quote !== '"' && quote !== "'") return token;
  const inner = token.length > 1 && token.endsWith(quote) ? token.slice(1, -1) : token.slice(1);
  return quote === '"' ? inner.replaceAll(/\\(["\\$`])/g, "$1") : inner;
}
