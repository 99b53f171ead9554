/** Makes the repository of the landing bench: a given number of files, and branches that each change one file. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type BenchRepository = AsyncDisposable & { readonly folder: string; readonly git: Git };

export type Git = (...args: readonly string[]) => Promise<string>;

export async function makeBenchRepository(files: number, branches: number): Promise<BenchRepository> {
  const outer = await mkdtemp(join(tmpdir(), "skein-bench-"));
  const folder = join(outer, "repository");
  await plainGit(outer, ["init", "-q", "-b", "main", folder]);
  const git: Git = (...args) => plainGit(folder, args);
  await git("config", "user.name", "Bench");
  await git("config", "user.email", "bench@example.invalid");
  await git("config", "gc.auto", "0");
  await plainGit(folder, ["fast-import", "--quiet"], history(files, branches));
  return { folder, git, [Symbol.asyncDispose]: () => rm(outer, { recursive: true, force: true }) };
}

export const branchName = (i: number) => `work/${i}`;

/** A hundred files per folder, thirty lines per file. */
const pathOf = (i: number) => `src/folder-${Math.floor(i / 100)}/file-${i}.ts`;
const textOf = (i: number, first = "first") =>
  Array.from(
    { length: 30 },
    (_, line) => `export const v${line} = "${line === 0 ? first : `${i}-${line}`}";\n`,
  ).join("");

function history(files: number, branches: number): string {
  const by = "committer Bench <bench@example.invalid> 1700000000 +0000";
  const file = (i: number, text: string) => `M 100644 inline ${pathOf(i)}\ndata ${text.length}\n${text}\n`;
  const parts = [`commit refs/heads/main\nmark :1\n${by}\ndata 5\nfirst\n`];
  for (let i = 0; i < files; i += 1) parts.push(file(i, textOf(i)));
  for (let i = 0; i < branches; i += 1) {
    const changed = file(Math.floor((i * files) / branches), textOf(i, `branch ${i}`));
    parts.push(`commit refs/heads/${branchName(i)}\n${by}\ndata 4\nwork\nfrom :1\n${changed}`);
  }
  return parts.join("");
}

/** Runs git with as little code as possible, for the floor that landings are compared with. */
export function plainGit(folder: string, args: readonly string[], input = ""): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn("git", args, { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
  const out: Buffer[] = [];
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.on("error", () => {}); // Git ended before it read all input; its exit code says why.
  child.stdin.end(input);
  child.on("error", reject);
  child.on("close", (code) => {
    if (code === 0) resolve(Buffer.concat(out).toString().trim());
    else reject(new Error(`git ${args.join(" ")} ended with ${code}: ${err}`));
  });
  return promise;
}
