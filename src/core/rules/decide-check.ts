/** Decides what follows from a check of the target: its health, the verdict on a waiting candidate, and fix tasks. */

import { slugOf } from "../../text/slug.ts";
import { type Failure, failure } from "../failure.ts";
import { blockingIn, failuresOf, type GateReport, isUnjudged, unjudgeable, unnamedIn } from "../gate.ts";
import type { Ended, Job, Member, Moved, Outcome } from "../job.ts";
import type { Fact, NewTask, RepairOffer } from "../log/event.ts";
import { pendingFixes, type RunState, taskOf } from "../log/state.ts";
import { goneIn, healthAfter, isFlaky, isUnpaid, redBefore } from "../log/target-health.ts";
import { childId, ROOT } from "../task.ts";
import { isSpent } from "./budget.ts";
import { wantsProbe } from "./check-time.ts";
import type { Now } from "./consequences.ts";
import { isForRed, targetMoved, turned, unknown } from "./decide-landing.ts";
import { decideProbe, notProbed, setupMet } from "./decide-setup.ts";
import { overLeftovers } from "./doubtful-gate.ts";
import { gateRed } from "./gate-red.ts";
import { afterBase, afterMove, backToQueue, keepPhase, membersOf, refuseAll } from "./landing.ts";
import { REPAIR_RANK } from "./rank.ts";
import { baseFailed, lookedAt } from "./red-base.ts";
import { type FixTask, firstClass, isAfter, type Problem, planRepairs } from "./repair.ts";
import { isMoving } from "./train.ts";

export function decideCheck(now: Now, job: Job & { readonly kind: "check" }, ended: Ended): readonly Fact[] {
  const { outcome, free } = ended;
  if (job.probe) return decideProbe(now, ended);
  if (outcome.is === "checked")
    return isNotFresh(now.state, outcome) ? checkFailed(now, NOT_FRESH) : checked(now, outcome);
  if (free) return []; // Interrupted: the check is due again at once.
  const why =
    outcome.is === "failed" ? outcome.failure : failure("repository", `a check answered "${outcome.is}"`);
  return checkFailed(now, why);
}

/**
 * The check used a workspace with leftovers although a fresh one was asked for. Without this error, a machine that
 * cannot make fresh workspaces would check for ever.
 */
const isNotFresh = (
  { target }: RunState,
  { tip, leftovers }: Outcome & { readonly is: "checked" },
): boolean =>
  leftovers !== undefined &&
  target.leftovers !== undefined &&
  target.health === "suspect" &&
  target.checkedTip === tip;

const NOT_FRESH = failure(
  "repository",
  "the gate failed in a used workspace where a fresh one was asked for",
  "let the machines that run the gate have the version of Skein that this one has",
);

function checked(now: Now, outcome: Outcome & { readonly is: "checked" }): readonly Fact[] {
  const { state } = now;
  const { tip, report, problems, leftovers, moved, passedAt } = outcome;
  const look = tip === state.request?.base && isUnpaid(state) ? lookedAt(state, outcome) : undefined;
  const facts: Fact[] = [
    {
      type: "target.checked",
      tip,
      report,
      ...(leftovers && { leftovers }),
      ...(look && { look }),
      ...(passedAt !== undefined && { passedAt }),
    },
  ];
  const inTheWay = state.target.leftovers;
  if (inTheWay && !leftovers)
    facts.push(...overLeftovers(state, { failures: goneIn(state, tip, report), leftovers: inTheWay }));
  const known = facts.length;
  // While a landing is running, its own report will say where the target is.
  if (moved && !isMoving(state) && isNews(state, tip, moved)) {
    const found = unknown(state, moved).flatMap((landing) => landing.members);
    facts.push(...targetMoved(state, moved), ...otherBase(now, found));
  }
  if (state.setup.failure) return facts; // A gate that cannot run proves nothing.
  // The target has moved since the check began: red stops landing until the new tip is checked, but nothing is repaired
  // by old results.
  if (tip !== state.target.tip || facts.length > known) return facts;
  const health = healthAfter(state, outcome);
  if (health === "suspect") return leftovers ? facts : [...facts, ...cleared(now, failuresOf(report))];
  const judged = [...facts, ...baseKnown(now, tip, report)];
  if (health !== "red") return judged;
  const lasting = lastingFailures(state, tip, failuresOf(report));
  const fixes = repair(now, problems, { lasting, unnamed: unnamedIn(report), blocking: blockingIn(report) });
  const isFirst = look !== undefined && state.redBase === undefined;
  return [...judged, ...endBisection(now), ...(isFirst ? baseFailed(now, look, fixes) : fixes)];
}

/**
 * If something has landed since the check began, the reported place may be outdated, and some lost landings may be
 * unknown: the next check tells.
 */
const isNews = ({ target }: RunState, tip: string, moved: Moved) =>
  moved.tip !== target.tip && tip === target.tip;

/**
 * A red candidate is compared with the target that it was built on. If the target is elsewhere now, the candidate is
 * built again.
 */
function otherBase(now: Now, found: readonly Member[]): readonly Fact[] {
  const { phase, errors, retryAt } = now.state.landing;
  return phase.is === "open" ? [] : turned(now, { turn: afterMove(phase, found), errors, retryAt });
}

/** What failed in the last check of the same commit, too. Flaky tests are repaired only if nothing else fails. */
function lastingFailures(state: RunState, tip: string, failures: readonly string[]): readonly string[] {
  const before = redBefore(state, tip);
  const lasting = state.target.checkedTip === tip ? failures.filter((name) => before.has(name)) : failures;
  const solid = lasting.filter((name) => !isFlaky(state, name));
  return solid.length > 0 ? solid : lasting;
}

/** No candidate is blamed for a failure that the target has by itself, even if only sometimes. */
function cleared(now: Now, failing: readonly string[]): readonly Fact[] {
  const { phase } = now.state.landing;
  if (phase.is !== "base") return [];
  const there = new Set(failing);
  const suspects = phase.suspects.filter((name) => !there.has(name));
  if (suspects.length === phase.suspects.length) return [];
  const turn = suspects.length === 0 ? backToQueue(phase.members) : keepPhase({ ...phase, suspects });
  return turned(now, { turn, isVerdict: true });
}

function baseKnown(now: Now, tip: string, report: GateReport): readonly Fact[] {
  const { landing, target } = now.state;
  if (landing.phase.is !== "base") return [];
  // With several gates the target may have failed this way while the candidate was run again, before `cleared` could
  // see it.
  const gone = new Set(target.leftovers ? [] : goneIn(now.state, tip, report));
  const phase = { ...landing.phase, suspects: landing.phase.suspects.filter((name) => !gone.has(name)) };
  if (phase.suspects.length === 0) return turned(now, { turn: backToQueue(phase.members), isVerdict: true });
  const toHeal = phase.members.flatMap((m) => taskOf(now.state, m.task).spec.repairs ?? []);
  // If the target cannot be compared with, the candidate had to be green, and is not: it is refused, or it would be
  // retried for ever.
  const turn =
    phase.onRed && unjudgeable(report).length > 0
      ? refuseAll(phase.members)
      : afterBase(phase, failuresOf(report), { toHeal, gates: now.policy.landing.gates });
  return turned(now, { turn, why: refusedAfterBase(phase, failuresOf(report), landing), isVerdict: true });
}

/** `failing`: what the target fails by itself. */
function refusedAfterBase(
  { suspects, onRed }: { readonly suspects: readonly string[]; readonly onRed: boolean },
  failing: readonly string[],
  said: { readonly detail?: string; readonly stale?: string },
): Failure {
  const own = suspects.filter((name) => !failing.includes(name));
  const isWorse = onRed && own.length > 0;
  const names = (isWorse ? own : suspects).slice(0, 10).join(", ");
  if (suspects.some(isUnjudged)) return { ...gateRed(`${NOT_COMPARABLE}: ${names}`, said), next: CLEAR_IT };
  const words = isWorse
    ? "the target fails, and this change breaks what passes there"
    : onRed
      ? "the target fails, and this change does not repair it"
      : "breaks the gate; it passes without this change";
  return gateRed(`${words}: ${names}`, said);
}

const NOT_COMPARABLE =
  "the gate fails on the target so that nobody can tell whether this change breaks something";
const CLEAR_IT =
  "make the gate run again on the current target: until then only a change that does so can land";

/** A bisection compares with a green target. If the target has turned red, all members go back to the queue. */
function endBisection(now: Now): readonly Fact[] {
  const { state } = now;
  const { phase } = state.landing;
  if (phase.is !== "again" && phase.is !== "bisect") return [];
  if (isMoving(state)) return []; // The candidate that is gated now is judged by its own result.
  if (phase.is === "again" && isForRed(state, phase.members)) return [];
  return turned(now, { turn: backToQueue(membersOf(phase)), isVerdict: true });
}

function checkFailed(now: Now, why: Failure): readonly Fact[] {
  const { state, policy } = now;
  const isLast = state.target.checkErrors + 1 >= policy.sweep.maxErrorsInARow;
  const facts: Fact[] = [{ type: "target.unchecked", failure: why }];
  const isFirst = state.target.checkedTip === undefined;
  const stop = setupMet(now, why, isFirst || isLast);
  if (stop.length > 0) return isFirst ? stop : [...facts, ...stop];
  // If the target cannot be checked, a green candidate is proof enough: landing waits for no probe.
  if (isLast && wantsProbe(state, policy)) facts.push(notProbed(why));
  const { phase } = state.landing;
  if (phase.is !== "base" || !isLast) return facts;
  // Without a check of the base no member can be found guilty, and retrying would never end.
  const unknown = failure("repository", `the gate could not be run on the target: ${why.message}`, why.next);
  return [...facts, ...turned(now, { turn: refuseAll(phase.members), why: unknown })];
}

type Failing = {
  /** The names of failures that the last check of the same commit had, too. */
  readonly lasting: readonly string[];
  /** How many more failures there are without a name. */
  readonly unnamed: number;
  /** The failures that must all be gone before any change can be judged. */
  readonly blocking: readonly string[];
};

/** Makes one round of fix tasks for one class of problems, or gives up after enough rounds that repaired nothing. */
function repair(
  { state, policy }: Now,
  problems: readonly Problem[],
  { lasting, unnamed, blocking }: Failing,
): readonly RepairOffer[] {
  const { repair: now, cancelling } = state;
  if (now.givenUp || isSpent(state, policy) || cancelling !== undefined) return [];
  const names = new Set(lasting);
  const failures = lasting.length + unnamed; // If names are cut, there are as many of them after a round of fixes.
  const found = problems.filter((problem) => names.has(problem.name));
  // A later class shows only when the earlier one is repaired: that is progress, however many failures it has.
  const further = now.class !== undefined && isAfter(firstClass(found), now.class);
  const isOther = isAnother(state, lasting);
  const better = now.round > 0 && (failures < now.failures || further || isOther);
  const round = better ? 0 : now.round;
  const idle = now.pending.size === 0;
  // Failures from before the run are repaired once per class: more rounds would be work that the user did not ask for.
  const isAgain = state.redBase?.repaired.includes(firstClass(found) ?? "tests") ?? false;
  if (idle && (round >= policy.repair.maxRounds || isAgain))
    return [{ type: "repair.given-up", failures: lasting.slice(0, 100) }];
  const root = state.planners.get(ROOT);
  const plan = planRepairs({
    problems: found,
    pending: pendingFixes(state),
    ...(idle ? {} : { tried: now.tried }),
    usedKeys: root?.keys ?? new Map(),
    limits: policy.repair,
    blocking: new Set(blocking),
  });
  if (plan.tasks.length === 0 && !idle) return [];
  const first = (root?.children ?? 0) + 1;
  const into = plan.tasks.map((fix, i) => fixTask(fix, first + i));
  const next = idle ? round + 1 : round;
  // The fewest failures so far: a flaky failure that comes and goes is not progress each time that it goes.
  const fewest = now.round > 0 && !further && !isOther ? Math.min(now.failures, failures) : failures;
  const kind = plan.class === undefined ? {} : { class: plan.class };
  return [{ type: "repair.planned", into, round: next, failures: fewest, ...kind, notes: plan.notes }];
}

/**
 * The target was green at least once, perhaps by chance, and no fix was made for any of its present failures. While the
 * target stays red, a new name is no progress: some names change with every check, and repair would never be given up.
 */
const isAnother = ({ target, repair: { known } }: RunState, lasting: readonly string[]): boolean =>
  target.health !== "red" && lasting.length > 0 && lasting.every((name) => !known.has(name));

/** A fix task is a child of the root, is never split, and goes before everything else. */
const fixTask = ({ key, ...fix }: FixTask, ordinal: number): NewTask => ({
  id: childId(ROOT, ordinal),
  rank: REPAIR_RANK,
  spec: {
    key,
    description: fix.description,
    acceptance: fix.acceptance,
    scope: fix.scope,
    repairs: fix.repairs,
    after: [],
    priority: 1,
    delivers: "change",
    shape: "work",
    slug: slugOf(key),
  },
});
