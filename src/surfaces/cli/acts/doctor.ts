/** `skein doctor`: could a run start here now, what stands in the way, and what is configured? */
import type { Disk } from "../../../compose.ts";
import { type Failed, hasFailed } from "../../../ports/repository.ts";
import { type Act, type Context, say, writeJson } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { DoctorOptions } from "../verbs/options.ts";
import { harmless, onPage, plural, table } from "../words.ts";
import { diagnose, MIN_FREE_BYTES, NEEDED_GIT, NEEDED_NODE } from "./doctor-checks.ts";
import { type Facts, gatherFacts } from "./doctor-facts.ts";
import type { Finding } from "./doctor-finding.ts";
import { trialAsked, trialOf } from "./doctor-gate.ts";
import { redactorOf, type Setting, settingsOf, valueText, withoutSecretWords } from "./doctor-values.ts";

export const doctor: Act<DoctorOptions> = async (context, given) => {
  const { options, isAsked } = trialAsked(given);
  const facts = await gatherFacts(context, options);
  const { configuration } = facts;
  const pass = "config" in configuration ? configuration.config.workspace.pass : [];
  const redact = redactorOf(context.env, pass);
  const first = redact(diagnose(facts));
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

const TONES = { ok: "good", warn: "bad", bad: "bad" } as const;
const LEVEL_COLUMNS = 6;
const NAME_COLUMNS = 14;
const INDENT = " ".repeat(LEVEL_COLUMNS + NAME_COLUMNS);

function sayFinding(context: Context, { name, level, text, next }: Finding): void {
  const { out } = context;
  // Broken into lines with blanks in front, which then give way to the name: what colours take counts for no column.
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

function sayEnd(context: Context, findings: readonly Finding[], canRun: boolean): void {
  const count = (level: Finding["level"]) => findings.filter((finding) => finding.level === level).length;
  const warnings = count("warn") === 0 ? "" : `, with ${plural(count("warn"), "warning")}`;
  say(context);
  if (canRun) say(context, paint(context.out, "good", `A run could start now${warnings}.`));
  else
    say(
      context,
      paint(context.out, "bad", `No run could start: ${plural(count("bad"), "problem")}${warnings}.`),
    );
}

/** The same keys whatever was found; null is what could not be seen. */
function factsJson(facts: Facts): Readonly<Record<string, unknown>> {
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
