/** What does `skein …` do? Reads the command line, runs the verb, answers with an exit code. */
import { readFileSync } from "node:fs";
import { styleText } from "node:util";
import { Command, CommanderError } from "commander";
import { EXIT, EXIT_MEANINGS, type ExitCode } from "./exit-codes.ts";

/** Where the command writes; a test brings its own. */
export type Output = { readonly out: Sink; readonly err: Sink };
export type Sink = { readonly write: (text: string) => void; readonly hasColours: boolean };

export async function main(args: readonly string[], output: Output = processOutput()): Promise<ExitCode> {
  const json = wantsJson(args);
  try {
    // Commander shows the help when no verb is given; whoever asked for JSON gets an error object instead.
    await createProgram(json ? { ...output, err: SILENT } : output, json).parseAsync(args, { from: "user" });
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    if (json) output.err.write(jsonError(error));
    else if (error.code !== SHOWED_HELP) output.err.write(`skein: ${reason(error)}\nsee skein --help\n`);
    return EXIT.usage;
  }
}

const SHOWED_HELP = "commander.help";
const SILENT: Sink = { write: () => {}, hasColours: false };

/** Each verb adds itself here; the help lists what is there and nothing else. */
function createProgram({ out, err }: Output, json: boolean): Command {
  const program = new Command("skein")
    .description(
      "Plans a goal, runs many coding agents in parallel, and lands what they make.\n" +
        "This version is the foundation: the commands that run a goal come with the next ones.",
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
    .configureHelp({ styleTitle: (title) => styleText("bold", title, { validateStream: false }) })
    .addHelpText("after", helpTail);
  addHelpVerb(program);
  return program;
}

function addHelpVerb(program: Command) {
  program
    .command("help [command]")
    .description("show this help, or that of one command")
    .action((name?: string) => {
      const verb = name === undefined ? program : program.commands.find((it) => it.name() === name);
      // Parsing the unknown name as a verb gives the same refusal, with the same suggestions.
      if (verb === undefined) program.parse(["--", name as string], { from: "user" });
      else verb.outputHelp();
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
    "  skein --version        which version this is",
    "  skein help help        how to use one command",
    "",
    "Exit codes:",
    ...codes,
    "",
    "Without a command, skein shows this help and exits with 2.",
    "Colours appear on a terminal only; NO_COLOR turns them off.",
  ].join("\n");
}

const wantsJson = (args: readonly string[]) => args.slice(0, endOfOptions(args)).includes("--json");
const endOfOptions = (args: readonly string[]) => (args.includes("--") ? args.indexOf("--") : args.length);

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

const jsonError = (error: CommanderError) =>
  `${JSON.stringify({ error: { kind: "usage", message: reason(error), exitCode: EXIT.usage, see: "skein --help" } })}\n`;

const processOutput = (): Output => ({ out: sink(process.stdout), err: sink(process.stderr) });

function sink(stream: NodeJS.WriteStream): Sink {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // A reader that has seen enough (`skein --help | head -1`) closes the pipe: no failure of ours.
    if (error.code === "EPIPE") process.exit();
    // If standard error is what cannot be written, the exit code has to say it alone.
    if (stream !== process.stderr) process.stderr.write(`skein: cannot write the output: ${error.message}\n`);
    process.exit(EXIT.notAllDone);
  });
  // `hasColors` heeds NO_COLOR and the kind of terminal.
  return { write: (text) => void stream.write(text), hasColours: stream.isTTY && stream.hasColors() };
}
