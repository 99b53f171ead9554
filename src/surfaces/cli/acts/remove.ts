/** `skein remove`: may a run be taken away, what would be lost with it, and does the person want that? */
import { deliverCommand } from "../../../app/deliverable.ts";
import { tidyRun } from "../../../app/follow-run.ts";
import { prefixOf } from "../../../app/lost-run.ts";
import type { SeenRun } from "../../../app/see-run.ts";
import {
  branchOf,
  gitIn,
  type Project,
  partsOf,
  type Removal,
  removalOf,
  removeRun,
  salvageList,
} from "../../../compose.ts";
import { fromSettings } from "../../../config/index.ts";
import { hasFailed } from "../../../core/result.ts";
import { type RunView, viewOf } from "../../../core/view/view.ts";
import type { RunHome } from "../../../ports/runs.ts";
import type { RemoveOptions } from "../commands/options.ts";
import { type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { processInput, type TypedInput } from "../input.ts";
import { firstLine, harmless, plural, short } from "../words.ts";
import { type Exit, hasExit, NEVER, openHere, openRun, seeRun } from "./project.ts";

export async function remove(
  context: Context,
  options: RemoveOptions,
  input: () => TypedInput = processInput,
): Promise<ExitCode> {
  const { run } = options;
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const finished = await project.runs.finishRemoval(run);
  if (typeof finished === "object") return refuse(context, EXIT.configuration, finished.failure);
  if (finished) return sayRemoved(context, { run, refs: [], stays: [], losses: NO_LOSSES });
  const found = await look(context, project, run);
  if (hasExit(found)) return found.exit;
  const open = await whyOpen(context, found);
  if (open !== undefined) return open;
  const plan = await planOf(context, project, found);
  if (hasExit(plan)) return plan.exit;
  const asked = await isWanted(context, project, found, { plan, options, input });
  if (asked !== undefined) return asked;
  const failed = await removeRun(project, found.home, plan.removal, NEVER);
  if (failed === "gone") return sayGone(context, run);
  if (failed) {
    const taken = found.home.isThere() ? await whyOpen(context, found) : undefined;
    return (
      taken ?? refuse(context, EXIT.notAllDone, { ...failed.failure, next: `skein remove ${run} again` })
    );
  }
  return sayRemoved(context, {
    run,
    refs: plan.removal.refs.map(({ ref }) => ref),
    stays: plan.removal.staying,
    losses: plan.losses,
  });
}

/** A log that vanishes while it is read is no broken one: the run was removed. */
async function look(context: Context, project: Project, run: string): Promise<SeenRun | Exit> {
  const home = await openRun(context, project, run);
  if (hasExit(home)) return home;
  const refusals: string[] = [];
  const err = { ...context.err, write: (text: string) => void refusals.push(text) };
  const seen = await seeRun({ ...context, err }, home);
  if (!hasExit(seen)) return { home, seen };
  if (!home.isThere()) return { exit: sayGone(context, run) };
  context.err.write(refusals.join(""));
  return seen;
}

/** Two may remove a run at once. */
function sayGone(context: Context, run: string): ExitCode {
  if (context.json) writeJson(context, { run, removed: [], stays: [], ...NO_LOSSES });
  else say(context, `run ${run} is gone: another process has removed it meanwhile`);
  return EXIT.done;
}

/** One that never began has nothing to be cancelled. */
async function whyOpen(context: Context, { home, seen }: SeenRun): Promise<ExitCode | undefined> {
  const { run } = home.record;
  const owner = await home.owner().catch((error: unknown) => {
    if (home.isThere()) throw error;
  });
  if (!home.isThere()) return sayGone(context, run);
  if (owner && seen.state.closed) {
    const message = `run ${run} is over, and process ${owner.pid} is just removing it or ending it`;
    const next = `wait until that process has ended, then skein remove ${run}`;
    return refuse(context, EXIT.notAllDone, { kind: "open", message, next });
  }
  if (!owner && (seen.state.closed || seen.state.request === undefined)) return undefined;
  const how = owner ? `is going on in process ${owner.pid}` : "is not over, only stopped";
  const message = `run ${run} ${how}: nothing was removed`;
  const next = `skein cancel ${run}, then skein remove ${run}`;
  return refuse(context, EXIT.notAllDone, { kind: "open", message, next });
}

/** What nothing but the run has: each in a line, with the commit that brings it back as long as git keeps it. */
type Losses = { readonly undelivered: readonly Loss[]; readonly unlanded: readonly Loss[] };
type Loss = { readonly what: string; readonly commit: string };
const NO_LOSSES: Losses = { undelivered: [], unlanded: [] };

type Plan = { readonly removal: Removal; readonly losses: Losses; readonly view: RunView };

async function planOf(context: Context, project: Project, { home, seen }: SeenRun): Promise<Plan | Exit> {
  const { record } = home;
  const kept = fromSettings(record.settings);
  // An engine that died right at its end has left workspaces: what is in them is kept first, so that it can be named.
  if ("config" in kept && seen.state.closed)
    await tidyRun({ home, config: kept.config }, partsOf(project, context.env), NEVER).catch(() => {}); // It is removed all the same.
  const view = viewOf(seen);
  const wanted = { prefix: prefixOf(record), landed: view.landings.map(({ commit }) => commit) };
  const removal = await removalOf(project, home, wanted, NEVER);
  if (hasFailed(removal)) return { exit: refuse(context, EXIT.configuration, removal.failure) };
  const taken = removal.refs.find(({ checkedOutIn }) => checkedOutIn !== undefined);
  if (taken) {
    const message = `${branchOf(taken)} is checked out in ${taken.checkedOutIn}: nothing was removed`;
    const next = `check out another branch there, then skein remove ${record.run}`;
    return { exit: refuse(context, EXIT.notAllDone, { kind: "repository", message, next }) };
  }
  const undelivered = view.landings
    .filter(({ commit }) => removal.lost.has(commit))
    .map(({ commit, members }) => ({ commit, what: members.map(({ name }) => name).join(" + ") }));
  return {
    removal,
    view,
    losses: { undelivered, unlanded: await unlanded(project, { seen, home }, removal) },
  };
}

/** Salvaged work, and what was handed in of tasks that are not done. */
async function unlanded(
  project: Project,
  { home, seen }: SeenRun,
  { refs, lost }: Removal,
): Promise<readonly Loss[]> {
  const { run } = home.record;
  const entries = await salvageList(project, NEVER);
  const salvaged = (hasFailed(entries) ? [] : entries)
    .filter((entry) => entry.run === run && lost.has(entry.commit))
    .map(({ ref, commit, subject }) => ({
      commit,
      what: `${ref.replace(/^refs\/skein\/salvage\//, "")}  ${firstLine(subject, 80)}`,
    }));
  const branches = refs.flatMap((ref) => {
    const branch = branchOf(ref);
    const [, task] = /\/task\/([\w.]+)\.\d+-[^/]*$/.exec(branch ?? "") ?? [];
    const isDone = [...seen.state.tasks.values()].some(({ id, state }) => id === task && state.is === "done");
    return branch === undefined || task === undefined || isDone || !lost.has(ref.commit)
      ? []
      : [{ commit: ref.commit, what: branch }];
  });
  return [...salvaged, ...branches];
}

type Asked = { readonly plan: Plan; readonly options: RemoveOptions; readonly input: () => TypedInput };

/** Undefined: go on. What landed and is nowhere else takes more than a yes. */
async function isWanted(
  context: Context,
  project: Project,
  { home }: SeenRun,
  { plan, options: { yes, undelivered }, input }: Asked,
): Promise<ExitCode | undefined> {
  const isUndelivered = plan.losses.undelivered.length > 0;
  if (yes && (!isUndelivered || undelivered)) return undefined;
  const canAsk = !context.json && context.err.size !== undefined && input().isTerminal;
  if (!yes && canAsk) return ask(context, home, plan, input());
  const { run } = home.record;
  const again = `skein remove ${run} --yes${isUndelivered ? " --undelivered" : ""}`;
  const deliver = await deliverCommand(home.record, gitIn(project), plan.view.is !== "done");
  return refuse(context, yes ? EXIT.notAllDone : EXIT.usage, {
    kind: yes ? "undelivered" : "usage",
    message: yes
      ? `what landed in run ${run} was never delivered, and would be lost: nothing was removed`
      : `there is no terminal to ask you whether run ${run} may be removed`,
    lines: lossLines(plan.losses),
    next: isUndelivered ? `${deliver}; or lose it: ${again}` : again,
  });
}

async function ask(
  context: Context,
  { record: { run, goal }, folder }: RunHome,
  { losses, removal }: Plan,
  typing: TypedInput,
): Promise<ExitCode | undefined> {
  say(context, `run ${run}: ${firstLine(goal, 70)}`);
  say(context, `  ${plural(removal.refs.length, "ref")}, and all that is in ${folder}`);
  for (const line of lossLines(losses)) say(context, `  ${harmless(line)}`);
  const isUndelivered = losses.undelivered.length > 0;
  context.err.write(
    isUndelivered
      ? "What landed was never delivered. To lose it, type the name of the run: "
      : `Remove run ${run} for good? [y/N] `,
  );
  const line = await typing.line();
  if (line === undefined) context.err.write("\n");
  await typing.close();
  const answer = (line ?? "").trim();
  if (isUndelivered ? answer === run : /^y(?:es)?$/i.test(answer)) return undefined;
  return refuse(context, EXIT.notAllDone, { kind: "declined", message: "nothing was removed" });
}

function lossLines({ undelivered, unlanded: others }: Losses): readonly string[] {
  const list = (title: string, losses: readonly Loss[]) =>
    losses.length === 0
      ? []
      : [
          `${title} (${losses.length}):`,
          ...losses.slice(0, MAX_LISTED).map(({ commit, what }) => `  ${short(commit)}  ${what}`),
          ...(losses.length > MAX_LISTED ? [`  and ${losses.length - MAX_LISTED} more`] : []),
        ];
  return [
    ...list("landed, and on no branch or tag of yours", undelivered),
    ...list("kept work that never landed", others),
  ];
}

const MAX_LISTED = 20;

function sayRemoved(
  context: Context,
  {
    run,
    refs,
    stays,
    losses,
  }: {
    readonly run: string;
    readonly refs: readonly string[];
    readonly stays: readonly string[];
    readonly losses: Losses;
  },
): ExitCode {
  if (context.json) {
    writeJson(context, { run, removed: refs, stays, ...losses });
    return EXIT.done;
  }
  say(context, `run ${run} is removed`);
  for (const ref of stays) say(context, `${ref} stays: it has the proofs of what was delivered`);
  const lines = lossLines(losses);
  for (const line of lines) say(context, harmless(line));
  if (lines.length > 0)
    say(context, "git keeps these commits for some weeks: git branch <name> <commit> brings one back");
  return EXIT.done;
}
