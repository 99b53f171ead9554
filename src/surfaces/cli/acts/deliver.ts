/** `skein deliver`: may what landed go to the user's branch, and what came of it? */
import { type DeliveryEnd, deliverRun, type Project } from "../../../compose.ts";
import type { Config } from "../../../config/index.ts";
import { targetBranchOf } from "../../../core/brief.ts";
import { unreachable } from "../../../core/unreachable.ts";
import { viewOf } from "../../../core/view.ts";
import { hasFailed } from "../../../ports/repository.ts";
import type { RunHome } from "../../../ports/runs.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { DeliverOptions } from "../verbs/options.ts";
import { quoted, short } from "../words.ts";
import { reconfigure } from "./configuration.ts";
import { checkedOutIn, deliverCommand, isDelivered, isRed } from "./deliver-command.ts";
import { type Exit, hasExit, openHere, openSeen, runsWhere, type SeenRun, underWay } from "./project.ts";
import { isOpen } from "./run-state.ts";
import { stopOnSignal } from "./signals.ts";

export const deliver: Act<DeliverOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const found = await pick(context, project, options);
  if (hasExit(found)) return found.exit;
  const { home } = found;
  const exit = await whyNot(context, project, found, options.partial === true);
  if (exit !== undefined) return exit;
  const config = reconfigure(context, home.record.settings, {});
  if (hasExit(config)) return config.exit;
  return bring(context, project, home, { config, ...options, isOwnAnswer: true });
};

/** After a run that is done, if that was asked for; with JSON the events are all that is on standard output. */
export const deliverDone = (
  context: Context,
  project: Project,
  home: RunHome,
  wanted: { readonly config: Config; readonly intoCheckout?: true },
): Promise<ExitCode> => bring(context, project, home, { ...wanted, isOwnAnswer: false });

/** Better said before a run than after it: what --deliver would be refused for at the end. */
export async function refuseDelivery(
  context: Context,
  { located }: Project,
  wanted: { readonly baseBranch?: string; readonly config: Config; readonly intoCheckout?: true },
): Promise<ExitCode | undefined> {
  const { baseBranch, config, intoCheckout } = wanted;
  if (!config.deliver) return undefined;
  if (baseBranch === undefined)
    return usage(
      context,
      "this run would not start from a branch, so that nothing could be delivered",
      "name one: --base <branch>; or leave out --deliver, and say later where: skein deliver --branch <name>",
    );
  const where = intoCheckout ? undefined : await checkedOutIn(located.top, baseBranch);
  if (where === undefined) return undefined;
  return usage(
    context,
    `${baseBranch} is checked out in ${where}, so that --deliver would be refused at the end`,
    "add --into-checkout, which lets it change the files there; or leave out --deliver (--set deliver=false)",
  );
}

/** By default the newest closed run of which something landed that the branch has not; if it has all, the newest. */
async function pick(
  context: Context,
  project: Project,
  { run, branch }: DeliverOptions,
): Promise<SeenRun | Exit> {
  if (run !== undefined) return openSeen(context, project, run);
  const landed = await runsWhere(
    context,
    project,
    ({ seen }) => seen.state.closed !== undefined && viewOf(seen).landings.length > 0,
  );
  for (const one of landed) if (!(await isDelivered(project, one.home.record, branch))) return one;
  const [newest] = landed;
  if (newest) return newest;
  return {
    exit: usage(
      context,
      "there is no closed run in which anything landed: there is nothing to deliver",
      "`skein status` lists the runs",
    ),
  };
}

async function whyNot(
  context: Context,
  { located }: Project,
  { home, seen }: SeenRun,
  partial: boolean,
): Promise<ExitCode | undefined> {
  const { run } = home.record;
  const owner = await home.owner();
  if (owner) return refuse(context, EXIT.notAllDone, underWay(run, owner.pid));
  const { is, target, landings } = viewOf(seen);
  const no = (message: string, next: string) =>
    refuse(context, EXIT.notAllDone, { kind: "target-red", message, next });
  if (landings.length === 0)
    return no(`nothing has landed in run ${run}: there is nothing to deliver`, `skein show ${run}`);
  if (isRed(target))
    return no(`the target of run ${run} is red: it is not delivered`, `skein status ${run} says what fails`);
  if (is === "done" || partial) return undefined;
  const how = isOpen(is) ? "not closed" : is;
  const part = await deliverCommand(located.top, home.record, true);
  return no(
    `run ${run} is ${how}, so that only a part of the goal would be delivered`,
    how === "not closed"
      ? `skein resume ${run}; or deliver what landed so far: ${part}`
      : `deliver what landed, each commit of it gated: ${part}`,
  );
}

type Wanted = {
  readonly config: Config;
  readonly branch?: string;
  readonly intoCheckout?: true;
  readonly partial?: true;
  readonly isOwnAnswer: boolean;
};

async function bring(context: Context, project: Project, home: RunHome, wanted: Wanted): Promise<ExitCode> {
  const { config, branch: baseBranch = home.record.baseBranch, intoCheckout = false, isOwnAnswer } = wanted;
  const { run } = home.record;
  if (baseBranch === undefined) {
    const message = `run ${run} did not start from a branch`;
    return usage(context, message, `name one: skein deliver ${run} --branch <name>`);
  }
  const options = { config, env: context.env, baseBranch, intoCheckout };
  using stop = stopOnSignal();
  const end = await deliverRun(project, home, options, stop.signal);
  if (hasFailed(end))
    return refuse(context, stop.signal.aborted ? EXIT.interrupted : EXIT.notAllDone, end.failure);
  const again = [
    `skein deliver ${run}`,
    ...(wanted.branch === undefined ? [] : [`--branch ${quoted(wanted.branch)}`]),
    ...(wanted.partial ? ["--partial"] : []),
  ].join(" ");
  const said = { run, again, baseBranch, target: targetBranchOf(run, config.branchPrefix) };
  if (end.is === "delivered" || end.is === "nothing-new") {
    if (!context.json) say(context, goodWords(end, said));
    else if (isOwnAnswer) writeJson(context, { run, branch: baseBranch, ...end });
    return EXIT.done;
  }
  return refuse(context, EXIT.notAllDone, { kind: "repository", ...refusal(end, said) });
}

type Said = {
  readonly run: string;
  readonly again: string;
  readonly baseBranch: string;
  readonly target: string;
};
type Good = Extract<DeliveryEnd, { readonly is: "delivered" | "nothing-new" }>;

function goodWords(end: Good, { run, baseBranch }: Said): string {
  if (end.is === "nothing-new") return `${baseBranch} has everything of run ${run} already`;
  const [from, to] = [short(end.from), short(end.to)];
  const gated = end.isUngated ? "merged into the target; there is no gate" : GATED_TOGETHER;
  const merged = end.isMerged ? `${baseBranch} had moved: it was ${gated}; ` : "";
  return `${merged}delivered: ${baseBranch} went from ${from} to ${to}. See it: git log --first-parent ${from}..${baseBranch}`;
}

const GATED_TOGETHER = "merged into the target, and both passed the gate together";

function refusal(
  end: Exclude<DeliveryEnd, Good>,
  { again, baseBranch, target }: Said,
): { readonly message: string; readonly next: string; readonly lines?: readonly string[] } {
  const unchanged = end.isMerged
    ? `it was not moved, but ${target} has now what it had before`
    : "nothing was changed";
  switch (end.is) {
    case "checked-out":
      return end.why === "not-asked"
        ? {
            message: `${baseBranch} is checked out in ${end.where}: ${unchanged}`,
            next: `${again} --into-checkout, which changes the files there; or git merge ${target} yourself`,
          }
        : {
            message: `${end.where} has changes that are not committed, so that ${baseBranch} was not moved there`,
            next: `commit or stash them, then ${again} --into-checkout`,
          };
    case "conflict":
      return {
        message: `${baseBranch} has moved meanwhile, and conflicts with what landed: ${unchanged}`,
        lines: end.files,
        next: `git merge ${target} into ${baseBranch} by hand, or start a run that does`,
      };
    case "red":
      return {
        message: `${baseBranch} has moved meanwhile; together with what landed the gate is red: ${unchanged}`,
        lines: end.failures,
        next: "mend it on either side, then deliver again",
      };
    case "base-keeps-moving":
      return { message: `${baseBranch} moves faster than the gate runs: ${unchanged}`, next: again };
    default:
      return unreachable(end);
  }
}
