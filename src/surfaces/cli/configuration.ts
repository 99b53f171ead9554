/** Reads a run's configuration from skein.yaml, the environment, --set and flags, or from a resumed run's record. */
import { open } from "node:fs/promises";
import type { Misconfigured } from "../../app/inspect/facts.ts";
import { type Refused, misconfigured as refusedConfiguration } from "../../app/refused.ts";
import { trustParts } from "../../compose/roles.ts";
import {
  asBegun,
  type Config,
  type ConfigProblem,
  fromSettings,
  problemText,
  type ReadConfig,
  type ReadSettings,
  readConfig,
} from "../../config/index.ts";
import { hasFailed } from "../../core/result.ts";
import type { Project } from "../../ports/project.ts";
import { type Agrees, askId, OWN_PROMPTS, type TrustAsk } from "../../ports/trust.ts";
import type { SettingOptions } from "./commands/options.ts";
import { configFile, type Given, isRepositorys, NOTHING, withoutFile } from "./config-file.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT, type Exit } from "./exit-codes.ts";
import { flagsOf } from "./flags.ts";
import { agreedBy, askOrRefuse, standingHere, untrusted } from "./trust.ts";

/** `agreed`: the ids of what the repository's files may ask for, stored in the run's record. */
type Configured = ReadConfig & { readonly agreed: readonly string[] };

/** Refuses the command unless everything that the repository's files ask for is agreed to. */
export async function configure(
  context: Context,
  project: Project,
  given: Given,
): Promise<Configured | Exit> {
  const { top } = project.located;
  const first = await agreedHere(context, project.located, given);
  if ("message" in first) return { exit: refuse(context, EXIT.configuration, first) };
  if (first.left.length === 0) return first;
  const refused = await askOrRefuse(context, top, given);
  if (refused !== undefined) return { exit: refused };
  const again = await agreedHere(context, project.located, given);
  if ("message" in again) return { exit: refuse(context, EXIT.configuration, again) };
  return again.left.length === 0 ? again : { exit: refuse(context, EXIT.configuration, CHANGING) };
}

const CHANGING = {
  kind: "configuration",
  message: "the repository's files came to ask for something else while you agreed",
  next: "see what has changed them, then call it again",
};

/** `left`: what is not agreed to, in skein.yaml as far as it has an effect, and in all other files. */
async function agreedHere(
  context: Context,
  located: Project["located"],
  given: Given,
): Promise<(Configured & { readonly left: readonly TrustAsk[] }) | Misconfigured> {
  const read = await readHere(context, located, given);
  if ("message" in read) return read;
  const { prompts } = read.config;
  const isOwn = prompts === undefined || !isRepositorys(read.origins["prompts"]);
  const files = await trustParts(context.env).fileAsks(located.top, isOwn ? undefined : prompts);
  const asks = [...files, ...(given.planAsks ?? [])];
  const agrees = asks.length === 0 ? NOTHING : await agreementHere(context, located, given);
  if ("message" in agrees) return agrees;
  const own = isOwn && prompts !== undefined ? [OWN_PROMPTS] : [];
  return {
    ...read,
    left: [...read.withheld, ...asks.filter((ask) => !agrees(ask))],
    agreed: [...asks, ...own].map(askId),
  };
}

/** For commands that report problems and continue: what is not agreed to is reported, and left out. */
export async function inspectHere(
  context: Context,
  located: Project["located"] | undefined,
  given: Given,
): Promise<(ReadConfig & { readonly untrusted?: Misconfigured }) | Misconfigured> {
  if (located === undefined) return readHere(context, located, given);
  const read = await agreedHere(context, located, given);
  if ("message" in read || read.left.length === 0) return read;
  const here = await standingHere(context, located.top, given);
  return hasFailed(here)
    ? { ...here.failure, kind: "configuration" }
    : { ...read, untrusted: untrusted(context, here) };
}

/**
 * Reads the configuration without printing; the caller reports problems. What the repository's file asks for without an
 * agreement is withheld. Outside a repository there is no file; a file from elsewhere is the user's own.
 */
export async function readHere(
  context: Context,
  located: Project["located"] | undefined,
  given: Given,
): Promise<ReadSettings | Misconfigured> {
  const file = await configFile(context, located, given);
  if (file && "message" in file) return file;
  const sources = { ...(file ? { file } : {}), ...withoutFile(context, given) };
  const isTheirs = located !== undefined && file?.isTheirs === true;
  const read = readConfig({ ...sources, ...(isTheirs && { agrees: NOTHING }) });
  if ("problems" in read) return misconfigured(read.problems);
  if (!isTheirs || read.withheld.length === 0) return read;
  const agrees = await agreementHere(context, located, given);
  if ("message" in agrees) return agrees;
  const agreed = readConfig({ ...sources, agrees });
  return "problems" in agreed ? misconfigured(agreed.problems) : agreed;
}

/** What was agreed to here before, and what `--trust` agrees to now. */
async function agreementHere(
  context: Context,
  located: Project["located"],
  given: Given,
): Promise<Agrees | Misconfigured> {
  const here = await standingHere(context, located.top, given);
  if (hasFailed(here)) return { ...here.failure, kind: "configuration" };
  const { agrees, unagreed } = here.standing;
  if (given.trust === undefined || unagreed.length === 0) return agrees;
  const said = agreedBy(context, here.standing, given.trust);
  return "message" in said ? said : (ask) => agrees(ask) || said(ask);
}

/**
 * The settings of the fleet that stores the runs, if there is one. A configuration file that does not mention a fleet
 * is not parsed.
 */
export async function fleetSettings(
  context: Context,
  located: Project["located"],
  given: Pick<Given, "fleet" | "set" | "config" | "trust">,
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
  if (read.withheld.some(({ name }) => name.startsWith("fleet."))) {
    const here = await standingHere(context, located.top, given);
    return hasFailed(here) ? { ...here.failure, kind: "configuration" } : untrusted(context, here);
  }
  return read.config.fleet.enabled ? read.config.fleet : undefined;
}

/** Reads the record like a configuration file, so that options given now override it. */
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

/** The end of a file, from the start of a line; empty if the file cannot be read. */
export async function readEnd(file: string, maxBytes: number): Promise<string> {
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString("utf8", 0, bytesRead);
    return start === 0 ? text : text.slice(text.indexOf("\n") + 1);
  } catch {
    return ""; // The text is only a help; the file's name is shown as well.
  }
}
