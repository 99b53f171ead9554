/** Connects a run's jobs with its engine: calls for quota and budget one way, signs of life the other. */
import type { JobId } from "../core/job.ts";
import { budgetsOf, mayCall, nextAccount } from "../core/rules/governor.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { Drive } from "../engine/drive.ts";
import type { JobTaken } from "../ports/fleet-jobs.ts";
import type { RunGovernor } from "../ports/governor.ts";
import type { Signs } from "../ports/signs.ts";
import type { Channel } from "./parts.ts";

export type JobsChannel = Channel & {
  readonly signs: Signs;
  /** The user's checkout differs from what it was before a command of this job. */
  readonly checkoutChanged: (job: JobId, places: readonly string[]) => void;
  /** A machine of the fleet has begun a job, or a part of it. */
  readonly onTaken: (job: JobId, taken: JobTaken) => void;
  /** The job's machine is gone, and the job waits for another. */
  readonly onReturned: (job: JobId) => void;
};

export function openChannel(
  governor: RunGovernor,
  policy: Policy,
  signs: Omit<Signs, "waitedMs" | "tell">,
  /** Called with the function that takes reports from other machines. */
  reports?: (tell: Drive["tell"]) => void,
): JobsChannel {
  let tell: Drive["tell"] = async () => {};
  return {
    signs: {
      ...signs,
      waitedMs: (job) => governor.waitedMs(job),
      tell: ({ isPrepared, doing, ...quiet }) =>
        void tell(
          isPrepared && doing !== undefined
            ? { type: "prepared", ...quiet, doing }
            : { type: "quiet", ...quiet, ...(doing !== undefined && { doing }) },
        ),
    },
    checkoutChanged: (job, places) => void tell({ type: "checkout-changed", job, places }),
    onTaken: (job, taken) => void tell({ type: "taken", job, ...taken }),
    onReturned: (job) => void tell({ type: "returned", job }),
    connect: (drive, waits) => {
      tell = (report) => drive.tell(report);
      reports?.(tell);
      governor.connect({
        next: (accounts) => nextAccount(drive.state, accounts),
        mayCall: (call, live) => mayCall(drive.state, policy, live, call),
        budgets: (task) => budgetsOf(drive.state, policy, task),
        isOpen: (job) => drive.state.running.has(job) || drive.state.unanswered.has(job),
        reserve: { tokens: policy.budget.reserveTokens, microdollars: policy.budget.reserveMicrodollars },
        accounts: [
          ...new Set(
            [policy.accounts.plan, policy.accounts.work, ...Object.values(policy.accounts.byAgent)].flat(),
          ),
        ],
        tell: (account, why) => drive.tell({ type: "account-refused", account, failure: why }),
        worked: (account) => void drive.tell({ type: "account-worked", account }),
        waits,
      });
    },
    follow: governor.follow,
    kept: (event) => governor.kept(event),
    isWaiting: (job) => governor.isWaiting(job),
  };
}
