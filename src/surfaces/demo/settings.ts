/** How is the demo's run configured? As anybody's could be, in the words of the policy. */
import { defaultPolicy, type Policy } from "../../core/policy.ts";

export const demoSettings = {
  /** Eight facts at once, and the calendar's two beside them. */
  workers: 10,
  planners: 2,
  /** Two tasks may have src/index.js at once: landing sorts it out, which is what is to be seen. */
  overlap: "allow",
} as const;

export const demoPolicy: Policy = {
  ...defaultPolicy,
  capacity: { plan: demoSettings.planners, work: demoSettings.workers },
  overlap: demoSettings.overlap,
};
