/** How is the demo's run configured? As anybody's could be, in the words of skein.yaml. */

export const demoSettings = {
  /** Eight facts at once, and the calendar's two beside them. */
  workers: 10,
  planners: 2,
  /** Two tasks may have src/index.js at once: landing sorts it out, which is what is to be seen. */
  overlap: "allow",
  /** What `npm test` runs, which would be found, too; but npm takes twice as long to start as the tests to run. */
  gate: ["node test/all.js"],
} as const;
