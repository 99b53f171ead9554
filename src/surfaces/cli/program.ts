/** Which verb is called, and how? Reads the command line, runs the verb, words what cannot be understood. */
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import type { Context, Perform } from "./context.ts";
import { EXIT, EXIT_MEANINGS, type ExitCode } from "./exit-codes.ts";
import { type Output, SILENT } from "./output.ts";
import type { AddVerb } from "./verbs/options.ts";
import { verbsFor } from "./verbs/verbs.ts";

export async function perform(args: readonly string[], context: Context): Promise<ExitCode> {
  const { out, err, json } = context;
  const verbs = await verbsFor(args);
  let code: ExitCode = EXIT.done;
  const performs: Perform = async (act) => {
    code = await act(context);
  };
  try {
    // Commander shows the help when no verb is given; whoever asked for JSON gets an error object instead.
    const program = createProgram({ out, err: json ? SILENT : err }, json);
    addVerbs(program, verbs, performs);
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    const see = helpFor(args, verbs);
    if (json) err.write(jsonError(error, see));
    else if (error.code !== SHOWED_HELP) err.write(`skein: ${reason(error)}\nsee ${see}\n`);
    return EXIT.usage;
  }
}

const SHOWED_HELP = "commander.help";

function createProgram({ out, err }: Output, json: boolean): Command {
  return new Command("skein")
    .description(
      "Plans a goal, runs many coding agents in parallel, each in its own workspace, and lands what they " +
        "make on a branch of its own, where every commit has passed the project's tests. Your checkout is " +
        "not touched before you ask for it with `skein deliver`.",
    )
    .usage("[options] <command>")
    .version(json ? JSON.stringify({ version: version() }) : version(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .option("--json", "write machine-readable output, errors included")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: out.write,
      writeErr: err.write,
      outputError: () => {}, // `main` words the errors
      getOutHasColors: () => out.hasColours,
      getErrHasColors: () => err.hasColours,
    })
    .configureHelp({
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
      showGlobalOptions: true,
    })
    .addHelpText("after", helpTail);
}

/** Each verb adds itself; the help lists what is there and nothing else. */
function addVerbs(program: Command, verbs: readonly AddVerb[], perform: Perform): void {
  for (const addVerb of verbs) addVerb(program, perform);
  addHelpVerb(program);
}

function addHelpVerb(program: Command) {
  program
    .command("help [command...]")
    .description("show this help, or that of one command")
    .action(([name, part]: readonly string[]) => {
      const verb = name === undefined ? program : program.commands.find((it) => it.name() === name);
      const below = verb?.commands.find((it) => it.name() === part);
      // Parsing the unknown name as a verb gives the same refusal, with the same suggestions.
      if (verb === undefined) program.parse(["--", name as string], { from: "user" });
      else (below ?? verb).outputHelp();
    });
}

/** From the manifest, which lies as far above `src` as above `dist`. */
function version(): string {
  const manifest = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

function helpTail(): string {
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code.padEnd(5)}${meaning}`);
  return [
    "",
    "Examples:",
    "  skein demo                               # see a whole run, without a model",
    "  skein run SPEC.md --agent ./my-agent.sh  # work on a goal in this repository",
    "  skein status                             # which runs there are",
    "  skein deliver                            # bring what landed to your branch",
    "  skein help run                           # how to use one command",
    "",
    "Exit codes:",
    ...codes,
    "",
    "Without a command, skein shows this help and exits with 2.",
    "Colours appear on a terminal only; NO_COLOR turns them off.",
  ].join("\n");
}

const reason = (error: CommanderError) =>
  error.code === SHOWED_HELP ? "no command given" : printable(error.message.replace(/^error: /, ""));

/** Commander echoes what was typed, between quotes: it must not steer the terminal, nor fill it. */
function printable(message: string): string {
  const guess = /\n\(Did you mean [\w, :-]+\?\)$/.exec(message)?.[0] ?? "";
  const echo = message.slice(0, message.length - guess.length);
  const short = echo.replace(/'(.*)'/s, (_, typed: string) => `'${shortened(typed, MAX_ECHO_CHARS)}'`);
  return shortened(short, MAX_MESSAGE_CHARS).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, "\ufffd") + guess;
}

const MAX_ECHO_CHARS = 80;
const MAX_MESSAGE_CHARS = 300;
const shortened = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max)}…`);

const jsonError = (error: CommanderError, see: string) =>
  `${JSON.stringify({ error: { kind: "usage", message: reason(error), exitCode: EXIT.usage, see } })}\n`;

/** Where a mistake is explained: the help of the verb that was typed, if there is such a verb. */
function helpFor(args: readonly string[], verbs: readonly AddVerb[]): string {
  const program = new Command("skein");
  for (const addVerb of verbs) addVerb(program, async () => {});
  const [verb, part] = args.filter((arg) => !arg.startsWith("-"));
  const found = program.commands.find((it) => it.name() === verb);
  if (found === undefined) return "skein --help";
  const below = found.commands.find((it) => it.name() === part);
  return ["skein", found.name(), ...(below ? [below.name()] : []), "--help"].join(" ");
}
