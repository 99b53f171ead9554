/** Can a program be started at all? Asked before, because a shell answers with an exit code that may mean anything. */
import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { type Failure, failure } from "../../core/failure.ts";
import type { Program } from "../../ports/programs.ts";

type Start = Pick<Program, "command" | "folder" | "environment">;

export async function whyUnstartable(program: Start): Promise<Failure | undefined> {
  const [name] = program.command;
  if (!(await isFolder(program.folder))) {
    return failure("agent-failed", `${name} cannot run in ${program.folder}: there is no such folder`, AGAIN);
  }
  const places = name.includes("/") ? [resolve(program.folder, name)] : onPath(program, name);
  let isThere = false;
  for (const place of places) {
    const what = await look(place);
    if (what === "runs") return undefined;
    if (what === "no interpreter") {
      return failure(
        "agent-failed",
        `${name} cannot be run: the program in its first line is missing`,
        CHECK,
      );
    }
    isThere ||= what === "not executable";
  }
  if (isThere) return failure("agent-failed", `${name} is not executable`, `chmod +x ${quoted(name)}`);
  return failure(
    "agent-failed",
    name.includes("/") ? `${name} was not found` : `${name} was not found on the PATH`,
    CHECK,
  );
}

const AGAIN = "the folder was removed while it was in use: try again";
const CHECK = "install it, or correct the command";

const onPath = (program: Start, name: string): string[] =>
  name === ""
    ? []
    : (program.environment["PATH"] ?? DEFAULT_PATH)
        .split(delimiter)
        .map((folder) => resolve(program.folder, folder, name));

/** What a shell without a PATH looks through. */
const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

async function look(path: string): Promise<"missing" | "not executable" | "no interpreter" | "runs"> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) return "missing";
  if (!found.isFile()) return "not executable";
  const mayRun = await access(path, constants.X_OK).then(
    () => true,
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
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return /^#![ \t]*(\/[^\s]*)/.exec(buffer.toString("latin1", 0, bytesRead))?.[1];
  } finally {
    await file.close();
  }
}

/** As a shell reads it back. */
const quoted = (text: string) => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
