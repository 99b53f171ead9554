/** Reads the configuration: defaults, then aliases, the file, SKEIN_* and the command line; the later one counts. */
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { messageOf } from "../core/failure.ts";
import type { Environment } from "../ports/project.ts";
import type { Agrees, TrustAsk } from "../ports/trust.ts";
import { closest } from "../text/closest.ts";
import { settingAsks } from "./asks.ts";
import { issueText } from "./issue-text.ts";
import { flagOf, GROUPS, KEYS } from "./keys.ts";
import { type ConfigEntry, type ConfigProblem, placeOf, wrongKey } from "./problem.ts";
import type { Config } from "./schema.ts";
import { policyTrouble } from "./to-policy.ts";
import { ALIASES, isSetting, PREFIX } from "./variables.ts";

type ConfigSources = {
  /** As the caller read it: this module reads no files. */
  readonly file?: ConfigFile;
  /** What the file may ask for; undefined: the file is not the repository's, and may ask for everything. */
  readonly agrees?: Agrees;
  readonly env: Environment;
  /** Each `--set`, as `key=value`. */
  readonly sets: readonly string[];
  /** Values of flags that stand for a key, by that key. */
  readonly flags: Readonly<Record<string, unknown>>;
};

export type ReadConfig = {
  readonly config: Config;
  /** Where each key's value comes from: "skein.yaml:3", "SKEIN_WORKERS", "--set", "default". */
  readonly origins: Readonly<Record<string, string>>;
  readonly notices: readonly string[];
};

/** `asks`: all that the file asks for beyond the harmless. */
export type ReadSettings = ReadConfig & {
  readonly asks: readonly TrustAsk[];
  /** Asks that are not agreed to and would have an effect: these keys have their values from elsewhere. */
  readonly withheld: readonly TrustAsk[];
};

export type Problems = { readonly problems: readonly ConfigProblem[] };

export function readConfig({ file, agrees, env, sets, flags }: ConfigSources): ReadSettings | Problems {
  const written = file ? readFileText(file) : { entries: [], problems: [] };
  const [environment, set, flagged] = [fromEnvironment(env), fromSets(sets), fromFlags(flags)];
  const own = [...environment.entries, ...set.entries, ...flagged.entries];
  const asked = written.entries.map((entry) => ({ entry, asks: agrees ? asksOf(entry) : [] }));
  const isWithheld = (asks: readonly TrustAsk[]) => agrees !== undefined && !asks.every(agrees);
  const entries = asked.flatMap(({ entry, asks }) => (isWithheld(asks) ? [] : [entry]));
  const given = [...entries, ...own];
  const aliases = fromAliases(env, new Set(given.map(({ key }) => key)));
  const result = assemble([...aliases, ...given]);
  const said = new Set(own.map(({ key }) => (key === "model" ? "agent" : key)));
  const withheld = asked.flatMap(({ entry: { key }, asks }) =>
    isWithheld(asks) && !said.has(key === "model" ? "agent" : key) ? asks : [],
  );
  const problems = [written, environment, set, flagged].flatMap((source) => source.problems);
  if ("problems" in result) return { problems: [...problems, ...result.problems] };
  if (problems.length > 0) return { problems };
  const notices = aliases.map(({ key, origin }) => `${key} is taken from ${origin}`);
  return {
    ...result,
    notices: [...notices, ...environment.notices, ...goneIn(result.config)],
    asks: asked.flatMap(({ asks }) => asks),
    withheld: withheld.filter((ask) => agrees?.(ask) === false),
  };
}

/** Settings that are read for one more version and do nothing. */
const goneIn = ({ reconciler }: Config): readonly string[] =>
  reconciler === "model"
    ? ["reconciler: model has no effect any more, rules make fix tasks: remove the setting"]
    : [];

/** A value that cannot be read asks for nothing, because it is refused anyway. */
function asksOf(entry: ConfigEntry): readonly TrustAsk[] {
  const read = typed(entry);
  return "value" in read && read.value !== undefined ? settingAsks(entry.key, read.value, entry.origin) : [];
}

/** Checks every entry, also those that a later one overrides, so that every mistake in a file is reported. */
export function assemble(entries: readonly ConfigEntry[]): Pick<ReadConfig, "config" | "origins"> | Problems {
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

/** The file, the environment, --set, the flags: within one source, neither of two entries overrides the other. */
const sourceOf = ({ origin }: ConfigEntry) => /^(?:SKEIN_|--(?!set$))/.exec(origin)?.[0] ?? origin;

function originOf(entry: ConfigEntry | undefined): string {
  if (!entry) return "default";
  return entry.line === undefined ? entry.origin : `${entry.origin}:${entry.line}`;
}

type Read = { readonly value: unknown } | { readonly message: string };

/** A text is tried as what it looks like, then as a string: a program may be called `true`, a commit 1234567. */
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

/** The value that YAML reads, unless that is a string, too: YAML's quotes and comments have no meaning here. */
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
    return undefined; // It contains an alias, so it was not meant as YAML.
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

/** For messages when nothing valid is configured yet. */
export function defaultConfig(): Config {
  const read = readConfig({ env: {}, sets: [], flags: {} });
  if ("problems" in read) throw new Error(`the defaults are refused: ${JSON.stringify(read.problems)}`);
  return read.config;
}

/** The entries from the environment or the command line, by key, each with its origin. */
type Found = {
  readonly entries: readonly ConfigEntry[];
  readonly problems: readonly ConfigProblem[];
  readonly notices: readonly string[];
};

/**
 * Only keys that no better source sets. Aliases may be meant for another program: an invalid value that another source
 * overrides is not an error.
 */
function fromAliases(env: Environment, given: ReadonlySet<string>): readonly ConfigEntry[] {
  const used = new Map<string, ConfigEntry>();
  for (const [variable, key] of ALIASES) {
    const value = env[variable];
    if (value && !given.has(key) && !used.has(key))
      used.set(key, { key, value, isText: true, origin: variable });
  }
  return [...used.values()];
}

/**
 * An empty variable counts as unset. A name that is nearly a key's is an error; any other may belong to another
 * program.
 */
function fromEnvironment(env: Environment): Found {
  const keys = new Map([...KEYS.values()].map(({ name, variable }) => [variable, name]));
  const found = { entries: [] as ConfigEntry[], problems: [] as ConfigProblem[], notices: [] as string[] };
  for (const [variable, value] of Object.entries(env)) {
    if (!value || !isSetting(variable)) continue;
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

/** Compares without the common prefix, which would make unrelated names look similar. */
function nearest(variable: string, variables: readonly string[]): string | undefined {
  const [near] = closest(
    variable.slice(PREFIX.length),
    variables.map((name) => name.slice(PREFIX.length)),
  );
  return near === undefined ? undefined : PREFIX + near;
}

const MAX_KEY_CHARS = 60;

/** `key=value`; the last one for a key counts. */
function fromSets(sets: readonly string[]): Found {
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

function fromFlags(flags: Readonly<Record<string, unknown>>): Found {
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

/** The file skein.yaml. Reading it gives its keys with their places, or what is wrong and where. */
type ConfigFile = { readonly name: string; readonly text: string };
type FileFound = { readonly entries: readonly ConfigEntry[]; readonly problems: readonly ConfigProblem[] };

const MAX_CHARS = 1_000_000;
/** Copies by anchors: without a limit, a file of ten lines can become gigabytes. */
const MAX_ALIASES = 100;

function readFileText(file: ConfigFile): FileFound {
  if (file.text.length <= MAX_CHARS) return new Reader(file).read();
  const message = `is longer than ${MAX_CHARS} characters`;
  return { entries: [], problems: [{ key: "", message, origin: file.name }] };
}

/** Later syntax errors mostly follow from the first few. */
const MAX_SYNTAX_ERRORS = 3;

class Reader {
  readonly #file: ConfigFile;
  readonly #lines = new LineCounter();
  readonly #entries: ConfigEntry[] = [];
  readonly #problems: ConfigProblem[] = [];

  constructor(file: ConfigFile) {
    this.#file = file;
  }

  read(): FileFound {
    const document = parseDocument(this.#file.text, { lineCounter: this.#lines, prettyErrors: false });
    for (const { message, pos } of [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_ERRORS))
      this.#refuse("", `is not valid YAML: ${message}`, this.#place(pos[0]));
    const { contents } = document;
    if (this.#problems.length > 0 || contents === null || isNothing(contents)) return this.#found();
    if (isMap(contents)) this.#group(contents, "", document);
    else
      this.#refuse(
        "",
        "must contain keys with values, such as `workers: 4`",
        this.#place(contents.range?.[0]),
      );
    return this.#found();
  }

  #found(): FileFound {
    return { entries: this.#entries, problems: this.#problems };
  }

  #group(map: YAMLMap, above: string, document: Document): void {
    for (const { key: name, value } of map.items as Pair<Node, Node | null>[]) {
      const place = this.#place(name.range?.[0]);
      const key = above + (isScalar(name) ? String(name.value) : "?");
      const wrong = wrongKey(key);
      if (isMap(value) && GROUPS.has(key)) this.#group(value, `${key}.`, document);
      else if (isNothing(value) && GROUPS.has(key))
        continue; // Everything in it is commented out.
      else if (wrong !== undefined) this.#refuse(key, wrong, place);
      else if (value === null || isNothing(value))
        this.#refuse(key, "has no value: give one, or remove it", place);
      else this.#entry(key, value, document, place);
    }
  }

  #entry(key: string, node: Node, document: Document, place: Place): void {
    try {
      const value: unknown = node.toJS(document, { maxAliasCount: MAX_ALIASES });
      this.#entries.push({ key, value, isText: false, ...place });
    } catch (error) {
      if (!(error instanceof ReferenceError)) throw error;
      this.#refuse(key, `cannot be read: ${messageOf(error)}`, place); // An alias of nothing, or too many of them.
    }
  }

  #refuse(key: string, message: string, place: Place): void {
    this.#problems.push({ key, message, ...place });
  }

  #place(offset: number | undefined): Place {
    const { line, col } = this.#lines.linePos(offset ?? 0);
    return { origin: this.#file.name, line, column: col };
  }
}

type Place = { readonly origin: string; readonly line: number; readonly column: number };

const isNothing = (node: unknown) => node === null || (isScalar(node) && node.value === null);
