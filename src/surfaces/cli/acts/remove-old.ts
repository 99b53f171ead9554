/** Act of `skein remove --older-than`: shows which runs go and which stay and why, and asks the person once. */
import { type KeptRun, type OldRun, type OldRuns, removeOldRuns } from "../../../app/remove-old-runs.ts";
import { partsOf } from "../../../compose/parts.ts";
import { duration } from "../../../config/values.ts";
import { ago, firstLine, harmless, plural } from "../../../text/words.ts";
import type { RemoveOptions } from "../commands/options.ts";
import { type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { processInput, type TypedInput } from "../input.ts";
import { hasExit, NEVER, openHere } from "./project.ts";
import { lossLines } from "./remove.ts";

export async function removeOld(
  context: Context,
  options: Omit<RemoveOptions, "run"> & { readonly run?: string },
  input: () => TypedInput = processInput,
): Promise<ExitCode> {
  const { olderThan, run, yes = false, undelivered } = options;
  if (olderThan === undefined)
    return usage(context, "no run is named", "skein remove <run>, or skein remove --older-than 30d");
  if (run !== undefined)
    return usage(context, `--older-than is about all runs, and ${run} is named`, "give one of the two");
  if (undelivered)
    return usage(
      context,
      "--older-than never removes work that landed but was never delivered",
      "leave out --undelivered; or name each such run: skein remove <run> --yes --undelivered",
    );
  const age = duration(0).safeParse(olderThan);
  if (!age.success) {
    const [{ message } = { message: "" }] = age.error.issues;
    return usage(context, `--older-than ${harmless(olderThan, 40)}: ${message}`, "such as --older-than 30d");
  }
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const canAsk = !yes && !context.json && context.err.size !== undefined && input().isTerminal;
  const now = context.now();
  const end = await removeOldRuns(
    {
      ...{ olderThanMs: age.data, now, yes },
      ...(canAsk && { confirm: (old: OldRuns) => ask(context, old, now, input()) }),
    },
    partsOf(project, context.env),
    NEVER,
  );
  switch (end.is) {
    case "removed":
      if (context.json) writeJson(context, { removed: end.removed, kept: end.kept });
      else sayRemoved(context, end, now);
      return EXIT.done;
    case "declined":
      return refuse(context, EXIT.notAllDone, { kind: "declined", message: "nothing was removed" });
    case "unasked":
      return refuse(context, EXIT.usage, {
        kind: "usage",
        message: `there is no terminal to ask you whether ${runsText(end.old.length)} may be removed`,
        lines: [...end.old.flatMap((one) => oldLines(one, now)), ...keptLines(end.kept)],
        next: `skein remove --older-than ${olderThan} --yes`,
      });
  }
}

const runsText = (count: number): string => plural(count, "run");

async function ask(
  context: Context,
  { old, kept }: OldRuns,
  now: number,
  typing: TypedInput,
): Promise<boolean> {
  for (const line of [...old.flatMap((one) => oldLines(one, now)), ...keptLines(kept)])
    say(context, harmless(line));
  context.err.write(`Remove ${runsText(old.length)} for good? [y/N] `);
  const line = await typing.line();
  if (line === undefined) context.err.write("\n");
  await typing.close();
  return /^y(?:es)?$/i.test((line ?? "").trim());
}

const oldLines = ({ run, goal, closedAt, unlanded }: OldRun, now: number): readonly string[] => [
  `run ${run}, closed ${ago(now - closedAt)}: ${firstLine(goal, 70)}`,
  ...lossLines({ undelivered: [], unlanded }).map((line) => `  ${line}`),
];

const keptLines = (kept: readonly KeptRun[]): readonly string[] =>
  kept.flatMap(({ run, why, next }) => [
    `run ${run} stays: ${why}`,
    ...(next === undefined ? [] : [`  try: ${next}`]),
  ]);

function sayRemoved(
  context: Context,
  { removed, kept }: { readonly removed: readonly OldRun[]; readonly kept: readonly KeptRun[] },
  now: number,
): void {
  for (const one of removed) for (const line of oldLines(one, now)) say(context, harmless(line));
  for (const line of keptLines(kept)) say(context, harmless(line));
  const count =
    removed.length === 0 ? "no run is" : `${runsText(removed.length)} ${removed.length === 1 ? "is" : "are"}`;
  say(context, `${count} removed`);
  if (removed.some(({ unlanded }) => unlanded.length > 0))
    say(context, "git keeps these commits for some weeks: git branch <name> <commit> brings one back");
}
