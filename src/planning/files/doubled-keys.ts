/** Which keys stand twice in one object of a JSON text? A parser keeps the last, and what the first said is lost. */
import { placeIn } from "./place.ts";

/** The places of the second ones, such as `tasks[2].success_criterion`. Of a text that is JSON; reads each character once. */
export function doubledKeys(text: string): readonly string[] {
  const found: string[] = [];
  const open: Level[] = [];
  const marks = /["{}[\],]/g;
  for (let mark = marks.exec(text); mark; mark = marks.exec(text)) {
    const level = open.at(-1);
    const [sign] = mark;
    if (sign === "{" || sign === "[") open.push(levelIn(level, sign === "["));
    else if (sign === "}" || sign === "]") open.pop();
    else if (sign === ",") step(level);
    else {
      marks.lastIndex = endOfString(text, mark.index);
      if (!level?.keys || level.at !== undefined) continue;
      const key = String(JSON.parse(text.slice(mark.index, marks.lastIndex)));
      if (level.keys.has(key) && found.length < MAX_FOUND) found.push(placeIn(level.path, key));
      level.keys.add(key);
      level.at = key;
    }
  }
  return found;
}

/** Behind its closing quote. By hand: a pattern gives up on a string with four million escapes. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text[before - 1] === "\\") before -= 1;
    if ((at - before) % 2 === 0) return at + 1;
  }
  return text.length;
}

/** Enough to see what is wrong. */
const MAX_FOUND = 20;

/** An object or a list, and where in it the walk is: undefined before a key. `keys` are of an object. */
type Level = { readonly path: string; readonly keys?: Set<string>; at: string | number | undefined };

function levelIn(above: Level | undefined, isList: boolean): Level {
  const path = above === undefined ? "" : pathAt(above);
  return isList ? { path, at: 0 } : { path, keys: new Set(), at: undefined };
}

const pathAt = ({ path, at }: Level): string =>
  typeof at === "number" ? `${path}[${at}]` : placeIn(path, at ?? "");

function step(level: Level | undefined): void {
  if (level) level.at = typeof level.at === "number" ? level.at + 1 : undefined;
}
