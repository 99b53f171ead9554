/** Makes the real git repository of a history, in a temporary folder, whose reflog records how the target moves. */
import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainEnvironment } from "../support/repositories.ts";
import type { Files } from "./tree.ts";
import { Trees } from "./trees.ts";

export const RUN = "r1";
export const TARGET = `refs/heads/skein/${RUN}/target`;
export const PROOFS = `refs/notes/skein/${RUN}`;

export type Git = (...args: readonly string[]) => Promise<string>;

export type Place = AsyncDisposable & {
  readonly folder: string;
  readonly base: string;
  readonly trees: Trees;
  /** Runs git: throws with its message if it fails; gives standard output without the last line end. */
  readonly git: Git;
  /** Runs git with text on standard input, and gives its output as bytes. */
  readonly gitWith: (input: string, ...args: readonly string[]) => Promise<Buffer>;
};

export async function makePlace(files: Files): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "skein-history-"));
  const gitWith = (input: string, ...args: readonly string[]) => run(folder, args, input);
  const git: Git = async (...args) => (await gitWith("", ...args)).toString().replace(/\n$/, "");
  await git("init", "-q", "-b", "main", "--template=");
  const person = "[user]\n\tname = Test Person\n\temail = person@example.invalid\n";
  await appendFile(join(folder, ".git/config"), `${person}[core]\n\tlogAllRefUpdates = always\n`);
  const trees = new Trees(join(folder, ".git"));
  const base = await trees.commit(undefined, files, "first\n");
  await git("update-ref", "refs/heads/main", base);
  await git("update-ref", "-m", "begin", TARGET, base);
  return {
    folder,
    base,
    trees,
    git,
    gitWith,
    async [Symbol.asyncDispose]() {
      trees[Symbol.dispose]();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function run(folder: string, args: readonly string[], input: string): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { cwd: folder, env: plainEnvironment(), maxBuffer: 1 << 28, encoding: "buffer" } as const;
  const child = execFile("git", ["-c", "gc.auto=0", ...args], options, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`git ${args.join(" ")}: ${stderr.toString().trim() || error.message}`));
  });
  child.stdin!.on("error", () => {}); // Git ended before it had read everything; its exit code tells why.
  child.stdin!.end(input);
  return promise;
}
