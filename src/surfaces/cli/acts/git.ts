/** What does git say to a question of the command line's own? Nothing here changes what a run works on. */
import { execFile } from "node:child_process";
import type { RunRecord } from "../../../ports/runs.ts";

/** Standard output without the last line end; undefined if git refuses. */
export function git(folder: string, args: readonly string[]): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const options = { cwd: folder, env: plainEnvironment(), maxBuffer: MAX_BYTES };
  execFile("git", [...args], options, (error, stdout) =>
    resolve(error ? undefined : stdout.replace(/\n$/, "")),
  );
  return promise;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** A hook of git's that starts us has set where its own repository is; that must not be taken for ours. */
const plainEnvironment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"))),
  GIT_TERMINAL_PROMPT: "0",
});

/** The folder of the work tree in which a branch is checked out. */
export async function checkedOutIn(folder: string, branch: string): Promise<string | undefined> {
  const listed = (await git(folder, ["worktree", "list", "--porcelain"])) ?? "";
  const tree = listed
    .split("\n\n")
    .find(
      (text) =>
        text.includes(`\nbranch refs/heads/${branch}\n`) || text.endsWith(`\nbranch refs/heads/${branch}`),
    );
  return tree === undefined || /^prunable/m.test(tree) ? undefined : /^worktree (.+)$/m.exec(tree)?.[1];
}

/** What brings a run to its branch, with all that it will be asked for. */
export async function deliverCommand(
  folder: string,
  { run, baseBranch }: Pick<RunRecord, "run" | "baseBranch">,
  isPartial = false,
): Promise<string> {
  const where = baseBranch === undefined ? undefined : await checkedOutIn(folder, baseBranch);
  return [
    `skein deliver ${run}`,
    ...(baseBranch === undefined ? ["--branch <name>"] : []),
    ...(isPartial ? ["--partial"] : []),
    ...(where === undefined ? [] : ["--into-checkout"]),
  ].join(" ");
}
