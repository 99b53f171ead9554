/** What changes when the target moves, or was looked at? */
import { withSeen } from "./batch-size.ts";
import type { Draft } from "./draft.ts";
import type { EventOf } from "./event.ts";
import { noteGateChange } from "./evolve-setup.ts";
import type { Failure } from "./failure.ts";
import { isGreen } from "./gate.ts";
import { createFailureHandoff } from "./handoff.ts";
import type { Member } from "./job.ts";
import { taskIn } from "./release.ts";
import { raise, settle } from "./settle.ts";
import { flakyOf, healthAfter, type Landing, redsAfter, takenBack } from "./state.ts";
import { isSettled, ROOT } from "./task.ts";

export function batchLanded(s: Draft, event: EventOf<"batch.landed">): void {
  if (event.proof !== "found") s.target.unsure = false; // It was built on the target as it is.
  moveTip(s, event.commit);
  foundAgain(s, event.commit);
  noteFlaky(s, event.flaky);
  if (event.proof === "green") s.odds = withSeen(s.odds, { good: event.members.length, bad: 0 });
  for (const member of event.members) landed(s, member, event.commit);
  noteGateChange(s, event.members);
}

/** A candidate that was red because of it, and of nobody else. */
export function noteGuilt(s: Draft, { kind }: Failure): void {
  if (kind === "gate-red") s.odds = withSeen(s.odds, { good: 0, bad: 1 });
}

/** Its tasks stay as they are; whether they are done again, or not needed, is for the root's planner to say. */
export function landingLost(s: Draft, { commit, members }: EventOf<"landing.lost">): void {
  const ids = members.map(({ task }) => task);
  s.lost.set(commit, ids);
  const planner = s.planners.get(ROOT);
  for (const id of ids) if (planner) raise(s, planner, id, "undone", takenBack(taskIn(s, id), commit));
}

function foundAgain(s: Draft, commit: string): void {
  const { concerns, dealt = [] } = s.planners.get(ROOT) ?? {};
  for (const id of s.lost.get(commit) ?? []) {
    const text = takenBack(taskIn(s, id), commit);
    for (const concern of concerns?.values() ?? []) if (concern.text === text) concerns!.delete(concern.id);
    const given = dealt.findIndex(({ concern }) => concern.text === text);
    if (given !== -1) dealt.splice(given, 1); // It is there again: nothing was given up.
  }
  s.lost.delete(commit);
}

export function moveTip(s: Draft, tip: string): void {
  s.target.tip = tip;
  s.tips.add(tip);
}

function landed(s: Draft, { task: id }: Member, commit: string): void {
  const task = taskIn(s, id);
  if (isSettled(task)) return; // Cancelled in the meantime; it is in the tree all the same.
  const handoff =
    task.state.is === "landing"
      ? task.state.handoff
      : {
          ...createFailureHandoff(task, ""),
          status: "complete" as const,
          summary: "landed by an earlier attempt",
          concerns: [],
          suggestions: [],
        };
  settle(s, id, { is: "done", handoff, commit });
}

/** So many that come and go at once are an outage, of which the tests themselves know nothing. */
const MAX_FLAKY_AT_ONCE = 20;

function noteFlaky(s: Draft, names: readonly string[]): void {
  if (names.length > MAX_FLAKY_AT_ONCE) return;
  for (const name of names) s.flaky.set(name, (s.flaky.get(name) ?? 0) + 1);
}

export function targetChecked(s: Draft, { tip, report, at }: EventOf<"target.checked">): void {
  const { target } = s;
  const green = isGreen(report);
  const reds = green ? 0 : redsAfter(s, tip);
  const gone = flakyOf(target, tip, report);
  const byChance = target.redsInARow > 0 && target.checkedTip === tip;
  target.health = healthAfter(s, tip, report);
  target.redsInARow = reds;
  target.greensInARow = green ? target.greensInARow + 1 : 0;
  target.checkedTip = tip;
  target.checkedAt = at;
  target.checkErrors = 0;
  target.baseMoved = false;
  target.unsure = false;
  target.report = report;
  noteFlaky(s, gone);
  if (!green) return;
  s.repair.givenUp = false;
  if (byChance) return; // Nobody has mended anything: the rounds of repair go on being counted.
  s.repair.tried.clear();
  s.repair.known.clear();
  Object.assign(s.repair, { class: undefined, round: 0, failures: 0 });
}

export const landingOf = (event: EventOf<"landing.turned">): Landing => {
  const { phase, errors, retryAt, detail, failure: problem } = event;
  return { phase, errors, retryAt, ...(detail !== undefined && { detail }), ...(problem && { problem }) };
};
