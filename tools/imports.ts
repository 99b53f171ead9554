/** What does a source file import? A scan of its tokens: comments, strings, patterns and templates do not count. */

export type Import = {
  /** As written; undefined for `import(…)` of something computed. */
  readonly specifier: string | undefined;
  readonly line: number;
};

export function importsOf(source: string): readonly Import[] {
  const tokens = tokensOf(source);
  const found: Import[] = [];
  for (const [i, { text, kind, at }] of tokens.entries()) {
    if (kind !== "word" || (text !== "import" && text !== "export") || tokens[i - 1]?.text === ".") continue;
    const specifier = text === "import" ? imported(tokens, i + 1) : reexported(tokens, i + 1);
    if (specifier !== NOTHING) found.push({ specifier, line: source.slice(0, at).split("\n").length });
  }
  return found;
}

type Token = { readonly kind: "word" | "string" | "sign"; readonly text: string; readonly at: number };

const NOTHING = Symbol("no import after all");

function imported(tokens: readonly Token[], at: number): string | undefined | typeof NOTHING {
  const next = tokens[at];
  if (next?.kind === "string") return next.text;
  if (next?.text !== "(") return namedSource(tokens, at);
  const [argument, end] = tokens.slice(at + 1, at + 3);
  return argument?.kind === "string" && (end?.text === ")" || end?.text === ",") ? argument.text : undefined;
}

function reexported(tokens: readonly Token[], at: number): string | typeof NOTHING {
  const first = tokens[at]?.text === "type" ? at + 1 : at;
  return tokens[first]?.text === "{" || tokens[first]?.text === "*" ? namedSource(tokens, first) : NOTHING;
}

/** Follows `{ a, type b as c } from "…"`; any other sign means that it is something else (`import.meta`). */
function namedSource(tokens: readonly Token[], start: number): string | typeof NOTHING {
  for (let at = start; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] as Token;
    const next = tokens[at + 1];
    if (text === "from" && next?.kind === "string") return next.text;
    // `import { "a name" as b }` is allowed, and `export { a }` without a source ends at the next statement.
    if (kind === "sign" && !"{},*".includes(text)) return NOTHING;
    if (text === "}" && next?.text !== "from" && next?.text !== ",") return NOTHING;
  }
  return NOTHING;
}

/** Comments match and give no token. A pattern and a template are read further than their first sign. */
const TOKEN =
  /\s*(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*|(?<quoted>"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')|(?<word>[\p{L}\p{N}_$#]+)|(?<sign>\S))/uy;
const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/uy;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{|$)/uy;

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  /** How many braces are open in each `${…}` that we are in, innermost last. */
  const holes: number[] = [];
  let at = 0;
  const add = (kind: Token["kind"], text: string) => tokens.push({ kind, text, at });
  const skip = (what: RegExp, from: number) => {
    what.lastIndex = from;
    const matched = what.exec(source)?.[0] ?? "";
    at = Math.max(at, from + matched.length);
    return matched;
  };
  for (;;) {
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(source)?.groups;
    if (groups === undefined) return tokens;
    at = TOKEN.lastIndex;
    const { quoted, word, sign = "" } = groups;
    if (quoted !== undefined) add("string", quoted.slice(1, -1));
    else if (word !== undefined) add("word", word);
    else if (sign === "/" && startsPattern(tokens.at(-1))) {
      skip(PATTERN, at - 1);
      add("sign", VALUE);
    } else if (sign === "`" || (sign === "}" && holes.at(-1) === 0)) {
      if (sign === "}") holes.pop();
      const text = skip(TEMPLATE_TEXT, at);
      if (text.endsWith("${")) holes.push(0);
      // A template without holes is as good as a string.
      if (text.endsWith("`")) add(sign === "`" ? "string" : "sign", sign === "`" ? text.slice(0, -1) : VALUE);
    } else if (sign !== "") {
      if (sign === "{" && holes.length > 0) holes.push((holes.pop() as number) + 1);
      if (sign === "}" && holes.length > 0) holes.push((holes.pop() as number) - 1);
      add("sign", sign);
    }
  }
}

/** Stands for a whole pattern, or for a template with holes. */
const VALUE = "`";

/** A slash divides after a value and starts a pattern after anything else. */
function startsPattern(before: Token | undefined): boolean {
  if (before === undefined) return true;
  if (before.kind === "sign") return !`)]}${VALUE}`.includes(before.text);
  return (
    before.kind === "word" &&
    /^(?:return|typeof|case|in|of|void|delete|await|yield|else|do)$/.test(before.text)
  );
}
