/** `skein deliver`: moves the user's branch to what landed, and says the result. */
import { type DeliverRequest, deliverAtEnd, deliverRun } from "../../../app/deliver.ts";
import { deliverRed } from "../../../app/deliver-red.ts";
import { isRed, pickDelivery } from "../../../app/deliverable.ts";
import { deliveredWords, isDeliveredEnd, undeliveredWords } from "../../../app/delivery-words.ts";
import { targetOf } from "../../../app/lost-run.ts";
import type { Parts } from "../../../app/parts.ts";
import { findSeen } from "../../../app/which-run.ts";
import { partsOf } from "../../../compose/parts.ts";
import { hasFailed } from "../../../core/result.ts";
import { viewOf } from "../../../core/view/view.ts";
import { quoted } from "../../../text/words.ts";
import { hasExit, openHere, orExit } from "../acts/project.ts";
import { stopOnSignal } from "../acts/signals.ts";
import { type Act, type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { sayRefused } from "../refusals.ts";
import { type AddTo, addRepo, type DeliverCommandOptions, examples } from "./options.ts";

export const addDeliver: AddTo = (command, perform) => {
  addRepo(command)
    .description(
      "Brings what landed in a run to the branch that the run started from, by fast-forward. If you have committed to " +
        "that branch since, Skein first merges those commits into the run's target and runs the gate on the result. " +
        "Without a run: the newest closed run with landed work that the branch does not have. This is the only command " +
        "that moves a branch of yours. A branch that is checked out is moved only with --into-checkout, and only if you " +
        "have no uncommitted changes.",
    )
    .option("--branch <name>", "the branch to move, if not the one that the run started from")
    .option("--into-checkout", "even if the branch is checked out: its files change, by git merge --ff-only")
    .option(
      "--partial",
      "deliver what landed so far, even if the run is not done; never if it is running or its gate fails",
    )
    .option(
      "--red",
      "even if the gate fails on the target: only if every failure is on the branch as it is now, too, by name",
    )
    .addHelpText("after", examples("skein deliver", "skein deliver 1115-k7qd --into-checkout"))
    .action((run: string | undefined, options: Omit<DeliverCommandOptions, "run">) =>
      perform((context) => deliver(context, run === undefined ? options : { ...options, run })),
    );
};

const deliver: Act<DeliverCommandOptions> = async (context, options) => {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const parts = partsOf(project, context.env);
  const { run } = options;
  const found = await orExit(
    context,
    run === undefined
      ? pickDelivery(options, { runs: project.runs, git: parts.git })
      : findSeen(run, project),
  );
  return hasExit(found) ? found.exit : bring(context, parts, { ...found, ...options });
};

/** Delivers after a run, if requested; with JSON standard output has only the events. */
export async function deliverDone(
  context: Context,
  parts: Parts,
  wanted: Parameters<typeof deliverAtEnd>[0],
): Promise<ExitCode | undefined> {
  using stop = stopOnSignal();
  const delivered = await deliverAtEnd(wanted, parts, stop.signal);
  return delivered && sayDelivered(context, delivered, { ...wanted, isOwnAnswer: false });
}

type Asked = DeliverRequest & { readonly red?: boolean };

async function bring(context: Context, parts: Parts, { red, ...wanted }: Asked): Promise<ExitCode> {
  using stop = stopOnSignal();
  const deliverIt = red && isRed(viewOf(wanted.seen).target) ? deliverRed : deliverRun;
  const delivered = await deliverIt(wanted, parts, stop.signal);
  return sayDelivered(context, delivered, { ...wanted, ...(red && { red }), isOwnAnswer: true });
}

type Wanted = Asked & { readonly isOwnAnswer: boolean };

function sayDelivered(
  context: Context,
  delivered: Awaited<ReturnType<typeof deliverRun>>,
  wanted: Wanted,
): ExitCode {
  const { record } = wanted.home;
  const { run } = record;
  if (hasFailed(delivered)) return sayRefused(context, delivered);
  const { end, branch: baseBranch } = delivered;
  const again = [
    `skein deliver ${run}`,
    ...(wanted.branch === undefined ? [] : [`--branch ${quoted(wanted.branch)}`]),
    ...(wanted.partial ? ["--partial"] : []),
    ...(wanted.red ? ["--red"] : []),
  ].join(" ");
  const said = { run, again, baseBranch, target: targetOf(record) };
  if (isDeliveredEnd(end)) {
    if (!context.json) say(context, deliveredWords(end, said));
    else if (wanted.isOwnAnswer) writeJson(context, { run, branch: baseBranch, ...end });
    return EXIT.done;
  }
  return refuse(context, EXIT.notAllDone, { kind: "repository", ...undeliveredWords(end, said) });
}
