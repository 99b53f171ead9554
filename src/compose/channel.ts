/** How do a run's jobs and its engine hear of each other while both go on? Money and quota one way, signs the other. */
import { InProcessGovernor } from "../adapters/governor.ts";
import { changedAt } from "../adapters/workspaces/changed-at.ts";
import type { Channel } from "../app/parts.ts";
import type { JobId } from "../core/job.ts";
import { mayCall, nextAccount } from "../core/rules/governor.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { Drive } from "../engine/drive.ts";
import type { Clock } from "../ports/clock.ts";
import type { Governor } from "../ports/governor.ts";
import type { Signs } from "../ports/signs.ts";

type JobsChannel = Channel & {
  readonly governor: Governor;
  readonly signs: Signs;
  /** The user's checkout is not as it was before a command of this job. */
  readonly checkoutChanged: (job: JobId, places: readonly string[]) => void;
};

export function openChannel(clock: Clock, policy: Policy, options: Pick<Signs, "quiet">): JobsChannel {
  const governor = new InProcessGovernor(clock);
  let tell: Drive["tell"] = async () => {};
  return {
    governor,
    signs: {
      clock,
      ...options,
      changedAt,
      waitedMs: (job) => governor.waitedMs(job),
      tell: (quiet) => void tell({ type: "quiet", ...quiet }),
    },
    checkoutChanged: (job, places) => void tell({ type: "checkout-changed", job, places }),
    connect: (drive, waits) => {
      tell = (report) => drive.tell(report);
      governor.connect({
        next: (accounts) => nextAccount(drive.state, accounts),
        mayCall: (call, live) => mayCall(drive.state, policy, live, call),
        tell: (account, why) => drive.tell({ type: "account-refused", account, failure: why }),
        worked: (account) => void drive.tell({ type: "account-worked", account }),
        waits,
      });
    },
    follow: governor.follow,
    isWaiting: (job) => governor.isWaiting(job),
  };
}
