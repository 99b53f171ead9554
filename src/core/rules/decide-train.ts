/** Decides which candidates of the train to discard, and judges the first one if it failed and its turn has come. */
import { jobId, type LandJob, type TrainCandidate } from "../job.ts";
import type { Fact } from "../log/event.ts";
import { type RunState, taskOf } from "../log/state.ts";
import { isSettled } from "../task.ts";
import { type Now, withoutRepeats } from "./consequences.ts";
import { cancelled, judged } from "./decide-landing.ts";
import { membersOf, without } from "./landing.ts";
import { toJudge, uselessIn } from "./train.ts";

export function trainTurned(now: Now): readonly Fact[] {
  const useless = uselessIn(now.state);
  if (useless.length > 0) return discard(now, useless);
  const failed = toJudge(now.state);
  if (!failed?.result || !("is" in failed.result)) return [];
  return judged(now, failed.result, [failed.turn]);
}

/**
 * Discards candidates. Their gate runs are lost; their members queue again without a charge, except those that the
 * phase keeps. What else is landing now goes on.
 */
function discard({ state }: Now, useless: readonly TrainCandidate[]): readonly Fact[] {
  const { problem, ...landing } = state.landing;
  const members = without(
    useless.flatMap((one) => one.members),
    membersOf(landing.phase),
  );
  const open = members.filter(({ task }) => !isSettled(taskOf(state, task)));
  const stopped = open.filter(({ task }) => taskOf(state, task).cancelling);
  return withoutRepeats([
    ...useless.flatMap((one) => abortOf(state, one)),
    ...stopped.flatMap((member) => cancelled(state, member)),
    {
      type: "landing.turned",
      ...landing,
      requeue: without(open, stopped).map(({ task }) => task),
      ...(problem && { failure: problem }),
      drop: useless.map(({ turn }) => turn),
      isDiscard: true,
    },
  ]);
}

/** A job that only gates never moves the target, so it can be stopped at any time. */
function abortOf({ running }: RunState, { turn, members, on }: TrainCandidate): readonly Fact[] {
  const job = jobId({ kind: "land", turn, members, on } satisfies LandJob);
  return running.has(job) ? [{ type: "job.ended", job, how: "aborted" }] : [];
}
