/** Changes the state when the target moves or is checked, repairs are planned, or the gate is probed or not set up. */

import type { Failure } from "../failure.ts";
import { isGreen } from "../gate.ts";
import { createFailureHandoff } from "../handoff.ts";
import type { Member } from "../job.ts";
import { withSeen } from "../rules/batch-size.ts";
import { testsRanIn } from "../rules/fewer-tests.ts";
import { isOfGate } from "../rules/gate-changes.ts";
import type { Phase } from "../rules/landing.ts";
import { BASE_QUESTION, questionKey } from "../subtask.ts";
import { isSettled, ROOT, type TaskId, type TaskState } from "../task.ts";
import { type Evolvers, release, type StateDraft, taskIn } from "./draft.ts";
import { addTask } from "./evolve-plan.ts";
import { forgetQuestion, noteSetupError, noteSetupWorks, raise, settle } from "./settle.ts";
import { takenBack } from "./state.ts";
import { goneIn, healthAfter, redsAfter } from "./target-health.ts";

export const targetEvents = {
  "batch.landed"(s, { members, commit, proof, flaky, turn, ran }) {
    const gated = s.train.find((one) => one.turn === turn);
    if (gated && proof === "green")
      s.target.passes = passesWith(s.target, { tip: commit, since: gated.since });
    trainAfter(s, turn);
    if (proof !== "found") s.target.unsure = false; // Its job built on the target's tip, so the tip is known.
    moveTip(s, commit, ran);
    foundAgain(s, commit);
    noteFlaky(s, flaky);
    if (proof === "green") s.odds = withSeen(s.odds, { good: members.length, bad: 0 });
    for (const member of members) landed(s, member, commit);
    noteGateChange(s, members);
  },
  /** The tasks of a lost landing stay done; the root's planner decides whether they are done again. */
  "landing.lost"(s, { commit, members }) {
    trainAfter(s, undefined);
    const ids = members.map(({ task }) => task);
    s.lost.set(commit, ids);
    const planner = s.planners.get(ROOT);
    for (const id of ids)
      if (planner) raise(s, planner, { from: id, kind: "undone", text: takenBack(taskIn(s, id), commit) });
  },
  "candidate.passed"(s, { turn, passed }) {
    s.train = s.train.map((one) => (one.turn === turn ? { ...one, result: passed } : one));
  },
  "candidate.failed"(s, { turn, failed }) {
    s.train = s.train.map((one) => (one.turn === turn ? { ...one, result: failed } : one));
  },
  "landing.turned"(
    s,
    { phase, errors, retryAt, detail, stale, failure: problem, requeue, undecided, drop, at },
  ) {
    if (phase.is === "again" && !isSameRun(s.landing.phase, phase)) s.doubtSince = at;
    if (drop) s.train = s.train.filter(({ turn }) => !drop.includes(turn));
    s.landing = {
      phase,
      errors,
      retryAt,
      ...(detail !== undefined && { detail }),
      ...(stale !== undefined && { stale }),
      ...(problem && { problem }),
    };
    for (const id of requeue) release(s, taskIn(s, id));
    for (const id of undecided ?? []) s.undecided.set(id, (s.undecided.get(id) ?? 0) + 1);
    if (errors > 0) s.target.unsure = true;
  },
  "target.checked"(s, { tip, report, leftovers, look, passedAt, at }) {
    const { target } = s;
    const green = isGreen(report);
    const byChance = target.redsInARow > 0 && target.checkedTip === tip;
    const gone = target.leftovers ? [] : goneIn(s, tip, report);
    Object.assign(target, {
      health: healthAfter(s, { tip, report, ...(leftovers && { leftovers }) }),
      redsInARow: green ? 0 : redsAfter(s, tip),
      greensInARow: green ? target.greensInARow + 1 : 0,
      checkedTip: tip,
      checkedAt: at,
      // A gate that was not run took no time.
      slowestMs: Math.max(target.slowestMs, passedAt === undefined ? at - target.checkBegunAt : 0),
      passes: green ? passesWith(target, { tip, since: target.checkBegunAt }) : target.passes,
      checkErrors: 0,
      baseMoved: false,
      unsure: false,
      report,
      ran: tip === target.tip ? testsRanIn(report) : target.ran,
      look,
      leftovers,
    } satisfies Partial<StateDraft["target"]>);
    noteFlaky(s, gone);
    if (report.commands.length > 0) noteSetupWorks(s);
    if (!green) return;
    s.repair.givenUp = byChance && s.redBase?.choice === "continue";
    if (byChance) return; // Nothing was repaired, so the rounds of repair keep their count.
    s.redBase = undefined;
    s.repair.tried.clear();
    s.repair.known.clear();
    Object.assign(s.repair, { class: undefined, round: 0, failures: 0 });
  },
  "base.failed"(s, { choice, asked }) {
    s.redBase = { choice, offer: asked?.offer ?? [], repaired: s.redBase?.repaired ?? [] };
    if (choice === "continue") s.repair.givenUp = true;
    if (!asked) return;
    const { text, until } = asked;
    s.questions.set(BASE_QUESTION, {
      ...{ id: BASE_QUESTION, task: ROOT, text, default: asked.default, until },
      ...{ to: "person", tries: 0 },
    });
    s.deadlines.set(questionKey(BASE_QUESTION), until);
  },
  "base.answered"(s, { choice }) {
    forgetQuestion(s, BASE_QUESTION);
    if (s.redBase) s.redBase = { ...s.redBase, choice, offer: [] };
    if (choice === "continue") s.repair.givenUp = true;
  },
  "leftovers.found"(s, { leftovers }) {
    const files = [...new Set([...leftovers.files, ...(s.leftovers?.files ?? [])])];
    s.leftovers = {
      files: files.slice(0, MAX_LEFTOVERS),
      // At least so many: the unnamed files may be the same ones each time.
      more: Math.max(leftovers.more ?? 0, s.leftovers?.more ?? 0, files.length - MAX_LEFTOVERS),
      times: (s.leftovers?.times ?? 0) + 1,
    };
  },
  "target.unchecked"(s, { failure, at }) {
    s.target.checkErrors += 1;
    s.target.checkedAt = at;
    noteSetupError(s, failure);
  },
  "target.moved"(s, { tip }) {
    trainAfter(s, undefined);
    moveTip(s, tip);
    s.target.health = "unknown";
  },
  "base.moved"(s) {
    s.target.baseMoved = true;
  },
  "repair.planned"(s, { into, round, class: kind, failures }) {
    const isNewRound = s.repair.pending.size === 0;
    if (isNewRound) s.repair.tried.clear();
    if (isNewRound && kind && s.redBase)
      s.redBase = { ...s.redBase, repaired: [...s.redBase.repaired, kind] };
    for (const task of into) {
      addTask(s, task);
      s.repair.pending.add(task.id);
      for (const name of task.spec.repairs ?? []) {
        s.repair.tried.add(name);
        s.repair.known.add(name);
      }
    }
    Object.assign(s.repair, { round, class: kind, failures });
  },
  "repair.given-up"(s) {
    s.repair.givenUp = true;
  },
  "setup.failed"(s, { failure }) {
    trainAfter(s, undefined); // Results of a gate that cannot run here are worthless.
    s.setup.failure = failure;
    s.setup.hasFailed = true;
  },
  /** A person has fixed the set-up: everything that was unknown because of it is asked again. */
  "setup.retried"(s, { at }) {
    const { setup, target } = s;
    Object.assign(setup, { failure: undefined, errors: 0, since: at, probeErrors: 0 });
    if (setup.probed?.is === "unproven") setup.probed = undefined;
    // What to do about a failing base is decided anew, unless agents were already paid to repair it: each class gets
    // one paid round.
    if (s.redBase?.repaired.length === 0) s.redBase = undefined;
    target.health = "unknown";
    target.checkErrors = 0;
  },
  "gate.probed"(s, { probed, at }) {
    const isProbedEarly = probed.is === "not-probed" && s.target.health !== "green";
    Object.assign(s.setup, { probed, isProbedEarly, probeErrors: 0, probeEndedAt: at });
  },
  "gate.unprobed"(s, { at }) {
    s.setup.probeErrors += 1;
    s.setup.probeEndedAt = at;
  },
} satisfies Partial<Evolvers>;

/** As many as people read. */
const MAX_LEFTOVERS = 10;

const isSameRun = (before: Phase, now: Phase & { readonly is: "again" }): boolean =>
  before.is === "again" && before.run === now.run;

const passesWith = ({ passes }: StateDraft["target"], pass: StateDraft["target"]["passes"][number]) => [
  pass,
  ...passes.slice(0, MAX_PASSES - 1),
];

/** One pass of the last check and one of the last landing. */
const MAX_PASSES = 2;

/**
 * The target has moved to the candidate of `turn`, or elsewhere. Candidates that were not built on its new tip become
 * stale.
 */
function trainAfter(s: StateDraft, landed: number | undefined): void {
  if (s.train.length === 0) return;
  s.train = s.train
    .filter(({ turn }) => turn !== landed)
    .map((one) =>
      landed !== undefined && one.on[0] === landed
        ? { ...one, on: one.on.slice(1) }
        : { ...one, isStale: true as const },
    );
}

export function moveTip(s: StateDraft, tip: string, ran: StateDraft["target"]["ran"] = []): void {
  if (tip !== s.target.tip) s.undecided.clear();
  s.target.tip = tip;
  s.target.ran = ran;
  s.tips.add(tip);
}

/** The task alone made its candidate fail the gate; its next attempt makes another candidate. */
export function noteGuilt(s: StateDraft, task: TaskId, { kind }: Failure): void {
  s.undecided.delete(task);
  if (kind === "gate-red") s.odds = withSeen(s.odds, { good: 0, bad: 1 });
}

/** A lost landing is in the target again: removes its concerns, also those that the planner had dealt with. */
function foundAgain(s: StateDraft, commit: string): void {
  const planner = s.planners.get(ROOT);
  for (const id of s.lost.get(commit) ?? []) {
    if (!planner) break;
    const text = takenBack(taskIn(s, id), commit);
    for (const concern of planner.concerns.values())
      if (concern.text === text) planner.concerns.delete(concern.id);
    const given = planner.dealt.findIndex(({ concern }) => concern.text === text);
    if (given !== -1) planner.dealt = planner.dealt.toSpliced(given, 1);
  }
  s.lost.delete(commit);
}

function landed(s: StateDraft, { task: id }: Member, commit: string): void {
  const task = taskIn(s, id);
  if (isSettled(task)) return; // Cancelled in the meantime, but its change is in the tree.
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

/** More flaky tests at once than this mean an outage, and say nothing about the tests. */
const MAX_FLAKY_AT_ONCE = 20;

function noteFlaky(s: StateDraft, names: readonly string[]): void {
  if (names.length > MAX_FLAKY_AT_ONCE) return;
  for (const name of names) s.flaky.set(name, (s.flaky.get(name) ?? 0) + 1);
}

/** A proof of the gate does not hold for a changed gate. */
function noteGateChange(s: StateDraft, members: readonly Member[]): void {
  if (s.setup.probed?.is !== "proved") return;
  const changer = members.map(({ task }) => taskIn(s, task)).find(({ state }) => changesGate(state));
  if (changer) s.setup.probed = { is: "not-probed", why: `${changer.spec.key} changed what it runs` };
}

const changesGate = (state: TaskState): boolean =>
  (state.is === "landing" || state.is === "done") && (state.handoff.flags ?? []).some(isOfGate);
