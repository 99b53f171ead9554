/** Removes closed runs that are older than an age, but never one with an undelivered landing. */
import { wallTime } from "../core/log/state.ts";
import { hasFailed } from "../core/result.ts";
import type { UnreadableRun } from "../ports/runs.ts";
import { plural } from "../text/words.ts";
import { type Losses, lookAtRemoval, type RemoveParts, removeRun } from "./remove-run.ts";
import { type SeenRun, seeRun } from "./see-run.ts";

type RemoveOldRequest = {
  /** Measured from when a run was closed; for one that never began, from when it was made. */
  readonly olderThanMs: number;
  readonly now: number;
  /** The person has agreed already. */
  readonly yes?: boolean;
  /** Asks the person once for all runs; undefined if no person can be asked. */
  readonly confirm?: (old: OldRuns) => Promise<boolean>;
};

export type OldRun = Pick<Losses, "unlanded"> & {
  readonly run: string;
  readonly goal: string;
  readonly closedAt: number;
};

/** `why`: why it stays although it is old enough. */
export type KeptRun = { readonly run: string; readonly why: string; readonly next?: string };

export type OldRuns = { readonly old: readonly OldRun[]; readonly kept: readonly KeptRun[] };

type OldRunsRemoved =
  | { readonly is: "removed"; readonly removed: readonly OldRun[]; readonly kept: readonly KeptRun[] }
  | ({ readonly is: "declined" | "unasked" } & OldRuns);

export async function removeOldRuns(
  request: RemoveOldRequest,
  parts: RemoveParts,
  signal: AbortSignal,
): Promise<OldRunsRemoved> {
  const { yes = false, confirm } = request;
  const found = await oldRuns(request, parts, signal);
  if (found.old.length > 0 && !yes) {
    if (!confirm) return { is: "unasked", ...found };
    if (!(await confirm(found))) return { is: "declined", ...found };
  }
  const removed: OldRun[] = [];
  const kept = [...found.kept];
  for (const one of found.old) {
    // Everything is checked again: meanwhile the run may have been resumed, or its delivery undone.
    const end = await removeRun({ run: one.run, yes: true }, parts, signal);
    if (hasFailed(end)) kept.push({ run: one.run, ...whyOf(end.failure) });
    else if ("message" in end) kept.push({ run: one.run, ...whyOf(end) });
    else removed.push(one);
  }
  return { is: "removed", removed, kept };
}

async function oldRuns(
  { olderThanMs, now }: RemoveOldRequest,
  parts: RemoveParts,
  signal: AbortSignal,
): Promise<OldRuns> {
  const old: OldRun[] = [];
  const kept: KeptRun[] = [];
  for (const record of await parts.project.runs.list()) {
    const seen = await seenOf(record, parts);
    if ("why" in seen) {
      kept.push(seen);
      continue;
    }
    const { run, goal } = seen.home.record;
    const closedAt = lastTimeOf(seen);
    if (now - closedAt < olderThanMs) continue;
    const removal = await lookAtRemoval(seen, parts, signal);
    if (hasFailed(removal)) kept.push({ run, ...whyOf(removal.failure) });
    else if ("message" in removal) kept.push({ run, ...whyOf(removal) });
    else if ("is" in removal)
      continue; // Another process has just removed it.
    else if (removal.undelivered.length > 0) kept.push({ run, ...undelivered(run, removal) });
    else old.push({ run, goal, closedAt, unlanded: removal.unlanded });
  }
  return { old, kept };
}

async function seenOf(
  record: UnreadableRun | { readonly run: string },
  { project: { runs } }: RemoveParts,
): Promise<SeenRun | KeptRun> {
  const home = hasFailed(record) ? record : await runs.open(record.run);
  const seen = hasFailed(home) ? home : await seeRun(home);
  return hasFailed(seen) ? { run: record.run, ...whyOf(seen.failure) } : seen;
}

/** When the run was closed; for an open run, its last event; by the machine's clock. */
const lastTimeOf = ({ home, seen: { state, story, latest, events } }: SeenRun): number =>
  events === 0 ? home.record.createdAt : wallTime(state, story.closed?.at ?? latest);

const undelivered = (run: string, { undelivered: landed }: Losses) => ({
  why: `${plural(landed.length, "landing")} of it ${landed.length === 1 ? "was" : "were"} never delivered`,
  next: `skein deliver ${run}; or lose what landed: skein remove ${run} --yes --undelivered`,
});

const whyOf = ({ message, next }: { readonly message: string; readonly next?: string | undefined }) => ({
  why: message,
  ...(next !== undefined && { next }),
});
