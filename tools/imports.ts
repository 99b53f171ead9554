/** Finds what a source file imports and exports, by its tokens: comments, strings and templates do not count. */

export type Import = {
  /** As written; undefined for `import(…)` of a computed name. */
  readonly specifier: string | undefined;
  /** The imported names, as the other file calls them; "all" if the scan cannot tell which. */
  readonly names: readonly string[] | "all";
  readonly line: number;
};

export type Export = { readonly name: string; readonly is: "type" | "value" | "handed on" };

export function importsOf(source: string): readonly Import[] {
  const tokens = tokensOf(source);
  const found: Import[] = [];
  for (const [i, { text, kind, at }] of tokens.entries()) {
    if (kind !== "word" || (text !== "import" && text !== "export") || tokens[i - 1]?.text === ".") continue;
    const taken = text === "import" ? imported(tokens, i) : reexported(tokens, i + 1);
    if (taken !== undefined) found.push({ ...taken, line: source.slice(0, at).split("\n").length });
  }
  return found;
}

/** In a list such as `const a = 1, b = 2` only the first name is found: the linter's rules forbid such lists. */
export function exportsOf(source: string): readonly Export[] {
  const tokens = tokensOf(source);
  return tokens.flatMap(({ text, kind }, i): readonly Export[] => {
    if (kind !== "word" || text !== "export" || tokens[i - 1]?.text === ".") return [];
    const rest = tokens
      .slice(i + 1, i + 6)
      .filter(({ text }) => !/^(?:declare|abstract|async|\*)$/.test(text));
    const [keyword, name] = rest.map(({ text }) => text);
    if (keyword === "default") return [{ name: "default", is: "value" }];
    if (keyword === "{" || (keyword === "type" && name === "{")) {
      const list = listed(tokens, keyword === "{" ? i + 1 : i + 2);
      return list.map(({ as }) => ({ name: as, is: "handed on" }));
    }
    if (name === undefined) return [];
    if (keyword === "type" || keyword === "interface") return [{ name, is: "type" }];
    return /^(?:const|let|function|class|enum)$/.test(keyword ?? "") ? [{ name, is: "value" }] : [];
  });
}

type Token = { readonly kind: "word" | "string" | "sign"; readonly text: string; readonly at: number };

type Taken = Pick<Import, "specifier" | "names">;

function imported(tokens: readonly Token[], at: number): Taken | undefined {
  const next = tokens[at + 1];
  if (next?.kind === "string") return { specifier: next.text, names: [] };
  if (next?.text !== "(") return namedSource(tokens, at + 1);
  const [argument, end] = tokens.slice(at + 2, at + 4);
  const isWritten = argument?.kind === "string" && (end?.text === ")" || end?.text === ",");
  return { specifier: isWritten ? argument.text : undefined, names: namesAround(tokens, at) };
}

/** The names in `const { a } = await import("…")`, `(await import("…")).a` and the type `import("…").a`. */
function namesAround(tokens: readonly Token[], at: number): Import["names"] {
  const after = tokens.slice(at + 4, at + 7).map(({ text }) => text);
  if (after[0] === "." && after[1] !== "then") return [after[1] ?? ""];
  if (tokens[at - 1]?.text !== "await") return "all";
  if (tokens[at - 2]?.text === "(" && after[0] === ")" && after[1] === ".") return [after[2] ?? ""];
  if (tokens[at - 2]?.text !== "=" || tokens[at - 3]?.text !== "}") return "all";
  const start = tokens.slice(0, at).findLastIndex(({ text }) => text === "{");
  return listed(tokens, start).map(({ name }) => name);
}

function reexported(tokens: readonly Token[], at: number): Taken | undefined {
  const first = tokens[at]?.text === "type" ? at + 1 : at;
  return tokens[first]?.text === "{" || tokens[first]?.text === "*" ? namedSource(tokens, first) : undefined;
}

/** Reads `{ a, type b as c } from "…"`; any other sign means that it is something else (`import.meta`). */
function namedSource(tokens: readonly Token[], start: number): Taken | undefined {
  const names: string[] = [];
  let hasAll = false;
  for (let at = start; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] as Token;
    const next = tokens[at + 1];
    if (text === "from" && next?.kind === "string")
      return { specifier: next.text, names: hasAll ? "all" : names };
    // `import { "a name" as b }` is allowed, and `export { a }` without a source ends at the next statement.
    if (kind === "sign" && !"{},*".includes(text)) return undefined;
    if (text === "}" && next?.text !== "from" && next?.text !== ",") return undefined;
    if (text === "*") hasAll = true;
    else if (text === "{") names.push(...listed(tokens, at).map(({ name }) => name));
    else if (at === start && text !== "type") names.push("default");
  }
  return undefined;
}

/** The names in braces that open at `start`: `{ a, type b as c, d: e }`. */
function listed(tokens: readonly Token[], start: number): readonly { name: string; as: string }[] {
  const end = tokens.findIndex(({ text }, at) => at > start && text === "}");
  const words = tokens.slice(start + 1, end).map(({ text }) => text);
  return words
    .join(" ")
    .split(",")
    .map((entry) => entry.trim().split(" "))
    .filter(([first]) => first !== "")
    .map((entry) => (entry[0] === "type" && entry.length % 2 === 0 ? entry.slice(1) : entry))
    .map((entry) => ({ name: entry[0] as string, as: entry.at(-1) as string }));
}

/** Comments match without a named group. A pattern or a template is read on from its first sign. */
const TOKEN =
  /\s*(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*|(?<quoted>"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*')|(?<word>[\p{L}\p{N}_$#]+)|(?<sign>\S))/uy;
const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/uy;
const TEMPLATE_TEXT = /(?:\\[\s\S]|\$(?!\{)|[^\\`$])*(?:`|\$\{|$)/uy;

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  /** The number of open braces in each enclosing `${…}`, innermost last. */
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
      // A template without holes counts as a string.
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
