/** How do a run's jobs and its engine hear of each other while both go on? Money and quota one way, signs the other. */
import type { JobId } from "../core/job.ts";
import { mayCall, nextAccount } from "../core/rules/governor.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { Drive } from "../engine/drive.ts";
import type { RunGovernor } from "../ports/governor.ts";
import type { Signs } from "../ports/signs.ts";
import type { Channel } from "./parts.ts";

type JobsChannel = Channel & {
  readonly signs: Signs;
  /** The user's checkout is not as it was before a command of this job. */
  readonly checkoutChanged: (job: JobId, places: readonly string[]) => void;
};

export function openChannel(
  governor: RunGovernor,
  policy: Policy,
  signs: Omit<Signs, "waitedMs" | "tell">,
): JobsChannel {
  let tell: Drive["tell"] = async () => {};
  return {
    signs: {
      ...signs,
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
