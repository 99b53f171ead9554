/** On which line of a JSON text is a place such as `tasks[3].metadata.agent`? Found in one walk over the text. */

/** "plan.json:14: tasks[3].metadata.agent"; a text that is no JSON says itself where it breaks. */
export function whereIn(text: string): (file: string, place: string, message: string) => Where {
  const lineOf = placeFinder(text);
  return (file, place, message) => {
    const broken = place === "" ? /\bline (\d+), column \d+/.exec(message)?.[1] : undefined;
    const line = broken === undefined ? lineOf(place) : Number(broken);
    return withLine(file, place, line);
  };
}

export type Where = { readonly words: string; readonly line?: number };

export const withLine = (file: string, place: string, line?: number): Where => ({
  words: `${file}${line === undefined ? "" : `:${line}`}${place === "" ? "" : `: ${place}`}`,
  ...(line === undefined ? {} : { line }),
});

/** The line of the place, or of the nearest around it that is there; undefined where there is none of them. */
function placeFinder(text: string): (place: string) => number | undefined {
  let lines: ReadonlyMap<string, number> | undefined;
  return (place) => {
    lines ??= linesOf(text);
    for (let at: string | undefined = place; at !== undefined; at = around(at)) {
      const line = lines.get(at) ?? lines.get(wrapped(at)) ?? lines.get(bare(at));
      if (line !== undefined) return line;
    }
    return undefined;
  };
}

/** The same where the plan stands in "plan", and where only a list of tasks was written. */
const wrapped = (place: string): string => `plan.${place}`;
const bare = (place: string): string => place.replace(/^tasks(?=\[)/, "");

/** `tasks[3].metadata` for `tasks[3].metadata.agent`, and so on to the whole, which is "". */
function around(place: string): string | undefined {
  if (place === "") return undefined;
  const end = Math.max(place.lastIndexOf("."), place.lastIndexOf("["));
  return end <= 0 ? "" : place.slice(0, end);
}

/** An object or a list that the walk is in; `at`: the key or the index that it has come to. */
type Level = { readonly path: string; readonly isList: boolean; at: string | number | undefined };

/** Deeper ones belong to whatever a plan carries along. */
const MAX_DEPTH = 8;

/** Of a text that is not JSON: those before the mistake. */
function linesOf(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const levels: Level[] = [];
  let deeper = 0; // Levels below those that are followed.
  for (const { sign, line, written } of tokensOf(text)) {
    const level = levels.at(-1);
    if (sign === "}" || sign === "]") {
      if (deeper > 0) deeper -= 1;
      else levels.pop();
    } else if (deeper > 0) {
      if (sign === "{" || sign === "[") deeper += 1;
    } else if (sign === ",") {
      if (level) level.at = typeof level.at === "number" ? level.at + 1 : undefined;
    } else {
      if (level && level.at === undefined) level.at = nameIn(written);
      const path = level === undefined ? "" : pathIn(level);
      if (!lines.has(path)) lines.set(path, line);
      if (sign !== "{" && sign !== "[") continue;
      if (levels.length < MAX_DEPTH)
        levels.push({ path, isList: sign === "[", at: sign === "[" ? 0 : undefined });
      else deeper += 1;
    }
  }
  return lines;
}

function pathIn({ path, isList, at = "" }: Level): string {
  if (isList) return `${path}[${at}]`;
  return path === "" ? String(at) : `${path}.${at}`;
}

type Token = {
  /** `"` for a text, `x` for a number and the like. */
  readonly sign: string;
  readonly line: number;
  readonly written: string;
};

function* tokensOf(text: string): Generator<Token> {
  let line = 1;
  for (let i = 0; i < text.length; i += 1) {
    const sign = text[i]!;
    if (sign === "\n") line += 1;
    if (sign <= " " || sign === ":") continue;
    const end = sign === '"' ? endOfString(text, i) : i;
    const isWord = sign !== '"' && !"{}[],".includes(sign);
    yield { sign: isWord ? "x" : sign, line, written: text.slice(i, end + 1) };
    i = end;
  }
}

/** Where the string that begins there ends; before the end of the line, if it does not. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"' && text[i] !== "\n") i += text[i] === "\\" ? 2 : 1;
  return text[i] === '"' ? i : i - 1;
}

function nameIn(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return written; // It is cut off.
  }
}
