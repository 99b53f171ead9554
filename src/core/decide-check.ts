/** What follows from a look at the target? Health, the end of a base check, and fix tasks for what is broken. */
import { isSpent } from "./budget.ts";
import { gateRed, isForRed, targetMoved, turned, unknown } from "./decide-landing.ts";
import { decideProbe, notProbed, setupMet } from "./decide-setup.ts";
import type { Fact, NewTask } from "./event.ts";
import { type Failure, failure } from "./failure.ts";
import { failuresOf, type GateReport, isNameless, unnamedIn } from "./gate.ts";
import type { Ended, Job, Member, Moved, Outcome } from "./job.ts";
import { afterBase, afterMove, membersOf, OPEN } from "./landing.ts";
import type { Rules } from "./policy.ts";
import { REPAIR_RANK } from "./rank.ts";
import { type FixTask, firstClass, isAfter, type Problem, planRepairs } from "./repair.ts";
import { slugOf } from "./slug.ts";
import { healthAfter, isFlaky, pendingFixes, type RunState, redBefore, taskOf } from "./state.ts";
import { wantsProbe } from "./sweep-time.ts";
import { childId, ROOT } from "./task.ts";

export function decideCheck(
  state: RunState,
  job: Job & { readonly kind: "check" },
  ended: Ended,
  rules: Rules,
): readonly Fact[] {
  const { outcome, free } = ended;
  if (job.probe) return decideProbe(state, ended, rules);
  if (outcome.is === "checked") return checked(state, outcome, rules);
  if (free) return []; // Interrupted: it is due again at once.
  const why =
    outcome.is === "failed" ? outcome.failure : failure("repository", `a check answered "${outcome.is}"`);
  return checkFailed(state, why, rules);
}

function checked(
  state: RunState,
  outcome: Outcome & { readonly is: "checked" },
  rules: Rules,
): readonly Fact[] {
  const { tip, report, problems, moved } = outcome;
  const facts: Fact[] = [{ type: "target.checked", tip, report }];
  // While something lands, the target is about to be reported elsewhere by its own job.
  if (moved && state.count.land === 0 && isNews(state, tip, moved)) {
    const found = unknown(state, moved).flatMap((landing) => landing.members);
    facts.push(...targetMoved(state, moved), ...otherBase(state, found, rules));
  }
  if (state.setup.failure) return facts; // It is looked at again: nothing follows from what was seen meanwhile.
  // The target has moved since: red stops landing until the new tip is seen, but nothing is mended on old news.
  if (tip !== state.target.tip || facts.length > 1) return facts;
  const health = healthAfter(state, tip, report);
  if (health === "suspect") return [...facts, ...cleared(state, failuresOf(report), rules)];
  const lasting = lastingFailures(state, tip, failuresOf(report));
  return [
    ...facts,
    ...baseKnown(state, report, rules),
    ...(health === "red" ? huntVoid(state, rules) : []),
    ...(health === "red" ? repair(state, problems, { lasting, unnamed: unnamedIn(report) }, rules) : []),
  ];
}

/**
 * Unless nothing has landed since the check began, where it is said to be may be where it was, and what is said to
 * be lost need not be all: the next look tells, from where the target is known to be.
 */
const isNews = ({ target }: RunState, tip: string, moved: Moved) =>
  moved.tip !== target.tip && tip === target.tip;

/** A candidate that was red is to be compared with the target that it was made on: on another one it is made again. */
function otherBase(state: RunState, found: readonly Member[], rules: Rules): readonly Fact[] {
  const { phase, errors, retryAt } = state.landing;
  if (phase.is === "open") return [];
  return turned(state, { turn: afterMove(phase, found), conflicts: [], errors, retryAt }, rules);
}

/** What failed the last time too, if that was the same commit: a flaky test is not for mending, if others are. */
function lastingFailures(state: RunState, tip: string, failures: readonly string[]): readonly string[] {
  const before = redBefore(state, tip);
  const lasting = state.target.checkedTip === tip ? failures.filter((name) => before.has(name)) : failures;
  const solid = lasting.filter((name) => !isFlaky(state, name));
  return solid.length > 0 ? solid : lasting;
}

/** What the target fails by itself, even if it does so only now and then, is not the fault of a candidate. */
function cleared(state: RunState, failing: readonly string[], rules: Rules): readonly Fact[] {
  const { phase } = state.landing;
  if (phase.is !== "base") return [];
  const there = new Set(failing);
  const suspects = phase.suspects.filter((name) => !there.has(name));
  if (suspects.length === phase.suspects.length) return [];
  const turn =
    suspects.length === 0
      ? { phase: OPEN, requeue: phase.members, refuse: [] }
      : { phase: { ...phase, suspects }, requeue: [], refuse: [] };
  return turned(state, { turn, conflicts: [] }, rules);
}

function baseKnown(state: RunState, report: GateReport, rules: Rules): readonly Fact[] {
  const { phase } = state.landing;
  if (phase.is !== "base") return [];
  const names = phase.suspects.slice(0, 10).join(", ");
  const words = phase.onRed
    ? "the target was red, and is not better with it"
    : "the gate is red with it, and not without";
  const why = gateRed(`${words}: ${names}`, state.landing.detail);
  const toHeal = phase.members.flatMap((m) => taskOf(state, m.task).spec.repairs ?? []);
  // Compared with nothing that has a name, it had to be green, and is not: else it would be tried for ever.
  const turn =
    phase.onRed && isNameless(report)
      ? { phase: OPEN, requeue: [], refuse: phase.members }
      : afterBase(phase, failuresOf(report), toHeal);
  return turned(state, { turn, conflicts: [], why }, rules);
}

/** A hunt compares with a green target; on one that has turned red everybody goes back to the queue. */
function huntVoid(state: RunState, rules: Rules): readonly Fact[] {
  const { phase } = state.landing;
  if (phase.is !== "again" && phase.is !== "hunt") return [];
  if (state.count.land > 0) return []; // What is gated now is judged by its own answer.
  if (phase.is === "again" && isForRed(state, phase.members)) return [];
  const turn = { phase: OPEN, requeue: membersOf(phase), refuse: [] };
  return turned(state, { turn, conflicts: [] }, rules);
}

function checkFailed(state: RunState, why: Failure, rules: Rules): readonly Fact[] {
  const isLast = state.target.checkErrors + 1 >= rules.policy.sweep.maxErrorsInARow;
  const facts: Fact[] = [{ type: "target.unchecked", failure: why }];
  const isFirst = state.target.checkedTip === undefined;
  const stop = setupMet(state, why, rules, isFirst || isLast);
  if (stop.length > 0) return isFirst ? stop : [...facts, ...stop];
  // Where the target cannot be checked, a candidate that is green is proof enough: landing waits for no probe.
  if (isLast && wantsProbe(state, rules.policy)) facts.push(notProbed(why));
  const { phase } = state.landing;
  if (phase.is !== "base" || !isLast) return facts;
  // Without a base to compare with, nobody can be found guilty, and trying again would never end.
  const unknown = failure("repository", `the gate could not be run on the target: ${why.message}`, why.next);
  const turn = { phase: OPEN, requeue: [], refuse: phase.members };
  return [...facts, ...turned(state, { turn, conflicts: [], why: unknown }, rules)];
}

/** One round of fix tasks for one class of problems; after enough rounds that mended nothing, none. */
function repair(
  state: RunState,
  problems: readonly Problem[],
  { lasting, unnamed }: { readonly lasting: readonly string[]; readonly unnamed: number },
  rules: Rules,
): readonly Fact[] {
  const { repair: now, cancelling } = state;
  if (now.givenUp || isSpent(state, rules.policy) || cancelling !== undefined) return [];
  const names = new Set(lasting);
  const failures = lasting.length + unnamed; // Where names are cut, there are as many of them after a round of fixes.
  const found = problems.filter((problem) => names.has(problem.name));
  // What comes later in the order shows only when what came before is mended: that is progress, however much it is.
  const further = now.class !== undefined && isAfter(firstClass(found), now.class);
  const isOther = isAnother(state, lasting);
  const better = now.round > 0 && (failures < now.failures || further || isOther);
  const round = better ? 0 : now.round;
  const idle = now.pending.size === 0;
  if (idle && round >= rules.policy.repair.maxRounds)
    return [{ type: "repair.given-up", failures: lasting.slice(0, 100) }];
  const root = state.planners.get(ROOT);
  const plan = planRepairs({
    problems: found,
    pending: pendingFixes(state),
    ...(idle ? {} : { tried: now.tried }),
    usedKeys: root?.keys ?? new Map(),
    limits: rules.policy.repair,
  });
  if (plan.tasks.length === 0 && !idle) return [];
  const first = (root?.children ?? 0) + 1;
  const into = plan.tasks.map((fix, i) => fixTask(fix, first + i));
  const next = idle ? round + 1 : round;
  // The fewest so far: a flaky failure that comes and goes is not progress each time that it goes.
  const fewest = now.round > 0 && !further && !isOther ? Math.min(now.failures, failures) : failures;
  const kind = plan.class === undefined ? {} : { class: plan.class };
  return [{ type: "repair.planned", into, round: next, failures: fewest, ...kind, notes: plan.notes }];
}

/**
 * It was green, if only by chance, and is red for nothing that a fix was made for. While it stays red, another name is
 * no progress: some change with every look, and repair would never be given up.
 */
const isAnother = ({ target, repair: { known } }: RunState, lasting: readonly string[]): boolean =>
  target.health !== "red" && lasting.length > 0 && lasting.every((name) => !known.has(name));

/** A fix task is a child of the root, never split, and goes before everything else. */
const fixTask = (fix: FixTask, ordinal: number): NewTask => ({
  id: childId(ROOT, ordinal),
  rank: REPAIR_RANK,
  spec: {
    key: fix.key,
    description: fix.description,
    acceptance: fix.acceptance,
    scope: fix.scope,
    repairs: fix.repairs,
    after: [],
    priority: 1,
    delivers: "change",
    shape: "work",
    slug: slugOf(fix.key),
  },
});
