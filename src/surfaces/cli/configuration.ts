/** How is a run configured? From skein.yaml, the environment, --set and flags; or from its record when it goes on. */
import { existsSync } from "node:fs";
import { open } from "node:fs/promises";
import path from "node:path";
import type { Misconfigured } from "../../app/inspect/facts.ts";
import { type Refused, misconfigured as refusedConfiguration } from "../../app/refused.ts";
import { askGit } from "../../compose/project.ts";
import { readAgentText, type splitWords } from "../../config/commands.ts";
import {
  asBegun,
  type Config,
  type ConfigProblem,
  fromSettings,
  problemText,
  type ReadConfig,
  readConfig,
} from "../../config/index.ts";
import { messageOf } from "../../core/failure.ts";
import type { Project } from "../../ports/project.ts";
import type { RepoOption, SettingOptions } from "./commands/options.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT, type Exit } from "./exit-codes.ts";
import { CONFIG_NAMES, configNamesIn, isMissing, readBounded } from "./files.ts";

type Given = SettingOptions &
  Pick<RepoOption, "fleet"> & { readonly base?: string; readonly config?: string };

export async function configure(
  context: Context,
  project: Project,
  given: Given,
): Promise<ReadConfig | Exit> {
  const read = await readHere(context, project.located, given);
  return "message" in read ? { exit: refuse(context, EXIT.configuration, read) } : read;
}

/** The same without a word: what is wrong is for the caller to say. Outside of a repository there is no file. */
export async function readHere(
  context: Context,
  located: Project["located"] | undefined,
  given: Given,
): Promise<ReadConfig | Misconfigured> {
  const file = await configFile(context, located, given);
  if (file && "message" in file) return file;
  const read = readConfig({ ...(file ? { file } : {}), ...withoutFile(context, given) });
  return "problems" in read ? misconfigured(read.problems) : read;
}

function withoutFile(context: Context, given: Given): Omit<Parameters<typeof readConfig>[0], "file"> {
  const { set = [], base } = given;
  const flags = { ...flagsOf(context, given), ...(base === undefined ? {} : { base }) };
  return { env: context.env, sets: set, flags };
}

/** The fleet that runs are kept in, if there is one. A configuration that does not speak of it is not read at all. */
export async function fleetSettings(
  context: Context,
  located: Project["located"],
  given: Pick<Given, "fleet" | "set" | "config">,
): Promise<Config["fleet"] | Misconfigured | undefined> {
  const file = await configFile(context, located, given);
  const text = file && "text" in file ? file.text : "";
  const isMeant =
    given.fleet === true ||
    Boolean(context.env["SKEIN_FLEET_ENABLED"]) ||
    given.set?.some((set) => set.startsWith("fleet.")) ||
    /^\s*["']?fleet["'.:]/m.test(text);
  if (!isMeant) return undefined;
  const read = await readHere(context, located, given);
  if ("message" in read) return read;
  return read.config.fleet.enabled ? read.config.fleet : undefined;
}

/** The record is read as if it were a file, so that what is given now counts for more. */
export function reconfigured(context: Context, settings: unknown, given: SettingOptions): Config | Refused {
  const flags = flagsOf(context, given);
  const sets = given.set ?? [];
  const isChanged = sets.length > 0 || Object.keys(flags).length > 0;
  const read = isChanged
    ? readConfig({
        file: { name: "the run's record", text: JSON.stringify(settings) },
        env: {},
        sets,
        flags,
      })
    : fromSettings(settings);
  if ("problems" in read) {
    const { message, lines } = misconfigured(read.problems);
    return refusedConfiguration(message, undefined, lines);
  }
  const now = sets.map((one) => one.slice(0, one.indexOf("=")));
  return asBegun(read.config, Object(settings), now);
}

const misconfigured = (problems: readonly ConfigProblem[]): Misconfigured => ({
  kind: "configuration",
  message: problems.length === 1 ? "the configuration has a mistake" : "the configuration has mistakes",
  lines: problems.map(problemText),
});

/** The keys that flags stand for. A program or a script that is named here is one that is here. */
function flagsOf(
  { folder }: Context,
  given: SettingOptions & Pick<RepoOption, "fleet">,
): Readonly<Record<string, unknown>> {
  const { agent, model, script, planner, workers, gate, gates, approve, deliver } = given;
  const scripted =
    script === undefined ? undefined : { kind: "scripted", script: path.resolve(folder, script) };
  const flags = {
    agent: scripted ?? (agent === undefined ? undefined : agentOf(agent, folder)),
    model,
    planner: planner === undefined ? scripted : planner === "none" ? planner : agentOf(planner, folder),
    workers,
    gates,
    gate: gate?.length === 1 && (gate[0] === "auto" || gate[0] === "none") ? gate[0] : gate,
    approve: approve && "first",
    deliver,
    "fleet.enabled": given.fleet,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** Jobs run in folders of their own: `./agent.sh` must go on meaning the one beside the person who typed it. */
function agentOf(typed: string, folder: string): unknown {
  if (typed.trimStart().startsWith("[")) {
    const words = jsonWords(typed);
    return "words" in words ? anchored(words.words, folder) : typed; // Refused by the schema, in its words.
  }
  const read = readAgentText(typed);
  if ("problem" in read) return typed;
  if (read.kind === "command") return anchored(read.command, folder);
  return read.kind === "acp" ? { ...read, command: anchored(read.command, folder) } : typed;
}

function anchored([first = "", ...rest]: readonly string[], folder: string): readonly string[] {
  const file = path.resolve(folder, first);
  return first.includes("/") && existsSync(file) ? [file, ...rest] : [first, ...rest];
}

function jsonWords(typed: string): ReturnType<typeof splitWords> {
  const problem = { problem: "must be a list of words" };
  try {
    const value: unknown = JSON.parse(typed);
    return Array.isArray(value) && value.every((word) => typeof word === "string")
      ? { words: value }
      : problem;
  } catch {
    return problem; // The schema says what it should be.
  }
}

/** More than anyone writes by hand; the reader has a limit of its own. */
const MAX_BYTES = 2_000_000;

async function configFile(
  context: Context,
  located: Project["located"] | undefined,
  given: Given,
): Promise<{ readonly name: string; readonly text: string } | Misconfigured | undefined> {
  const { folder } = context;
  const { config: named } = given;
  if (named === undefined && located && located.top === located.gitDir)
    return committedFile(context, located, given);
  const { top = folder } = located ?? {};
  const found = located ? configNamesIn(top) : [];
  const wrong = (message: string, next?: string): Misconfigured =>
    next === undefined ? { kind: "configuration", message } : { kind: "configuration", message, next };
  if (named === undefined && found.length > 1)
    return wrong(`there are both ${found.join(" and ")} in ${top}`, "keep one of them");
  const name = named ?? found[0];
  if (name === undefined) return undefined;
  const file = named === undefined ? path.join(top, name) : path.resolve(folder, named);
  try {
    return { name, text: await readBounded(file, MAX_BYTES) };
  } catch (error) {
    if (!isMissing(error)) return wrong(`the configuration ${name} cannot be read: ${messageOf(error)}`);
    return named === undefined
      ? wrong(`${name} is a link that leads nowhere`, "fix the link, or remove it")
      : wrong(`there is no file ${name}`, "name an existing file, or leave out --config");
  }
}

/** Where there is no work tree, what is committed counts: at the base that was named, else at HEAD. */
async function committedFile(
  context: Context,
  { top, head }: Project["located"],
  given: Given,
): Promise<{ readonly name: string; readonly text: string } | Misconfigured | undefined> {
  const read = readConfig(withoutFile(context, given));
  const base = "config" in read ? read.config.base : "HEAD"; // What is wrong is said when all of it is read.
  const commit =
    base === "HEAD"
      ? head
      : await askGit(top, ["rev-parse", "--verify", "--quiet", "--end-of-options", `${base}^{commit}`]);
  if (commit === undefined) return undefined; // There is no such base: the run says so.
  const listed = await askGit(top, ["ls-tree", "--name-only", commit, "--", ...CONFIG_NAMES]);
  const found = listed?.split("\n").filter((name) => name !== "") ?? [];
  const [name] = found;
  if (name === undefined) return undefined;
  if (found.length > 1)
    return {
      ...{ kind: "configuration", message: `there are both ${found.join(" and ")} in ${base}` },
      next: "keep one of them",
    };
  const text = await askGit(top, ["cat-file", "blob", `${commit}:${name}`]);
  return text === undefined
    ? { kind: "configuration", message: `the configuration ${name} in ${base} is not a file` }
    : { name: `${base}:${name}`, text };
}

/** The last bytes of a file, from the beginning of a line; nothing of one that cannot be read. */
export async function readEnd(file: string, maxBytes: number): Promise<string> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString("utf8", 0, bytesRead);
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } catch {
    return ""; // It is a help, and its name is shown as well.
  }
}
