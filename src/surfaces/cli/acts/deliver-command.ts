/** Where is a branch checked out, and which command delivers to it then? */
import { askGit } from "../../../compose.ts";
import type { RunRecord } from "../../../ports/runs.ts";

/** The folder of the work tree in which a branch is checked out. */
export async function checkedOutIn(folder: string, branch: string): Promise<string | undefined> {
  const listed = (await askGit(folder, ["worktree", "list", "--porcelain"])) ?? "";
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
