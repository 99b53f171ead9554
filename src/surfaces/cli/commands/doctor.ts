/** `skein doctor`: shows whether a run could start here, what prevents it, and the configuration. */
import path from "node:path";
import { Option } from "commander";
import { MIN_FREE_BYTES, NEEDED_GIT, NEEDED_NODE } from "../../../app/inspect/checks.ts";
import type { DoctorFacts, DoctorFinding } from "../../../app/inspect/facts.ts";
import { type Trial, toTry, trialFrom } from "../../../app/inspect/trial.ts";
import { fleetFindings, inspectWorker } from "../../../app/inspect/worker.ts";
import { inspect } from "../../../app/inspect.ts";
import { lookAtBase } from "../../../app/look-at-base.ts";
import { workerLooks } from "../../../compose/fleet-looks.ts";
import { inspectParts } from "../../../compose/inspection.ts";
import { partsOf } from "../../../compose/parts.ts";
import { openProject } from "../../../compose/project.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import type { Disk } from "../../../ports/inspection.ts";
import { clockTime, duration, harmless, plural, short } from "../../../text/words.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { onPage, table } from "../columns.ts";
import { inspectHere, readHere } from "../configuration.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { redactorOf, type Setting, settingsOf, valueText, withoutSecretWords } from "../doctor/values.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import {
  type AddTo,
  addRepo,
  addSettings,
  addTrusting,
  collect,
  type DoctorOptions,
  examples,
} from "./options.ts";

/** A missing command is stored as an empty text among the named ones. */
const TRIAL = new Option(
  "--gate [command]",
  "run the gate once; with a command: use that gate, as for skein run",
)
  .preset("")
  .argParser(collect);

export const addDoctor: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Checks git, the repository, the agents, the gate, the state folder and the disk, says what prevents a run and " +
        "how to fix it, and shows every setting with its origin. Changes nothing. Takes the settings of `skein run`. " +
        "An ACP agent that is named with --agent is started and asked for a session, to see whether it is logged in. " +
        "Exit code 0: a run could start now; 1: it could not. `--gate` alone runs the gate and its probe once, in a " +
        "temporary workspace. Exit code 0: the gate passes; 1: it fails; 3: it cannot run, or tests nothing.",
    )
    .option("--base <ref>", "the branch or commit to start from (default: HEAD)");
  addTrusting(addSettings(command, TRIAL))
    .option("--config <file>", "the configuration (default: skein.yaml at the top of the repository)")
    .option("--worker", "could this machine work for a fleet? (skein worker --join)")
    .option("--all", "also show settings that have their default")
    .addHelpText(
      "after",
      examples(
        "skein doctor",
        "skein doctor --model anthropic/claude-sonnet-4-5",
        "skein doctor --agent codex",
        "skein doctor --agent ./my-agent.sh",
        "skein doctor --all",
        "skein doctor --gate",
        "skein doctor --json",
      ),
    )
    .action((options: DoctorOptions) => perform(async (context) => doctor(context, options)));
};

/** For a machine that will join a fleet, with or without a repository. */
async function doctorWorker(context: Context, options: DoctorOptions): Promise<ExitCode> {
  const folder = path.resolve(context.folder, options.repo ?? ".");
  const read = await readHere(context, undefined, options);
  if ("message" in read) return refuse(context, EXIT.configuration, read);
  using stop = stopOnSignal();
  const looks = workerLooks(context.env, read.config, folder, stop.signal);
  const findings = redactorOf(context.env, [])(await inspectWorker(read.config, looks, stop.signal));
  if (stop.signal.aborted) return EXIT.interrupted;
  const canWork = findings.every(({ level }) => level !== "bad");
  if (context.json) writeJson(context, { canWork, findings });
  else for (const finding of findings) sayFinding(context, finding);
  say(
    context,
    canWork ? "This machine can work for the fleet." : "This machine cannot work for the fleet yet.",
  );
  return canWork ? EXIT.done : EXIT.notAllDone;
}

const doctor: Act<DoctorOptions> = async (context, given) => {
  if (given.worker) return doctorWorker(context, given);
  const { options, isAsked } = trialAsked(given);
  const { facts, findings: found } = await look(context, options);
  const { configuration } = facts;
  const pass = "config" in configuration ? configuration.config.workspace.pass : [];
  const redact = redactorOf(context.env, pass);
  const first = redact([...found, ...(await lookAtFleet(context, options, configuration))]);
  if (!context.json) for (const finding of first) sayFinding(context, finding);
  const trial = isAsked
    ? await trialOf(context, options, facts, (text) => say(context, paint(context.out, "quiet", text)))
    : undefined;
  const last = redact(trial?.findings ?? []);
  const findings = [...first, ...last];
  const settings = redact("config" in configuration ? settingsOf(configuration) : []);
  const canRun = findings.every(({ level }) => level !== "bad");
  if (context.json) writeJson(context, { canRun, findings, ...redact(factsJson(facts)), settings });
  else {
    for (const finding of last) sayFinding(context, finding);
    if (settings.length > 0) saySettings(context, settings, options.all === true);
    sayEnd(context, findings, canRun);
  }
  return trial?.exit || (canRun ? EXIT.done : EXIT.notAllDone);
};

async function look(context: Context, options: DoctorOptions) {
  using stack = new DisposableStack();
  // A named agent is also started, because being installed is not enough.
  const isNamed = options.agent !== undefined || options.planner !== undefined;
  return await inspect(
    {
      folder: path.resolve(context.folder, options.repo ?? "."),
      configure: (located) => inspectHere(context, located, options),
      ...(isNamed && { onSessions: () => stack.use(stopOnSignal()).signal }),
      ...(options.intoCheckout && { intoCheckout: true }),
      node: { version: process.versions.node, path: process.execPath },
    },
    inspectParts(context.env),
  );
}

/** Empty if runs are kept on this machine. */
async function lookAtFleet(
  context: Context,
  { repo = "." }: DoctorOptions,
  read: DoctorFacts["configuration"],
): Promise<readonly DoctorFinding[]> {
  if (!("config" in read && read.config.fleet.enabled)) return [];
  using stop = stopOnSignal();
  const folder = path.resolve(context.folder, repo);
  return fleetFindings(await workerLooks(context.env, read.config, folder, stop.signal).fleet());
}

const TONES = { ok: "good", warn: "bad", bad: "bad" } as const;
const LEVEL_COLUMNS = 6;
const NAME_COLUMNS = 14;
const INDENT = " ".repeat(LEVEL_COLUMNS + NAME_COLUMNS);

function sayFinding(context: Context, { name, level, text, next }: DoctorFinding): void {
  const { out } = context;
  // Wrapped with an indent in place of the name, so that colour codes do not count as columns.
  const page = (words: string) =>
    words
      .split("\n")
      .map((line) => onPage(out, INDENT + harmless(line, MAX_TEXT_CHARS), INDENT))
      .join("\n");
  const lines = page(text).slice(INDENT.length);
  const start = paint(out, TONES[level], level) + " ".repeat(LEVEL_COLUMNS - level.length);
  say(context, start + name.padEnd(NAME_COLUMNS) + lines);
  if (next !== undefined) say(context, page(`try: ${next}`));
}

const MAX_TEXT_CHARS = 1_000;
const MAX_STEP_CHARS = 200;

function saySettings(context: Context, settings: readonly Setting[], isAll: boolean): void {
  const shown = settings.filter(({ origin }) => isAll || origin !== "default");
  const folded = settings.length - shown.length;
  say(context);
  say(context, paint(context.out, "strong", "Configuration"));
  const rows = shown.map(({ key, value, origin }) => [
    key,
    origin,
    harmless(valueText(value), MAX_VALUE_CHARS),
  ]);
  for (const line of table(rows)) say(context, `  ${line}`);
  if (folded > 0)
    say(context, `  ${plural(folded, "key has its default", "keys have their default")}; --all shows them`);
}

const MAX_VALUE_CHARS = 200;

function sayEnd(context: Context, findings: readonly DoctorFinding[], canRun: boolean): void {
  const count = (level: DoctorFinding["level"]) =>
    findings.filter((finding) => finding.level === level).length;
  const warnings = count("warn") === 0 ? "" : `, with ${plural(count("warn"), "warning")}`;
  say(context);
  if (canRun) say(context, paint(context.out, "good", `A run could start now${warnings}.`));
  else
    say(
      context,
      paint(context.out, "bad", `No run could start: ${plural(count("bad"), "problem")}${warnings}.`),
    );
}

/** The same keys whatever was found; null for what could not be determined. */
function factsJson(facts: DoctorFacts): Readonly<Record<string, unknown>> {
  const { node, git, repository, base, configuration, agents, gate, isolation, state } = facts;
  const seen = <T extends object>(value: T | undefined) =>
    value === undefined || hasFailed(value) ? null : (value as Exclude<T, Failed>);
  const problemOf = ({ problem }: { readonly problem?: unknown }) => ({ problem: problem ?? null });
  const look = { repository: seen(repository), agents: seen(agents), gate: seen(gate), state: seen(state) };
  return {
    node: { ...node, needed: `${NEEDED_NODE}` },
    git: hasFailed(git)
      ? null
      : { version: git.version, needed: NEEDED_GIT, isEnough: git.problem === undefined },
    repository: look.repository && { branch: null, ...look.repository },
    base: typeof base === "string" ? base : null,
    agents: withoutSecretWords(
      look.agents?.map((one) => ({
        ...{ ...one, spec: one.spec ?? null, session: one.session ?? null, ...problemOf(one) },
      })) ?? null,
    ),
    gate: look.gate && {
      ...look.gate,
      commands: look.gate.commands.map((one) => ({ ...one, ...problemOf(one) })),
    },
    setup: seen(facts.setup),
    found: withoutSecretWords(facts.found ?? null),
    sandbox: facts.sandbox ?? null,
    prices: facts.prices ?? null,
    prompts: facts.prompts ?? null,
    specialists: facts.specialists ?? null,
    mcp: facts.mcp ?? null,
    isolation,
    state: look.state && {
      folder: look.state.folder,
      isThere: look.state.isThere,
      unwritable: look.state.unwritable ?? null,
      runs: look.state.runs,
      brokenRuns: look.state.brokenRuns,
    },
    disk: {
      state: diskJson(look.state?.disk),
      repository: diskJson(facts.repositoryDisk),
      minFreeBytes: MIN_FREE_BYTES,
      tree: facts.tree ?? null,
      workspaces: facts.room ?? null,
    },
    configuration:
      "config" in configuration
        ? { isRead: true, notices: configuration.notices, problems: [] }
        : { isRead: false, notices: [], problems: configuration.lines ?? [configuration.message] },
  };
}

const diskJson = (disk: Disk | undefined) => (disk === undefined ? null : { fileSystem: null, ...disk });

/** `--gate` without a command asks for a trial of the gate; with a command it sets the gate, as in other commands. */
function trialAsked({ gate = [], ...options }: DoctorOptions): {
  readonly options: DoctorOptions;
  readonly isAsked: boolean;
} {
  const named = gate.filter((command) => command !== "");
  return {
    options: { ...options, ...(named.length > 0 && { gate: named }) },
    isAsked: named.length < gate.length,
  };
}

const CODES = {
  passed: EXIT.done,
  failed: EXIT.notAllDone,
  unusable: EXIT.configuration,
  stopped: EXIT.interrupted,
} as const;

async function trialOf(
  context: Context,
  { repo = "." }: DoctorOptions,
  facts: DoctorFacts,
  onProgress: (text: string) => void,
): Promise<{ readonly findings: readonly DoctorFinding[]; readonly exit: ExitCode }> {
  const wanted = toTry(facts);
  const { is, findings } = wanted.is === "gate" ? await run(wanted) : wanted;
  return { findings, exit: CODES[is] };

  async function run({ found, ...request }: typeof wanted & { readonly is: "gate" }): Promise<Trial> {
    using stop = stopOnSignal();
    const project = await openProject(path.resolve(context.folder, repo), context.env, stop.signal);
    if (hasFailed(project)) return trialFrom(project);
    onProgress(`Running the gate in a fresh workspace of ${short(request.commit)} (${found}) …`);
    let last: { readonly doing: string; readonly at: number } | undefined;
    const onStep = (doing: string) => {
      last = { doing, at: context.now() };
      onProgress(`  ${clockTime(last.at)}  ${harmless(doing, MAX_STEP_CHARS)}`);
    };
    const looked = await lookAtBase({ ...request, onStep }, partsOf(project, context.env), stop.signal);
    const doing = last && `${last.doing} (for ${duration(context.now() - last.at)})`;
    return trialFrom(looked, request.config.onRedBase, doing);
  }
}
