/** What do the environment and the command line say? Entries by key, each with the name by which it came. */
import type { Environment } from "../ports/project.ts";
import { closest } from "../text/closest.ts";
import { flagOf, KEYS } from "./keys.ts";
import { type ConfigEntry, type ConfigProblem, wrongKey } from "./problem.ts";

type Found = {
  readonly entries: readonly ConfigEntry[];
  readonly problems: readonly ConfigProblem[];
  readonly notices: readonly string[];
};

/** Names that other tools of this kind use; of two for one key the first counts. */
const ALIASES: readonly (readonly [variable: string, key: string])[] = [
  ["MAX_WORKERS", "workers"],
  ["CLAUDE_MAX_CONCURRENT", "workers"],
  ["WORKER_TIMEOUT", "timeout.work"],
  ["MERGE_STRATEGY", "landing.strategy"],
  ["GIT_MAIN_BRANCH", "base"],
  ["GIT_BRANCH_PREFIX", "branchPrefix"],
];

/** Only what no better source gives: they may be meant for another program, so a bad one that is not used is none. */
export function fromAliases(env: Environment, given: ReadonlySet<string>): readonly ConfigEntry[] {
  const used = new Map<string, ConfigEntry>();
  for (const [variable, key] of ALIASES) {
    const value = env[variable];
    if (value && !given.has(key) && !used.has(key))
      used.set(key, { key, value, isText: true, origin: variable });
  }
  return [...used.values()];
}

const PREFIX = "SKEIN_";
/** Skein's variables that are no keys: where it keeps things, and what it tells the agents it starts. */
const OTHER = new Set(
  [
    ...["STATE_DIR", "NODE_CHOSEN", "RUN", "TASK", "JOB", "KIND", "ATTEMPT", "TURN"],
    ...["BRIEF", "HANDOFF", "OUTPUT_FILE", "FLEET_URL", "FLEET_WORKER_PASSWORD"],
  ].map((name) => PREFIX + name),
);

/** An empty variable counts as unset. One that is nearly a key's is an error; any other may belong to another program. */
export function fromEnvironment(env: Environment): Found {
  const keys = new Map([...KEYS.values()].map(({ name, variable }) => [variable, name]));
  const found = { entries: [] as ConfigEntry[], problems: [] as ConfigProblem[], notices: [] as string[] };
  for (const [variable, value] of Object.entries(env)) {
    if (!value || !variable.startsWith(PREFIX) || OTHER.has(variable)) continue;
    const key = keys.get(variable);
    const near = nearest(variable, [...keys.keys()]);
    if (key !== undefined) found.entries.push({ key, value, isText: true, origin: variable });
    else if (near === undefined)
      found.notices.push(`${variable} is set, but is not a key of skein.yaml: it has no effect`);
    else
      found.problems.push({
        key: "",
        message: `is not a key of skein.yaml; did you mean ${near} (${keys.get(near)})?`,
        origin: variable,
      });
  }
  return found;
}

/** Without what all of them begin with, which would make strangers look alike. */
function nearest(variable: string, variables: readonly string[]): string | undefined {
  const [near] = closest(
    variable.slice(PREFIX.length),
    variables.map((name) => name.slice(PREFIX.length)),
  );
  return near === undefined ? undefined : PREFIX + near;
}

const MAX_KEY_CHARS = 60;

/** `key=value`; the last one for a key counts. */
export function fromSets(sets: readonly string[]): Found {
  const found = { entries: [] as ConfigEntry[], problems: [] as ConfigProblem[], notices: [] as string[] };
  for (const set of sets) {
    const at = set.indexOf("=");
    const key = (at < 0 ? set : set.slice(0, at)).trim().slice(0, MAX_KEY_CHARS);
    const wrong = wrongKey(key) ?? (at < 0 ? "has no value: write --set key=value" : undefined);
    if (wrong !== undefined) found.problems.push({ key, message: wrong, origin: "--set" });
    else found.entries.push({ key, value: set.slice(at + 1), isText: true, origin: "--set" });
  }
  return found;
}

export function fromFlags(flags: Readonly<Record<string, unknown>>): Found {
  const found = { entries: [] as ConfigEntry[], problems: [] as ConfigProblem[], notices: [] as string[] };
  for (const [key, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const wrong = wrongKey(key);
    const origin = flagOf(key);
    if (wrong !== undefined) found.problems.push({ key, message: wrong, origin });
    else found.entries.push({ key, value, isText: typeof value === "string", origin });
  }
  return found;
}
