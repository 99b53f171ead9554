/** Describes a mistake in a configuration: what is wrong, where it is written, and from which source it came. */
import { closest } from "../text/closest.ts";
import { quoted } from "../text/lines.ts";
import { GROUPS, KEYS } from "./keys.ts";

export type ConfigProblem = {
  /** The key, if known; empty for a mistake of the whole file. */
  readonly key: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** The file's name, a variable, "--set" or a flag. */
  readonly origin: string;
};

/** A line for people: `skein.yaml:3:1: workers must be …`. */
export function problemText({ key, message, line, column, origin }: ConfigProblem): string {
  const place = line === undefined ? origin : `${origin}:${line}${column === undefined ? "" : `:${column}`}`;
  return `${place}: ${key === "" ? "" : `${key} `}${message}`;
}

/** One value for one key, as it was written. `isText`: it is a string whose type is still to be found. */
export type ConfigEntry = {
  readonly key: string;
  readonly value: unknown;
  readonly isText: boolean;
  readonly origin: string;
  readonly line?: number;
  readonly column?: number;
};

export const placeOf = ({ origin, line, column }: Pick<ConfigProblem, "origin" | "line" | "column">) => ({
  origin,
  ...(line === undefined ? {} : { line }),
  ...(column === undefined ? {} : { column }),
});

/** Undefined if the key exists and takes a value. */
export function wrongKey(key: string): string | undefined {
  if (KEYS.has(key)) return undefined;
  if (GROUPS.has(key)) return `is a group: set one of ${within(key).join(", ")}`;
  const near = nearest(key).slice(0, 3).map(quoted);
  return `is not a key of skein.yaml${near.length > 0 ? `; did you mean ${near.join(" or ")}?` : ""}`;
}

/** Similar keys: in its own group if the group exists; else with the same last part; else anywhere. */
function nearest(key: string): readonly string[] {
  const above = key.slice(0, key.lastIndexOf(".") + 1);
  const last = key.slice(above.length);
  const inGroup = GROUPS.has(above.slice(0, -1)) ? within(above.slice(0, -1)) : [];
  const siblings = closest(last, inGroup.map(lastOf)).map((name) => above + name);
  if (siblings.length > 0) return siblings;
  const names = [...KEYS.keys(), ...GROUPS];
  const moved = names.filter((name) => lastOf(name) === last);
  return moved.length > 0 ? moved : closest(key, names);
}

const lastOf = (name: string) => name.slice(name.lastIndexOf(".") + 1);
const within = (group: string) => [...KEYS.keys()].filter((name) => name.startsWith(`${group}.`));
