/** Checks whether a program can be started, because the exit code of a shell that cannot start it may mean anything. */
import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { promisify } from "node:util";
import { type Failure, failure } from "../../core/failure.ts";
import type { Program } from "../../ports/programs.ts";

type Start = Pick<Program, "command" | "folder" | "environment">;

export async function whyUnstartable(program: Start): Promise<Failure | undefined> {
  const [name] = program.command;
  const failed = (why: string, next = "install it, or correct the command") =>
    failure("agent-failed", `${name} ${why}`, next);
  const folder = await stat(program.folder).catch(() => undefined);
  if (!folder?.isDirectory())
    return failed(
      `cannot run in ${program.folder}: there is no such folder`,
      "retry: the folder was removed",
    );
  const places = name.includes("/") ? [resolve(program.folder, name)] : onPath(program, name);
  let isThere = false;
  for (const place of places) {
    const state = await stateOf(place);
    if (state === "runs") return undefined;
    if (state === "no interpreter") return failed("cannot be run: the program in its first line is missing");
    isThere ||= state === "not executable";
  }
  if (isThere) return failed("is not executable", `chmod +x ${quoted(name)}`);
  return failed(name.includes("/") ? "was not found" : "was not found on the PATH");
}

const onPath = (program: Start, name: string): string[] =>
  name === ""
    ? []
    : (program.environment["PATH"] ?? DEFAULT_PATH)
        .split(delimiter)
        .map((folder) => resolve(program.folder, folder, name));

/** The folders that a shell without a PATH searches. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

async function stateOf(path: string): Promise<"missing" | "not executable" | "no interpreter" | "runs"> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return "missing";
  const mayRun = await access(path, constants.X_OK).then(
    () => found.isFile(),
    () => false,
  );
  if (!mayRun) return "not executable";
  const interpreter = await interpreterOf(path);
  return interpreter === undefined || (await stat(interpreter).catch(() => undefined))
    ? "runs"
    : "no interpreter";
}

/** The program behind "#!"; undefined if there is none, or the file may be run but not read. */
async function interpreterOf(path: string): Promise<string | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  return /^#![ \t]*(\/[^\s]*)/.exec(buffer.toString("latin1", 0, bytesRead))?.[1];
}

const quoted = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The version of the Node that scripts would run with, such as "22.19.0"; undefined if there is none. */
export async function nodeOnPath(
  environment: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string | undefined> {
  // Run by `env`, as in the first line of a script, because `execFile` itself searches the PATH of this process.
  const asked = promisify(execFile)("/usr/bin/env", ["node", "--version"], { env: environment, signal });
  return asked.then(
    ({ stdout }) => /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1],
    () => undefined, // The agent reports the problem itself.
  );
}
