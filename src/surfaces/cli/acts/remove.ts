/** Act of `skein remove`: shows what would be lost with a run, asks the person, and reports the result. */
import { type Losses, type LostCommit, type Removal, removeRun } from "../../../app/remove-run.ts";
import { partsOf } from "../../../compose/parts.ts";
import { type Failed, hasFailed } from "../../../core/result.ts";
import type { LeftRefs } from "../../../ports/project.ts";
import { firstLine, harmless, plural, short } from "../../../text/words.ts";
import type { RemoveOptions } from "../commands/options.ts";
import { type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { processInput, type TypedInput } from "../input.ts";
import { sayRefused } from "../refusals.ts";
import { hasExit, NEVER, openHere } from "./project.ts";

export async function remove(
  context: Context,
  options: RemoveOptions,
  input: () => TypedInput = processInput,
): Promise<ExitCode> {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const { run } = options;
  const canAsk = !options.yes && !context.json && context.err.size !== undefined && input().isTerminal;
  const confirm = (removal: Removal) => ask(context, removal, input());
  const parts = partsOf(project, context.env);
  const end = await removeRun({ ...options, ...(canAsk && { confirm }) }, parts, NEVER);
  if (hasFailed(end)) return sayRefused(context, end);
  switch (end.is) {
    case "removed":
    case "gone": {
      const { removed, stays, undelivered, unlanded } = end.is === "removed" ? end : NOTHING;
      const onRemote = end.is === "removed" ? end.onRemote : undefined;
      if (context.json)
        writeJson(context, { run, removed, stays, undelivered, unlanded, ...(onRemote && { onRemote }) });
      else if (end.is === "gone") say(context, `another process has removed run ${run} meanwhile`);
      else sayRemoved(context, run, end);
      if (!context.json && onRemote) sayLeft(context, onRemote);
      return EXIT.done;
    }
    case "declined":
      return refuse(context, EXIT.notAllDone, { kind: "declined", message: "nothing was removed" });
    default: {
      const { is, losses, ...why } = end;
      const lines = losses ? lossLines(losses) : [];
      return refuse(context, is === "unasked" ? EXIT.usage : EXIT.notAllDone, {
        ...{ ...why, lines, kind: KINDS[is] },
      });
    }
  }
}

/** The team decides about the target and the proofs of a fleet's run, so they stay. */
function sayLeft(context: Context, left: LeftRefs | Failed): void {
  const why = hasFailed(left) ? left.failure : left.untidied;
  if (why) say(context, `the remote could not be tidied: ${harmless(why.message)}`);
  if (hasFailed(left)) return;
  const list = (title: string, refs: readonly string[]) => {
    if (refs.length === 0) return;
    say(context, `${title} (${refs.length}):`);
    for (const ref of refs.slice(0, MAX_LISTED)) say(context, `  ${harmless(ref)}`);
    if (refs.length > MAX_LISTED) say(context, `  and ${refs.length - MAX_LISTED} more`);
  };
  list("still on the remote, of this run", left.ofRun);
  list("on the remote, named as those of jobs, but of no run of this fleet", left.ofNone);
  const [one] = [...left.ofRun, ...left.ofNone];
  if (one !== undefined) say(context, `to delete one: git push <remote> --delete ${harmless(one)}`);
}

const NOTHING = { removed: [], stays: [], undelivered: [], unlanded: [] };
const KINDS = { open: "open", taken: "repository", undelivered: "undelivered", unasked: "usage" } as const;

async function ask(context: Context, removal: Removal, typing: TypedInput): Promise<boolean> {
  const { record, folder } = removal.home;
  const { run } = record;
  say(context, `run ${run}: ${firstLine(record.goal, 70)}`);
  say(context, `  ${plural(removal.refs.length, "ref")}, and everything in ${folder}`);
  for (const line of lossLines(removal)) say(context, `  ${harmless(line)}`);
  const isUndelivered = removal.undelivered.length > 0;
  context.err.write(
    isUndelivered
      ? "What landed was never delivered. To lose it, type the name of the run: "
      : `Remove run ${run} for good? [y/N] `,
  );
  const line = await typing.line();
  if (line === undefined) context.err.write("\n");
  await typing.close();
  const answer = (line ?? "").trim();
  return isUndelivered ? answer === run : /^y(?:es)?$/i.test(answer);
}

export function lossLines({ undelivered, unlanded: others }: Losses): readonly string[] {
  const list = (title: string, losses: readonly LostCommit[]) =>
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
  run: string,
  { stays, ...losses }: Losses & { readonly stays: readonly string[] },
): void {
  say(context, `run ${run} is removed`);
  for (const ref of stays) say(context, `${ref} stays: it has the proofs of what was delivered`);
  const lines = lossLines(losses);
  for (const line of lines) say(context, harmless(line));
  if (lines.length > 0)
    say(context, "git keeps these commits for some weeks: git branch <name> <commit> brings one back");
}
