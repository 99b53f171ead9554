/** Finds out whether what landed can be delivered, is delivered already, and by which command; asks git each time. */
import type { Config } from "../config/schema.ts";
import type { WayToDeliver } from "../core/view/needs.ts";
import type { RunView } from "../core/view/view.ts";
import type { RunRecord, Runs } from "../ports/runs.ts";
import { targetOf } from "./lost-run.ts";
import type { Parts } from "./parts.ts";
import { misused, type Refused } from "./refused.ts";
import { runsWhere, type SeenRun } from "./see-run.ts";

/** Says before a run why --deliver would be refused at its end. */
export async function undeliverable(
  wanted: { readonly baseBranch?: string; readonly config: Config; readonly intoCheckout: boolean },
  { git }: Pick<Parts, "git">,
): Promise<Refused | undefined> {
  const { baseBranch, config, intoCheckout } = wanted;
  if (!config.deliver) return undefined;
  if (baseBranch === undefined)
    return misused(
      "this run would not start from a branch, so nothing could be delivered",
      "name one: --base <branch>; or leave out --deliver, and say later where: skein deliver --branch <name>",
    );
  const where = intoCheckout ? undefined : await checkedOutIn(baseBranch, git);
  if (where === undefined) return undefined;
  return misused(
    `${baseBranch} is checked out in ${where}, so --deliver would be refused at the end`,
    "add --into-checkout, which lets it change the files there; or leave out --deliver (--set deliver=false)",
  );
}

/** Default: the newest closed run with a landing that its branch does not have; if there is none, the newest. */
export async function pickDelivery(
  { branch }: { readonly branch?: string },
  { runs, git }: { readonly runs: Runs; readonly git: Parts["git"] },
): Promise<SeenRun | Refused> {
  const landed = await runsWhere(
    runs,
    ({ seen }) => seen.state.closed !== undefined && seen.story.landings.length > 0,
  );
  for (const one of landed) if (!(await isDelivered(one.home.record, git, branch))) return one;
  return (
    landed[0] ??
    misused(
      "there is no closed run in which anything landed: there is nothing to deliver",
      "`skein status` lists the runs",
    )
  );
}

/** The folder of the work tree in which a branch is checked out. */
async function checkedOutIn(branch: string, git: Parts["git"]): Promise<string | undefined> {
  const listed = (await git("worktree", "list", "--porcelain")) ?? "";
  const tree = listed.split("\n\n").find((text) => `${text}\n`.includes(`\nbranch refs/heads/${branch}\n`));
  return tree === undefined || /^prunable/m.test(tree) ? undefined : /^worktree (.+)$/m.exec(tree)?.[1];
}

/** The command that delivers a run to its branch, with all options that it needs. */
export async function deliverCommand(
  { run, baseBranch }: Pick<RunRecord, "run" | "baseBranch">,
  git: Parts["git"],
  isPartial = false,
): Promise<string> {
  const where = baseBranch === undefined ? undefined : await checkedOutIn(baseBranch, git);
  return [
    `skein deliver ${run}`,
    ...(baseBranch === undefined ? ["--branch <name>"] : []),
    ...(isPartial ? ["--partial"] : []),
    ...(where === undefined ? [] : ["--into-checkout"]),
  ].join(" ");
}

/** What a view says about delivering a run that is over. */
export async function deliveryOf(record: RunRecord, git: Parts["git"]): Promise<WayToDeliver> {
  const { baseBranch } = record;
  const isFree = baseBranch !== undefined && (await checkedOutIn(baseBranch, git)) === undefined;
  return {
    branch: targetOf(record),
    command: await deliverCommand(record, git),
    ...(isFree && { into: baseBranch }),
  };
}

/** Asks git each time, because the user may have merged the target by hand. Only for runs with a landing. */
async function isDelivered(
  record: RunRecord,
  git: Parts["git"],
  branch: string | undefined = record.baseBranch,
): Promise<boolean> {
  if (branch === undefined) return false;
  const target = `refs/heads/${targetOf(record)}`;
  return (await git("merge-base", "--is-ancestor", target, `refs/heads/${branch}`)) !== undefined;
}

/** The names of the runs that are delivered: one question to git per branch, for long lists of runs. */
export async function deliveredOf(
  records: readonly RunRecord[],
  git: Parts["git"],
): Promise<ReadonlySet<string>> {
  const delivered = new Set<string>();
  for (const [branch, some] of Map.groupBy(records, ({ baseBranch }) => baseBranch)) {
    if (branch === undefined) continue;
    const named = new Map(some.map((record) => [`refs/heads/${targetOf(record)}`, record.run]));
    const merged = `--merged=refs/heads/${branch}`;
    const found = (await git("for-each-ref", "--format=%(refname)", merged, ...named.keys())) ?? "";
    for (const ref of found.split("\n")) if (named.has(ref)) delivered.add(named.get(ref)!);
  }
  return delivered;
}

/** What can be done with what landed in a run. */
export type Deliverable =
  | { readonly is: "delivered"; readonly branch: string }
  | { readonly is: "ready"; readonly command: string }
  /** The gate fails on the target. */
  | { readonly is: "red"; readonly hint: string }
  /** The run is open, or nothing landed. */
  | { readonly is: "refused" };

export async function deliverableOf(
  record: RunRecord,
  { is, landings, target, times }: RunView,
  git: Parts["git"],
): Promise<Deliverable> {
  const { baseBranch } = record;
  if (times.closedAt === undefined || landings.length === 0) return { is: "refused" };
  if (baseBranch !== undefined && (await isDelivered(record, git)))
    return { is: "delivered", branch: baseBranch };
  if (isRed(target)) return { is: "red", hint: await deliverRedHint(record, target, git) };
  return { is: "ready", command: await deliverCommand(record, git, is !== "done") };
}

/** What to do if the gate fails on the target: the same words in a refusal, a status and a report. */
export async function deliverRedHint(
  record: Pick<RunRecord, "run" | "baseBranch">,
  { isJudgeable }: RunView["target"],
  git: Parts["git"],
): Promise<string> {
  const named = `\`skein status ${record.run}\` says what fails`;
  return isJudgeable
    ? `if all that fails there fails on your branch without it, too, deliver it all the same: ${await deliverCommand(record, git)} --red (${named})`
    : `nobody can tell whether the same fails on your branch, so it has to pass first (${named})`;
}

/** A target on which the gate failed once is not delivered either. */
export const isRed = ({ health }: RunView["target"]): boolean => health === "red" || health === "suspect";

/** Commits of the user's branch that the target does not have, as git says now. */
export type BaseMoved = {
  readonly branch: string;
  readonly commit: string;
  readonly commits: number;
};

/** Undefined if the branch has not moved, or if the run is over and the branch has all that it can bring. */
export async function baseMoved(
  record: RunRecord,
  isOver: boolean,
  git: Parts["git"],
): Promise<BaseMoved | undefined> {
  const { base, baseBranch } = record;
  if (baseBranch === undefined) return undefined;
  const commit = await git("rev-parse", "--verify", "--quiet", `refs/heads/${baseBranch}^{commit}`);
  if (commit === undefined || commit === base) return undefined;
  const target = `refs/heads/${targetOf(record)}`;
  const counted = await git("rev-list", "--left-right", "--count", `${target}...${commit}`, "--");
  const [ours = 0, theirs = 0] = counted?.split("\t").map(Number) ?? [];
  return theirs > 0 && (ours > 0 || !isOver) ? { branch: baseBranch, commit, commits: theirs } : undefined;
}
