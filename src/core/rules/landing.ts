/** Decides what follows a red gate: a second run, a check of the base, a bisection. Only the guilty task is refused. */
import type { GateLeftovers } from "../gate.ts";
import type { Member } from "../job.ts";

/**
 * Where landing stands between two land jobs.
 *
 *   open ──red──→ again ──red──→ base ──green──→ bisect ──→ open
 *    ↑              │ green        │ red  ↑       │ (halves until one member is left)
 *    └──────────────┴──────────────┘      └───────┘ red twice with another failure than the suspected
 *
 * If the failures point at some of the members, these are gated before the base is. If they are green, the target
 * with them is green, too, and the base need not be checked; if not, the base is next. Neither way adds a gate run.
 */
export type Phase =
  | { readonly is: "open" }
  /** The same candidate is gated once more: the failure may come from a flaky test. */
  | {
      readonly is: "again";
      readonly members: readonly Member[];
      readonly failures: readonly string[];
      readonly run: number;
      readonly used?: UsedRun;
    }
  /** Red twice: a check finds out what fails on the target itself. */
  | {
      readonly is: "base";
      readonly members: readonly Member[];
      readonly suspects: readonly string[];
      /** The target was known to be red: the candidate was judged by what it made worse. */
      readonly onRed: boolean;
      /** The members that the failures point at: they are red without the others. */
      readonly first?: readonly Member[];
    }
  /** One of `guilty` makes `suspects` fail; `next`, some of them, are gated now. */
  | {
      readonly is: "bisect";
      readonly guilty: readonly Member[];
      readonly next: readonly Member[];
      readonly suspects: readonly string[];
      /** Red gate runs of `next` so far. */
      readonly reds: number;
      /** One of these runs was in a used workspace, and does not count against a member. */
      readonly isUsed?: true;
      /** The base was not checked yet: `next` are the members that the failures point at. */
      readonly isEarly?: true;
    };

/** A red run in a used workspace: failures that happened only there may be due to leftovers. */
export type UsedRun = { readonly failures: readonly string[]; readonly leftovers: GateLeftovers };

/** What follows from a result. Members that are in neither list stay in the phase. */
export type Turn = {
  readonly phase: Phase;
  readonly requeue: readonly Member[];
  readonly refuse: readonly Member[];
};

export const OPEN: Phase = { is: "open" };

export const keepPhase = (phase: Phase): Turn => ({ phase, requeue: [], refuse: [] });
export const backToQueue = (requeue: readonly Member[]): Turn => ({ phase: OPEN, requeue, refuse: [] });
export const refuseAll = (refuse: readonly Member[]): Turn => ({ phase: OPEN, requeue: [], refuse });

/** Failures that differ from run to run count as one flaky suite, up to this many runs. */
const MAX_DIFFERING_RUNS = 3;

/**
 * How often in a row a known flaky test must fail before a change is blamed for it: a test that fails every other time
 * does so five times in a row by chance once in 32.
 */
const MAX_FLAKY_RUNS = 5;

/** Where a machine makes no fresh workspaces, the members queue again after so many runs: used ones decide nothing. */
const MAX_USED_RUNS = 5;

/** How many runs with differing failures it takes until they count as red. */
export const maxRuns = (failures: readonly string[], isFlaky: Known["isFlaky"]): number =>
  failures.some(isFlaky) ? MAX_FLAKY_RUNS : MAX_DIFFERING_RUNS;

/** What is known when a gate was red. */
type Known = {
  readonly targetIsRed: boolean;
  /** Whether a failure came and went on one tree, in this run or in an earlier one. */
  readonly isFlaky: (failure: string) => boolean;
  /** The members that the failures point at. */
  readonly named?: readonly Member[];
  /** How many candidates are gated at once. */
  readonly gates?: number;
};

/** The members that alone changed a file that the gate named. */
export function pointedAt(
  members: readonly Member[],
  files: readonly string[],
  changedBy: (member: Member) => readonly string[],
): readonly Member[] {
  const owners = new Map<string, Member[]>(files.map((file) => [file, []]));
  for (const member of members) for (const file of new Set(changedBy(member))) owners.get(file)?.push(member);
  const named = new Set([...owners.values()].flatMap((own) => (own.length === 1 ? own : [])));
  return members.filter((member) => named.has(member));
}

/** The members that the next land job must take, if the phase prescribes them. */
export const prescribed = (phase: Phase): readonly Member[] | undefined =>
  phase.is === "again" ? phase.members : phase.is === "bisect" ? phase.next : undefined;

/** The candidate of `members` was red or, on a red target, worse than the target. */
type Red = {
  readonly members: readonly Member[];
  readonly failures: readonly string[];
  /** The run was in a used workspace, so it decides nothing. */
  readonly leftovers?: GateLeftovers | undefined;
};

export function afterRed(phase: Phase, red: Red, known: Known): Turn {
  const { members, failures, leftovers } = red;
  switch (phase.is) {
    case "open":
    case "base": // No land job runs while the base is checked, but a lost one may still answer.
      return keepPhase({
        ...{ is: "again", members, failures, run: 2 },
        ...(leftovers && { used: { failures, leftovers } }),
      });
    case "again": {
      const all = [...new Set([...phase.failures, ...failures])];
      const twice = shared(phase.failures, failures);
      const solid = leftovers ? [] : twice.filter((name) => !known.isFlaky(name));
      const used = usedAfter(phase.used, red);
      if (leftovers && phase.run >= MAX_USED_RUNS) return backToQueue(members);
      const isOpen = solid.length === 0 && phase.run - (used ? 1 : 0) < maxRuns(all, known.isFlaky);
      if (leftovers || isOpen) {
        return keepPhase({ is: "again", members, failures: all, run: phase.run + 1, ...(used && { used }) });
      }
      const suspects = solid.length > 0 ? solid : twice.length > 0 ? twice : failures;
      const named = known.targetIsRed || solid.length === 0 ? [] : (known.named ?? []);
      // Gating more than half of them first would take one run more than halving does.
      if (named.length > 0 && named.length <= members.length / 2)
        return keepPhase({ is: "bisect", guilty: members, next: named, suspects, reds: 0, isEarly: true });
      return keepPhase({ is: "base", members, suspects, onRed: known.targetIsRed });
    }
    case "bisect":
      return afterRedInBisection(phase, red, known);
  }
}

/** Removes failures from the used run that happened in a fresh workspace as well. */
function usedAfter(before: UsedRun | undefined, { failures, leftovers }: Red): UsedRun | undefined {
  if (leftovers) return { failures: [...new Set([...(before?.failures ?? []), ...failures])], leftovers };
  const seen = new Set(failures);
  const only = before?.failures.filter((name) => !seen.has(name)) ?? [];
  return before && only.length > 0 ? { ...before, failures: only } : undefined;
}

function afterRedInBisection(
  phase: Phase & { readonly is: "bisect" },
  { members, failures, leftovers }: Red,
  { isFlaky, gates }: Known,
): Turn {
  const { guilty, suspects } = phase;
  const found = shared(suspects, failures);
  if (phase.isEarly) {
    const first = found.length > 0 ? { first: members } : {};
    return keepPhase({ is: "base", members: guilty, suspects, onRed: false, ...first });
  }
  const reds = phase.reds + 1;
  const isUsed = phase.isUsed || leftovers !== undefined;
  const again = keepPhase({ ...phase, next: members, reds, ...(isUsed && { isUsed }) });
  if (leftovers && reds >= MAX_USED_RUNS) return backToQueue(guilty);
  const fresh = isUsed ? reds - 1 : reds;
  // Another failure than the suspected one may be a flaky test, so gate it once more.
  if (found.length === 0 && (leftovers || fresh < 2)) return again;
  if ((found.length > 0 ? found : failures).every(isFlaky) && fresh < MAX_FLAKY_RUNS) return again;
  // The other failure persists: check the target again before a member is blamed for it.
  if (found.length === 0) {
    const base: Phase = { is: "base", members, suspects: failures, onRed: false };
    return { phase: base, requeue: without(guilty, members), refuse: [] };
  }
  if (members.length > 1) return narrow(members, suspects, { requeue: without(guilty, members), gates });
  // The last member left is guilty because all others were green; any other single member is gated twice.
  const proven = leftovers === undefined && (guilty.length === 1 || reds >= 2);
  return proven ? { phase: OPEN, requeue: without(guilty, members), refuse: members } : again;
}

/** The candidate of `landed` is the target now. */
export function afterGreen(phase: Phase, landed: readonly Member[], gates = 1): Turn {
  if (phase.is !== "bisect") return keepPhase(OPEN);
  const rest = without(phase.guilty, landed);
  if (rest.length === phase.guilty.length) return afterMove(phase, []); // It was in the train before the bisection.
  return rest.length === 0 ? keepPhase(OPEN) : narrow(rest, phase.suspects, { gates });
}

/** The target has moved, with `found` in it: what was red would be another candidate there, which is not judged yet. */
export function afterMove(phase: Phase, found: readonly Member[]): Turn {
  const rest = withoutMembers(phase, found);
  if (rest.is === "bisect") {
    const { isUsed: _, ...part } = rest;
    return keepPhase({ ...part, reds: 0 });
  }
  return backToQueue(rest.is === "open" ? [] : rest.members);
}

/** The base of a candidate that was red twice has been checked. `toHeal`: what its members were made to repair. */
export function afterBase(
  phase: Phase & { readonly is: "base" },
  failing: readonly string[],
  { toHeal, gates }: { readonly toHeal: readonly string[]; readonly gates?: number },
): Turn {
  const guilty = phase.onRed ? isWorse(phase.suspects, failing, toHeal) : failing.length === 0;
  if (!guilty) return backToQueue(phase.members);
  const { members, suspects, first = members } = phase;
  if (members.length === 1) return refuseAll(members);
  if (first.length === 1) return keepPhase({ is: "bisect", guilty: members, next: first, suspects, reds: 1 });
  return narrow(first, suspects, { requeue: without(members, first), gates });
}

/**
 * True if the candidate fails something that the target does not fail now, or still fails everything that it was made
 * to repair.
 */
function isWorse(
  suspects: readonly string[],
  failing: readonly string[],
  toHeal: readonly string[],
): boolean {
  const there = new Set(failing);
  const own = new Set(toHeal);
  const fresh = suspects.filter((name) => !own.has(name));
  return fresh.length > 0 ? fresh.some((name) => !there.has(name)) : suspects.some((name) => there.has(name));
}

/** All members that a phase keeps out of the queue. */
export const membersOf = (phase: Phase): readonly Member[] =>
  phase.is === "open" ? [] : phase.is === "bisect" ? phase.guilty : phase.members;

/** The phase without members that left it otherwise: by a conflict, or cancelled. */
export function withoutMembers(phase: Phase, gone: readonly Member[]): Phase {
  if (gone.length === 0 || phase.is === "open") return phase;
  if (phase.is !== "bisect") {
    const members = without(phase.members, gone);
    if (members.length === phase.members.length) return phase;
    if (members.length === 0) return OPEN;
    if (phase.is !== "base" || phase.first === undefined) return { ...phase, members };
    const { first, ...rest } = phase;
    const left = without(first, gone);
    return left.length === 0 ? { ...rest, members } : { ...rest, members, first: left };
  }
  const guilty = without(phase.guilty, gone);
  const next = without(phase.next, gone);
  if (guilty.length === phase.guilty.length) return phase;
  if (guilty.length === 0) return OPEN;
  if (next.length > 0) return { ...phase, guilty, next };
  const { suspects } = phase;
  return phase.isEarly
    ? { is: "base", members: guilty, suspects, onRed: false }
    : narrow(guilty, suspects).phase;
}

/** Some members were cancelled. The rest would be another candidate, which is not judged yet. */
export function leave(phase: Phase, gone: readonly Member[]): Turn {
  const rest = withoutMembers(phase, gone);
  return rest === phase || rest.is === "open" || rest.is === "bisect"
    ? keepPhase(rest)
    : backToQueue(rest.members);
}

/** Gates the next part: a half, or with n gates one of n + 1 parts (`train.ts`). */
function narrow(
  guilty: readonly Member[],
  suspects: readonly string[],
  {
    requeue = [],
    gates = 1,
  }: { readonly requeue?: readonly Member[]; readonly gates?: number | undefined } = {},
): Turn {
  const next = guilty.slice(0, Math.ceil(guilty.length / (gates + 1)));
  return { phase: { is: "bisect", guilty, next, suspects, reds: 0 }, requeue, refuse: [] };
}

const shared = (a: readonly string[], b: readonly string[]) => {
  const there = new Set(b);
  return a.filter((name) => there.has(name));
};

export function without(members: readonly Member[], gone: readonly Member[]): readonly Member[] {
  const left = new Set(gone.map((m) => m.task));
  return members.filter((m) => !left.has(m.task));
}
