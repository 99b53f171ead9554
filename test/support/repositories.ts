/** Makes real git repositories for tests, which nothing of the user's own git configuration affects. */
import { execFile } from "node:child_process";
import { appendFile, chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A string or bytes are a file's content, `null` deletes, `link` is a symlink, `executable` sets the mode. */
export type FileChange =
  | string
  | Uint8Array
  | null
  | { readonly link: string }
  | { readonly text: string; readonly executable: true };

export type Files = Readonly<Record<string, FileChange>>;

export type TestRepository = AsyncDisposable & {
  readonly folder: string;
  /**
   * Runs git in the repository: throws with its message if it fails; gives standard output without the last line end.
   */
  git(...args: readonly string[]): Promise<string>;
  /** Changes files in the checkout, and commits nothing. */
  write(files: Files): Promise<void>;
  /** Changes files in the checkout and commits everything; gives the commit. */
  commit(files: Files, message?: string): Promise<string>;
  /** Makes a branch at `from` with one commit of these changes, and goes back to the earlier HEAD. */
  branch(name: string, files: Files, options?: { from?: string; message?: string }): Promise<string>;
};

export type RepositoryOptions = {
  /** The files of the first commit; without them there is no commit. */
  readonly files?: Files;
  /** The folder's name; by default it has a space and a letter outside of ASCII. */
  readonly name?: string;
  readonly format?: "sha1" | "sha256";
  readonly bare?: boolean;
};

export async function makeRepository(options: RepositoryOptions = {}): Promise<TestRepository> {
  const { files, name = "répo of tests", format = "sha1", bare = false } = options;
  const outer = await mkdtemp(join(tmpdir(), "skein-test-"));
  const folder = join(outer, name);
  await mkdir(folder);
  const repository = openRepository(folder);
  const kind = bare ? ["--bare"] : [];
  await repository.git("init", "-q", "-b", "main", "--template=", `--object-format=${format}`, ...kind);
  const person = "[user]\n\tname = Test Person\n\temail = person@example.invalid\n";
  await appendFile(join(folder, bare ? "config" : ".git/config"), person);
  if (files !== undefined) await repository.commit(files, "first");
  return {
    ...repository,
    [Symbol.asyncDispose]: () => rm(outer, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** The same for a folder that exists already and is not removed. */
export function openRepository(folder: string): Omit<TestRepository, typeof Symbol.asyncDispose> {
  const git = (...args: readonly string[]) => runGit(folder, args);
  const write = (files: Files) => writeFiles(folder, files);
  const commit = async (files: Files, message = "a change") => {
    await write(files);
    await git("add", "-A");
    await git("commit", "-q", "--allow-empty", "-m", message);
    return git("rev-parse", "HEAD");
  };
  return {
    folder,
    git,
    write,
    commit,
    async branch(name, files, { from = "HEAD", message = `work of ${name}` } = {}) {
      const back = await git("rev-parse", "--abbrev-ref", "HEAD");
      const head = back === "HEAD" ? await git("rev-parse", "HEAD") : back;
      await git("checkout", "-q", "-b", name, from);
      const made = await commit(files, message);
      await git("checkout", "-q", head);
      return made;
    },
  };
}

/**
 * The environment of child processes in tests: without the user's and the machine's git configuration. Compiled code is
 * kept in one place, because most tests have a new home, where every start would compile all of Skein again (0.2 s).
 */
export const plainEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"))),
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/skein-tests", import.meta.url)),
});

/** Runs `use` with another home, and so with another user's configuration. */
export async function atHome<Result>(home: string, use: () => Promise<Result>): Promise<Result> {
  const before = { HOME: process.env["HOME"], XDG_CONFIG_HOME: process.env["XDG_CONFIG_HOME"] };
  Object.assign(process.env, { HOME: home, XDG_CONFIG_HOME: home });
  return use().finally(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
}

/**
 * Runs `use` with a shell script as `git`; in it "$GIT" is the real one. For rare events: a git that dies, hangs, or is
 * overtaken by another process.
 */
export async function withScriptedGit<Result>(script: string, use: () => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "skein-test-"));
  const real = join(await runGit(folder, ["--exec-path"]), "git");
  await writeFile(join(folder, "git"), `#!/bin/sh\nGIT='${real}'\n${script}\n`);
  await chmod(join(folder, "git"), 0o755);
  const path = process.env["PATH"];
  process.env["PATH"] = `${folder}${delimiter}${path}`;
  try {
    return await use();
  } finally {
    process.env["PATH"] = path;
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [path, change] of Object.entries(files)) {
    const file = join(folder, path);
    if (change === null || !(typeof change === "string" || change instanceof Uint8Array)) {
      await rm(file, { recursive: true, force: true });
    }
    if (change === null) continue;
    await mkdir(dirname(file), { recursive: true });
    if (typeof change === "string" || change instanceof Uint8Array) await writeFile(file, change);
    else if ("link" in change) await symlink(change.link, file);
    else {
      await writeFile(file, change.text);
      await chmod(file, 0o755);
    }
  }
}

function runGit(folder: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const settings = ["-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null"];
  const options = { cwd: folder, env: plainEnvironment(), maxBuffer: 1 << 26 };
  execFile("git", [...settings, ...args], options, (error, stdout, stderr) => {
    if (error === null) resolve(stdout.replace(/\n$/, ""));
    else reject(new Error(`git ${args.join(" ")} in ${folder}: ${stderr.trim() || error.message}`));
  });
  return promise;
}
