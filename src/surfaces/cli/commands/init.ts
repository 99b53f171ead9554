/** `skein init`: writes a first skein.yaml. */

import { existsSync } from "node:fs";
import path from "node:path";
import { inspectGate } from "../../../app/inspect/gate.ts";
import { inspectParts } from "../../../compose/inspection.ts";
import { defaultConfig, readConfig, starterText } from "../../../config/index.ts";
import { hasFailed } from "../../../core/result.ts";
import type { SetupFacts } from "../../../ports/inspection.ts";
import type { Project } from "../../../ports/project.ts";
import type { TrustAsk } from "../../../ports/trust.ts";
import { commands, harmless } from "../../../text/words.ts";
import { hasExit, NEVER, openHere } from "../acts/project.ts";
import { onPage } from "../columns.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { lookAt, type Unwritten, writeNew } from "../files.ts";
import { paint } from "../output.ts";
import { agreeToWritten } from "../trust.ts";
import { type AddTo, addRepo, examples, type RepoOption } from "./options.ts";

type InitOptions = RepoOption & { readonly force?: true; readonly print?: true };

export const addInit: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Inspects the repository and writes a commented skein.yaml at its top: the gate that was found, how " +
        "workspaces are set up, and the most common settings with their defaults. Writes nothing else, and keeps an " +
        "existing file.",
    )
    .option("--force", "replace an existing skein.yaml")
    .option("--print", "print the file instead of writing it")
    .addHelpText("after", examples("skein init", "skein init --print", "skein init --force"))
    .action((options: InitOptions) => perform(async (context) => init(context, options)));
};

const NAME = "skein.yaml";
/** Only one of the two names may exist. */
const OTHER_NAME = "skein.yml";
/** A hint is not worth more time. */
const MAX_HINT_MS = 5_000;

const init: Act<InitOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const { located } = project;
  const file = path.join(located.top, NAME);
  const unwanted = options.print ? undefined : await refuseFile(context, project, options);
  if (unwanted !== undefined) return unwanted;
  const looks = inspectParts(context.env);
  const gate = await inspectGate({ located, config: defaultConfig() }, located.head, looks, NEVER);
  if (hasFailed(gate)) return refuse(context, EXIT.configuration, gate.failure);
  const setup = await looks.workspaces.setup(located, located.head, NEVER);
  const ignored = await looks.workspaces.ignoredSettings(located, AbortSignal.timeout(MAX_HINT_MS));
  const found = { gate: { found: gate.found, commands: gate.commands.map(({ run }) => run) } };
  const text = starterText(setup === undefined ? found : { ...found, setup });
  const seen = { ...found, setup: setup ?? null, ignored };
  if (options.print) {
    if (context.json) writeJson(context, { file, isWritten: false, isReplaced: false, text, ...seen });
    else context.out.write(text);
    return EXIT.done;
  }
  const written = await writeNew(file, text, options.force === true);
  if ("why" in written) return refuseWrite(context, file, written);
  const untrusted = await agreeToWritten(context, located.top, asksOf(text), "init");
  if (untrusted !== undefined) return untrusted;
  if (context.json) writeJson(context, { file, isWritten: true, ...written, text, ...seen });
  else sayWritten(context, file, { ...seen, ...written });
  return EXIT.done;
};

/** The person who lets Skein write the file agrees to what these bytes ask for, not to later changes of the file. */
function asksOf(text: string): readonly TrustAsk[] {
  const read = readConfig({ file: { name: NAME, text }, agrees: () => false, env: {}, sets: [], flags: {} });
  return "problems" in read ? [] : read.asks;
}

async function refuseFile(
  context: Context,
  { located: { top, gitDir } }: Project,
  { force }: InitOptions,
): Promise<ExitCode | undefined> {
  const no = (message: string, next: string) =>
    refuse(context, EXIT.notAllDone, { kind: "configuration", message, next });
  if (top === gitDir)
    return no(
      `${top} is not a work tree, so a ${NAME} there would not be read; nothing was written`,
      `commit a ${NAME} from a clone, which a run here then reads; or skein init --print > ${NAME}, and give it with ` +
        `skein run --config ${NAME}`,
    );
  if (existsSync(path.join(top, OTHER_NAME)))
    return no(
      `${path.join(top, OTHER_NAME)} exists, and only one of the two names is allowed; nothing was written`,
      `change it by hand (skein init --print shows what would be written), or rename it to ${NAME}`,
    );
  const file = path.join(top, NAME);
  return force || !(await lookAt(file)) ? undefined : refuseExisting(context, file);
}

const refuseExisting = (context: Context, file: string): ExitCode =>
  refuse(context, EXIT.notAllDone, {
    kind: "configuration",
    message: `${file} already exists; nothing was written`,
    next: "skein init --print shows what would be written; --force replaces it",
  });

function refuseWrite(context: Context, file: string, { why, isThere }: Unwritten): ExitCode {
  if (isThere) return refuseExisting(context, file);
  return refuse(context, EXIT.notAllDone, {
    kind: "configuration",
    message: `${file} cannot be written: ${why}`,
    next: "check that the folder is writable and the disk has space; skein init --print writes nothing",
  });
}

type Seen = {
  readonly gate: { readonly found: string; readonly commands: readonly string[] };
  readonly setup: SetupFacts | null;
  readonly ignored: readonly string[];
  readonly isReplaced: boolean;
};

function sayWritten(context: Context, file: string, { gate, setup, ignored, isReplaced }: Seen): void {
  const { out, command } = context;
  say(context, `${isReplaced ? "replaced" : "wrote"} ${harmless(file)}`);
  say(context);
  const row = (name: string, text: string, tone: "plain" | "bad" = "plain") => {
    const lines = onPage(out, INDENT + harmless(text), INDENT).slice(INDENT.length);
    say(context, paint(out, "quiet", name.padEnd(INDENT.length)) + paint(out, tone, lines));
  };
  if (gate.commands.length > 0) row("gate", `detected: ${gate.found}`);
  else row("gate", "none found: until you name one, tasks land untested", "bad");
  if (setup !== null) row("set-up", setupText(setup));
  if (setup?.lacks && setup.isNeeded && !setup.copy)
    row("", `It does not install ${setup.lacks.join("; ")}: add what your gate needs`, "bad");
  if (ignored.length > 0)
    row(
      "hint",
      `git ignores ${ignored.slice(0, MAX_SHOWN).join(", ")}, so workspaces do not have it: if tests need it, ` +
        "list it in .worktreeinclude; agents can then read it",
    );
  say(context);
  say(
    context,
    "Next (Skein looks for an installed agent unless skein.yaml names one: see docs/agents.md of Skein)",
  );
  const next = commands([
    [`${command} doctor --gate`, "check whether a run could start now, and whether the gate passes"],
    [`${command} run "<goal>"`],
  ]);
  for (const line of next) say(context, `  ${line}`);
}

function setupText({ command, lockFile, isNeeded, why, copy }: SetupFacts): string {
  if (!isNeeded) return `not set: ${why} Else ${command}`;
  return copy
    ? `a copy of ${copy.join(", ")}: ${why}`
    : `${command}, in each new workspace: there is ${lockFile}. ${why}`;
}

const MAX_SHOWN = 5;
const INDENT = " ".repeat(8);
