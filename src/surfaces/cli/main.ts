/** Runs `skein …`: reads the command line, and returns the exit code. */

import { quoted } from "../../text/words.ts";
import { type Context, refuse } from "./context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { processInput } from "./input.ts";
import { type Output, processOutput } from "./output.ts";

export async function main(
  given: readonly string[],
  output: Output = processOutput(),
  around: Surroundings = { env: process.env, folder: currentFolder() },
): Promise<ExitCode> {
  const args = given.map((arg) => (LIST.test(arg) ? ` ${arg}` : arg));
  const json = wantsJson(args);
  const command = invocationOf(process.argv[1], around.env["PATH"]);
  const input = around.input ?? processInput;
  const context: Context = { ...output, ...around, command, json, now: Date.now, input };
  if (around.folder !== "") return (await import("./program.ts")).perform(args, context);
  const message = "the current folder was deleted";
  const next = `cd to a folder that exists, such as your repository, and call ${command} again`;
  return refuse(context, EXIT.configuration, { kind: "configuration", message, next });
}

/** "- Add a flag" is the first line of a list, not an option. */
const LIST = /^-\s/;

type Surroundings = Pick<Context, "env" | "folder"> & Partial<Pick<Context, "input">>;

/** Empty if the folder no longer exists. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch {
    return ""; // Deleted, or on a disk that is gone: `main` reports it.
  }
}

/** What a person types to call this command again. `file` is the launcher that was started, `searched` the PATH. */
export function invocationOf(file: string | undefined, searched = ""): string {
  const [, folder = "", name = ""] = /^(.*)\/([^/]+)$/.exec(file ?? "") ?? [];
  if (name !== "skein") return "skein"; // Started in another way, such as by a test.
  // npm adds such folders only while one of its scripts runs.
  const isLasting = (entry: string) => !/(?:^|\/)node_modules\/\.bin\/?$/.test(entry);
  const isFound = searched
    .split(":")
    .some((entry) => isLasting(entry) && entry.replace(/\/+$/, "") === folder);
  return isFound ? "skein" : quoted(`${folder}/${name}`);
}

const wantsJson = (args: readonly string[]) => args.slice(0, endOfOptions(args)).includes("--json");
const endOfOptions = (args: readonly string[]) => (args.includes("--") ? args.indexOf("--") : args.length);
