/** Makes a new repository with one commit for an example to work in, which is removed at the end of its scope. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

export async function throwawayRepository(files: Readonly<Record<string, string>>) {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-example-"));
  const folder = path.join(outer, "project");
  await mkdir(folder);
  const git = async (...args: readonly string[]) =>
    (await promisify(execFile)("git", args, { cwd: folder })).stdout.trim();
  await git("init", "-q", "-b", "main");
  await git("config", "user.name", "An Example");
  await git("config", "user.email", "example@example.invalid");
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  await git("add", ".");
  await git("commit", "-q", "-m", "The beginning");
  return {
    folder,
    git,
    /** Keeps the state of runs in the same folder; without this it is in ~/.local/state/skein. */
    env: { ...process.env, SKEIN_STATE_DIR: path.join(outer, "state") },
    [Symbol.asyncDispose]: () => rm(outer, { recursive: true, force: true, maxRetries: 3 }),
  };
}
