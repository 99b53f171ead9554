/** Which keys stand twice in one object of a JSON text? A parser keeps the last, and what the first said is lost. */
import { placeIn } from "./place.ts";

/** The places of the second ones, such as `tasks[2].success_criterion`. Of a text that is JSON; reads each character once. */
export function doubledKeys(text: string): readonly string[] {
  const found: string[] = [];
  const open: Level[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const level = open.at(-1);
    if (token === "{" || token === "[") open.push(levelIn(level, token === "["));
    else if (token === "}" || token === "]") open.pop();
    else if (token === ",") step(level);
    else if (level?.keys && level.at === "") {
      level.at = String(JSON.parse(token));
      if (level.keys.has(level.at) && found.length < MAX_FOUND) found.push(placeIn(level.path, level.at));
      level.keys.add(level.at);
    }
  }
  return found;
}

/** Enough to see what is wrong. */
const MAX_FOUND = 20;

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g;

/** An object or a list, and where in it the walk is; `keys` are of an object. */
type Level = { readonly path: string; readonly keys?: Set<string>; at: string | number };

function levelIn(above: Level | undefined, isList: boolean): Level {
  const path = above === undefined ? "" : pathAt(above);
  return isList ? { path, at: 0 } : { path, keys: new Set(), at: "" };
}

const pathAt = ({ path, at }: Level): string =>
  typeof at === "number" ? `${path}[${at}]` : placeIn(path, at);

function step(level: Level | undefined): void {
  if (level) level.at = typeof level.at === "number" ? level.at + 1 : "";
}
