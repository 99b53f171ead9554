/** `skein init`: what does a first skein.yaml say here, and may it be written? */
import { existsSync } from "node:fs";
import path from "node:path";
import {
  ignoredSettings,
  inspectGate,
  inspectSetup,
  type Project,
  type SetupFacts,
} from "../../../compose.ts";
import { starterText } from "../../../config/index.ts";
import { hasFailed } from "../../../ports/repository.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import type { InitOptions } from "../verbs/options.ts";
import { commands, harmless, onPage } from "../words.ts";
import { defaultConfig } from "./configuration.ts";
import { hasExit, NEVER, openHere } from "./project.ts";
import { lookAt, type Unwritten, writeNew } from "./write-new.ts";

const NAME = "skein.yaml";
/** Of both only one may be there. */
const OTHER_NAME = "skein.yml";
/** A hint is not worth more. */
const MAX_HINT_MS = 5_000;

export const init: Act<InitOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const { located } = project;
  const file = path.join(located.top, NAME);
  const unwanted = options.print ? undefined : await refuseFile(context, project, options);
  if (unwanted !== undefined) return unwanted;
  const gate = await inspectGate({ located, config: defaultConfig(), env: context.env }, located.head, NEVER);
  if (hasFailed(gate)) return refuse(context, EXIT.configuration, gate.failure);
  const setup = await inspectSetup(located, located.head, NEVER);
  const ignored = await ignoredSettings(located, AbortSignal.timeout(MAX_HINT_MS));
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
  if (context.json) writeJson(context, { file, isWritten: true, ...written, text, ...seen });
  else sayWritten(context, file, { ...seen, ...written });
  return EXIT.done;
};

async function refuseFile(
  context: Context,
  { located: { top, gitDir } }: Project,
  { force }: InitOptions,
): Promise<ExitCode | undefined> {
  const no = (message: string, next: string) =>
    refuse(context, EXIT.notAllDone, { kind: "configuration", message, next });
  if (top === gitDir)
    return no(
      `${top} is no work tree, so that a ${NAME} there would not be read; nothing was written`,
      "go to a work tree; or skein init --print > skein.yaml, and give it with skein run --config skein.yaml",
    );
  if (existsSync(path.join(top, OTHER_NAME)))
    return no(
      `there is ${path.join(top, OTHER_NAME)}, and only one of the two may be there; nothing was written`,
      `change it by hand (skein init --print shows what would be written), or rename it to ${NAME}`,
    );
  const file = path.join(top, NAME);
  return force || !(await lookAt(file)) ? undefined : refuseExisting(context, file);
}

const refuseExisting = (context: Context, file: string): ExitCode =>
  refuse(context, EXIT.notAllDone, {
    kind: "configuration",
    message: `${file} is there already; nothing was written`,
    next: "skein init --print shows what would be written; --force replaces it",
  });

function refuseWrite(context: Context, file: string, { why, isThere }: Unwritten): ExitCode {
  if (isThere) return refuseExisting(context, file);
  return refuse(context, EXIT.notAllDone, {
    kind: "configuration",
    message: `${file} cannot be written: ${why}`,
    next: "see whether the folder may be written and its disk has room; skein init --print writes nothing",
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
  if (gate.commands.length > 0) row("gate", `found by itself: ${gate.found}`);
  else row("gate", "none found: until you name one, landings are not gated", "bad");
  if (setup !== null) row("set-up", setupText(setup));
  if (ignored.length > 0)
    row(
      "hint",
      `git ignores ${ignored.slice(0, MAX_SHOWN).join(", ")}, so that workspaces do not have it: if tests need it, ` +
        "name it in .worktreeinclude, and agents can read it",
    );
  say(context);
  say(context, "Next (an agent is looked for, unless you name one in it: docs/agents.md of Skein says how)");
  const next = commands([[`${command} doctor`, "could a run start now?"], [`${command} run "<goal>"`]]);
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
