/** Where is a branch checked out, has it what landed already, and which command delivers to it if not? */
import { askGit, type Project } from "../../../compose/project.ts";
import { targetBranchOf } from "../../../core/brief.ts";
import type { RunView } from "../../../core/view.ts";
import type { RunRecord } from "../../../ports/runs.ts";
import { prefixOf } from "./names.ts";

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

/** Asked of git now: somebody may have merged the target by hand. Of a run in which something landed. */
export async function isDelivered(
  { located }: Project,
  record: RunRecord,
  branch: string | undefined = record.baseBranch,
): Promise<boolean> {
  if (branch === undefined) return false;
  const target = `refs/heads/${targetBranchOf(record.run, prefixOf(record))}`;
  const args = ["merge-base", "--is-ancestor", target, `refs/heads/${branch}`];
  return (await askGit(located.top, args)) !== undefined;
}

/** What can be done with what landed in a run that is closed. */
export type Bring =
  | { readonly is: "delivered"; readonly branch: string }
  | { readonly is: "ready"; readonly command: string }
  /** Nothing landed, or the target is red. */
  | { readonly is: "refused" };

export async function bringOf(project: Project, record: RunRecord, view: RunView): Promise<Bring> {
  const { is, landings, target } = view;
  const { baseBranch } = record;
  if (landings.length === 0) return { is: "refused" };
  if (baseBranch !== undefined && (await isDelivered(project, record)))
    return { is: "delivered", branch: baseBranch };
  if (isRed(target)) return { is: "refused" };
  return { is: "ready", command: await deliverCommand(project.located.top, record, is !== "done") };
}

/** Red once is not delivered either. */
export const isRed = ({ health }: RunView["target"]): boolean => health === "red" || health === "suspect";
