/**
 * Chooses which candidates are gated at once, and which may land. With one gate they go one after the other.
 *
 * 1. Up to `gates` candidates are gated at once: the *train*. Each is built on the target and on those before it, as if
 *    they had landed. None is begun that would more likely than not be discarded, by this run's odds.
 * 2. One job at a time may move the target: that of a candidate built on the target itself; or a short one, for a
 *    candidate that has passed already, once all that it was built on has landed.
 * 3. A candidate that fails discards what was built on it, and nothing else. It says nothing about its members before
 *    what it was built on has landed; then it is judged like any other (`landing.ts`). Until the verdict, new candidates
 *    are built without it and do not land.
 *    The target is checked while the candidate is gated once more.
 * 4. A bisection with n gates has n + 1 parts: n of them are a train, and the last is known by the others. Those that
 *    were in the train before land first, and no other task joins while parts are gated. A part that was red is gated
 *    once more before anything else lands.
 * 5. Whatever moves the target another way, or turns it red, discards the train: gate runs are lost, never a task.
 *
 *     target ← A ← B ← C     A's job gates it and moves the target; those of B and C only gate
 *     A lands                when B passes (or has), a short job moves the target to it
 *     B fails                C is discarded, D is built on A; once A has landed, B is judged, and D waits for that
 *     A fails                B and C are discarded; while A is judged, D is built on the target without A
 */
import type { LandJob, Member, TrainCandidate } from "../job.ts";
import { isKnownRed, type RunState, taskOf } from "../log/state.ts";
import { mayBuildOn } from "./batch-size.ts";
import { membersOf, type Phase, prescribed, without } from "./landing.ts";
import { headOf } from "./landing-queue.ts";
import type { Policy } from "./policy.ts";

/** The next land job, if one may start: to move the target, else to gate ahead. */
export function nextLanding(state: RunState, policy: Policy): LandJob | undefined {
  return nextMove(state, policy) ?? nextAhead(state, policy);
}

/** The running job that may move the target, if there is one. */
export function moverOf(state: RunState): LandJob | undefined {
  if (!isMoving(state)) return undefined;
  for (const { job } of state.running.values()) if (job.kind === "land" && !job.on) return job;
  return undefined;
}

/**
 * True if a running land job may move the target. Jobs that only gate are those of candidates in the train without a
 * result.
 */
export const isMoving = ({ count, train }: RunState): boolean =>
  count.land > 0 && count.land > train.filter(({ result }) => result === undefined).length;

const isPassed = ({ result }: TrainCandidate): boolean => result !== undefined && !("is" in result);
const isFailed = ({ result }: TrainCandidate): boolean => result !== undefined && "is" in result;

/** No job moves the target now, and all that the candidate was built on has landed. */
const isFirst = (state: RunState, { on }: TrainCandidate): boolean => on.length === 0 && !isMoving(state);

function nextMove(state: RunState, policy: Policy): LandJob | undefined {
  const { phase } = state.landing;
  if (isMoving(state) || phase.is === "base") return undefined;
  const turn = state.turns.land + 1;
  const [first] = state.train;
  if (first && !isOnceMore(phase)) {
    if (!isPassed(first) || !isFirst(state, first)) return undefined;
    return { kind: "land", turn, members: first.members, moves: first.turn };
  }
  const freeGates = policy.landing.gates - state.count.land; // Only jobs that gate ahead are running.
  if (freeGates <= 0) return undefined;
  const members = prescribed(phase) ?? headOf(state, policy, freeGates);
  return members.length === 0 ? undefined : { kind: "land", turn, members };
}

function nextAhead(state: RunState, policy: Policy): LandJob | undefined {
  const { landing, turns, count, target, odds } = state;
  const { gates } = policy.landing;
  if (gates === 1 || target.health !== "green") return undefined;
  const mover = moverOf(state);
  const isGating = mover !== undefined && mover.moves === undefined;
  const freeGates = gates - (count.land - (mover && !isGating ? 1 : 0));
  if (freeGates <= 0) return undefined;
  if (state.train.length >= gates * policy.landing.maxTrainPerGate) return undefined;
  const isWithout = isInDoubt(landing.phase);
  const isClosed = landing.phase.is === "bisect" && !(isWithout && isGating);
  const below = [...(isGating && !isWithout ? [mover] : []), ...state.train.filter((one) => !isFailed(one))];
  const unknown = below.filter((one) => !("result" in one && isPassed(one)));
  if (!mayBuildOn(odds, unknown.flatMap((one) => one.members).length)) return undefined;
  const members = isClosed ? nextPart(state, mover) : headOf(state, policy, freeGates);
  if (members.length === 0) return undefined;
  return { kind: "land", turn: turns.land + 1, members, on: below.map((one) => one.turn) };
}

/** The red candidate is gated once more on the same target. Others land after it, or it would never be judged. */
const isOnceMore = (phase: Phase): boolean =>
  phase.is === "again" || (phase.is === "bisect" && phase.reds > 0);

/** The candidate under re-test will probably fail, so new candidates are built without it. */
const isInDoubt = (phase: Phase): boolean =>
  isOnceMore(phase) || (phase.is === "bisect" && phase.isEarly === true);

/** The next part of the bisection. The last part needs no gate run: all parts together have failed. */
function nextPart({ landing, train }: RunState, mover: LandJob | undefined): readonly Member[] {
  const { phase } = landing;
  if (phase.is !== "bisect" || isInDoubt(phase) || train.some(isFailed)) return [];
  const ahead = [...(mover?.members ?? []), ...train.flatMap(({ members }) => members)];
  if (without(ahead, phase.guilty).length > 0) return []; // Candidates that were in the train before land first.
  const rest = without(phase.guilty, ahead);
  return rest.length > phase.next.length ? rest.slice(0, phase.next.length) : [];
}

/** A failed candidate that can be judged now, because all that it was built on has landed. */
export function toJudge(state: RunState): TrainCandidate | undefined {
  const [first] = state.train;
  const { is } = state.landing.phase;
  if (!first || !isFailed(first) || !isFirst(state, first)) return undefined;
  return is === "open" || is === "bisect" ? first : undefined;
}

/**
 * With several gates, the base of a red candidate is checked while the candidate is gated once more. If that run fails
 * for another reason, the base is checked after the runs, as with one gate.
 */
export function wantsBase(state: RunState, { landing }: Policy): boolean {
  const { phase } = state.landing;
  const isSecond = phase.is === "again" && phase.run === 2;
  return landing.gates > 1 && isSecond && state.target.health === "green" && !isBaseKnown(state, landing);
}

/** The target's present tip has passed its gate since `doubtSince`: in a check, or before it landed. */
export function isBaseKnown(
  { target, doubtSince }: RunState,
  { gates }: Pick<Policy["landing"], "gates">,
): boolean {
  if (gates === 1 || target.health !== "green") return false;
  return target.passes.some(({ tip, since }) => tip === target.tip && since >= doubtSince);
}

/** The candidates that can no longer land as they are, with those that were built on them. */
export function uselessIn(state: RunState): readonly TrainCandidate[] {
  if (state.train.length === 0) return [];
  const mover = moverOf(state);
  const alive = new Set(mover ? [mover.turn] : []);
  return state.train.filter((one) => {
    const isOut = one.turn !== mover?.moves && isUseless(state, one, alive);
    if (!isOut && !isFailed(one)) alive.add(one.turn);
    return isOut;
  });
}

function isUseless(state: RunState, one: TrainCandidate, alive: ReadonlySet<number>): boolean {
  const { target, landing } = state;
  if (one.isStale || isKnownRed(state) || state.cancelling !== undefined) return true;
  if (one.on.some((turn) => !alive.has(turn))) return true;
  if (!one.members.every((member) => isReady(state, member))) return true;
  if (one.on.length > 0 || one.result === undefined) return false;
  if (one.result.onto !== target.tip) return true; // It was built on another commit.
  return isFailed(one) && landing.phase.is === "bisect" && !isPart(landing.phase, one);
}

const isPart = (phase: Phase, { members }: TrainCandidate): boolean =>
  without(members, membersOf(phase)).length === 0;

function isReady(state: RunState, { task: id, attempt }: Member): boolean {
  const { state: now, cancelling } = taskOf(state, id);
  return now.is === "landing" && now.attempt === attempt && !cancelling;
}
