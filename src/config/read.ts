/** What is configured? Defaults, then aliases, the file, SKEIN_* and the command line; the later one counts. */
import { parseDocument } from "yaml";
import type { Environment } from "../ports/project.ts";
import { issueText } from "./issue-text.ts";
import { KEYS } from "./keys.ts";
import { type ConfigEntry, type ConfigProblem, placeOf } from "./problem.ts";
import type { Config } from "./schema.ts";
import { fromAliases, fromEnvironment, fromFlags, fromSets } from "./sources.ts";
import { policyTrouble } from "./to-policy.ts";
import { type ConfigFile, readFileText } from "./yaml-file.ts";

type ConfigSources = {
  /** As the caller read it: nothing here looks at a disk. */
  readonly file?: ConfigFile;
  readonly env: Environment;
  /** Of `--set`, each `key=value`. */
  readonly sets: readonly string[];
  /** Of flags that stand for a key, by that key. */
  readonly flags: Readonly<Record<string, unknown>>;
};

export type ReadConfig = {
  readonly config: Config;
  /** Where each key's value comes from: "skein.yaml:3", "SKEIN_WORKERS", "--set", "default". */
  readonly origins: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
};

export type Problems = { readonly problems: readonly ConfigProblem[] };

export function readConfig({ file, env, sets, flags }: ConfigSources): ReadConfig | Problems {
  const written = file ? readFileText(file) : { entries: [], problems: [] };
  const [environment, set, flagged] = [fromEnvironment(env), fromSets(sets), fromFlags(flags)];
  const given = [...written.entries, ...environment.entries, ...set.entries, ...flagged.entries];
  const aliases = fromAliases(env, new Set(given.map(({ key }) => key)));
  const result = assemble([...aliases, ...given]);
  const problems = [written, environment, set, flagged].flatMap((source) => source.problems);
  if ("problems" in result) return { problems: [...problems, ...result.problems] };
  if (problems.length > 0) return { problems };
  const notices = aliases.map(({ key, origin }) => `${key} is taken from ${origin}`);
  return { ...result, notices: [...notices, ...environment.notices] };
}

/** Every entry is checked, also one that a later one replaces: what is wrong in a file should be seen. */
export function assemble(entries: readonly ConfigEntry[]): Omit<ReadConfig, "notices"> | Problems {
  const problems: ConfigProblem[] = [];
  const values = new Map<string, unknown>();
  const origins = new Map<string, ConfigEntry>();
  for (const { name, schema } of KEYS.values()) values.set(name, schema.parse(undefined));
  for (const entry of entries) {
    const read = typed(entry);
    const rival = rivalOf(entry, origins);
    if ("message" in read) problems.push({ key: entry.key, message: read.message, ...placeOf(entry) });
    else if (rival && sourceOf(rival) === sourceOf(entry))
      problems.push({ key: entry.key, message: BOTH_GIVEN, ...placeOf(entry) });
    else if (entry.key === "model") values.set("agent", { kind: "model", model: read.value, fallbacks: [] });
    else values.set(entry.key, read.value);
    if (rival) origins.delete(rival.key);
    origins.set(entry.key, entry);
  }
  if (problems.length > 0) return { problems };
  const config = nested(values);
  const trouble = policyTrouble(config).map(({ key, message }) => {
    const entry = origins.get(key);
    return { key, message, ...(entry ? placeOf(entry) : { origin: "default" }) };
  });
  if (trouble.length > 0) return { problems: trouble };
  return {
    config,
    origins: Object.fromEntries(
      [...KEYS.keys()].map((key) => [
        key,
        originOf(origins.get(key) ?? (key === "agent" ? origins.get("model") : undefined)),
      ]),
    ),
  };
}

/** `model` is short for `agent`: of the two the later one counts. */
function rivalOf({ key }: ConfigEntry, origins: ReadonlyMap<string, ConfigEntry>): ConfigEntry | undefined {
  if (key === "model") return origins.get("agent");
  return key === "agent" ? origins.get("model") : undefined;
}

const BOTH_GIVEN = "and the other of agent and model are both set: set only one of them";

/** The file, the environment, --set, the flags: of two within one, none counts for more. */
const sourceOf = ({ origin }: ConfigEntry) => /^(?:SKEIN_|--(?!set$))/.exec(origin)?.[0] ?? origin;

function originOf(entry: ConfigEntry | undefined): string {
  if (!entry) return "default";
  return entry.line === undefined ? entry.origin : `${entry.origin}:${entry.line}`;
}

type Read = { readonly value: unknown } | { readonly message: string };

/** A text is tried as what it looks like, then as it stands: a program may be called `true`, a commit 1234567. */
function typed({ key, value, isText }: ConfigEntry): Read {
  const tries = isText ? readings(String(value)) : [value];
  const reads = tries.map((written) => checked(key, written));
  return reads.find((read) => "value" in read) ?? reads[0]!;
}

function checked(key: string, written: unknown): Read {
  const { data, error } = KEYS.get(key)!.schema.safeParse(written);
  if (!error && data !== undefined) return { value: data };
  return { message: issueText(error?.issues ?? []) ?? "has no value" };
}

/** What YAML makes of it, unless that is a text, too: its own quotes and comments mean nothing here. */
function readings(text: string): readonly unknown[] {
  const plain = plainOf(text);
  const bit = { "0": false, "1": true }[text.trim()];
  return [...(plain === undefined ? [] : [plain]), text, ...(bit === undefined ? [] : [bit])];
}

function plainOf(text: string): unknown {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) return undefined;
  try {
    const plain: unknown = document.toJS({ maxAliasCount: 0 });
    return plain === null || typeof plain === "string" ? undefined : plain;
  } catch {
    return undefined; // It holds an alias, so it was not meant as YAML.
  }
}

function nested(values: ReadonlyMap<string, unknown>): Config {
  const config: Record<string, unknown> = {};
  for (const [key, value] of values) {
    const parts = key.split(".");
    const last = parts.pop()!;
    let place = config;
    for (const part of parts) {
      place[part] ??= {};
      place = place[part] as Record<string, unknown>;
    }
    if (value !== undefined) place[last] = value;
  }
  config["planner"] ??= config["agent"];
  if (config["planner"] === undefined) delete config["planner"];
  return config as Config;
}

/** For what can be said although nothing is configured yet, or not rightly. */
export function defaultConfig(): Config {
  const read = readConfig({ env: {}, sets: [], flags: {} });
  if ("problems" in read) throw new Error(`the defaults are refused: ${JSON.stringify(read.problems)}`);
  return read.config;
}
