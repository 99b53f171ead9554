/** Parses the command line, runs the command, and words errors about what was typed. */
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { addCommands } from "./commands.ts";
import type { Context, Perform } from "./context.ts";
import { EXIT, EXIT_MEANINGS, type ExitCode } from "./exit-codes.ts";
import { type Output, SILENT } from "./output.ts";
import { versionText } from "./version.ts";

export async function perform(args: readonly string[], context: Context): Promise<ExitCode> {
  const { out, err, json } = context;
  let code: ExitCode = EXIT.done;
  const performs: Perform = async (act) => {
    code = await act(context);
  };
  // Commander shows the help if no command is given; with --json an error object is printed instead.
  const program = createProgram({ out, err: json ? SILENT : err }, json);
  await addCommands(program, args, performs);
  addHelpCommand(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    const see = helpFor(args, program);
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
    .version(versionText(json), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .option("--json", "write machine-readable output, errors included")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: out.write,
      writeErr: err.write,
      outputError: () => {}, // `main` words the errors.
      getOutHasColors: () => out.hasColours,
      getErrHasColors: () => err.hasColours,
    })
    .configureHelp({
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
      showGlobalOptions: true,
    })
    .addHelpText("after", helpTail);
}

function addHelpCommand(program: Command) {
  program
    .command("help [command...]")
    .description("show this help, or that of one command")
    .action(([name, part]: readonly string[]) => {
      const verb = name === undefined ? program : program.commands.find((it) => it.name() === name);
      const below = verb?.commands.find((it) => it.name() === part);
      // Parsing the unknown name as a command gives the same refusal, with the same suggestions.
      if (verb === undefined) program.parse(["--", name as string], { from: "user" });
      else (below ?? verb).outputHelp();
    });
}

function helpTail(): string {
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code.padEnd(5)}${meaning}`);
  return [
    "",
    "Examples:",
    "  skein demo                               # watch a whole run, without a model",
    "  skein run SPEC.md --agent ./my-agent.sh  # work on a goal in this repository",
    "  skein status                             # list the runs",
    "  skein deliver                            # merge what landed into your branch",
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

/** Commander quotes what was typed, which must neither control the terminal nor fill it. */
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

/** The help that explains a mistake: of the typed command, if there is such a command. */
function helpFor(args: readonly string[], program: Command): string {
  const [name, part] = args.filter((arg) => !arg.startsWith("-"));
  const found = program.commands.find((it) => it.name() === name && name !== "help");
  if (found === undefined) return "skein --help";
  const below = found.commands.find((it) => it.name() === part);
  return ["skein", found.name(), ...(below ? [below.name()] : []), "--help"].join(" ");
}
