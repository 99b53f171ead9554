/** How is the demo's run configured? In the words of skein.yaml. */

/** Where one of the project's tests keeps something between runs: outside of the project, as flaky tests do. */
export const CACHE_VARIABLE = "ALMANAC_CACHE";

export const demoSettings = {
  /** Eight facts at once, a fix and the calendar's two beside them. */
  workers: 11,
  planners: 2,
  /** Two tasks may have src/index.js at once: landing sorts it out, which is what is to be seen. */
  overlap: "allow",
  /** What `npm test` runs, which would be found, too; but npm takes twice as long to start as the tests to run. */
  gate: ["node test/all.js"],
  /** The model is out of reach for a moment, not for the two seconds that are waited elsewhere. */
  "retry.first": "400ms",
  "workspace.pass": [CACHE_VARIABLE],
  /** Nobody wrote its tests but us, and the flaky one keeps a file outside, which in the sandbox is never there. */
  gateSandbox: "off",
} as const;
