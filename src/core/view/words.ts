/** Explains the words that every view uses, in a short line each, for first-time readers. */

export const WORDS = {
  target: "the run's own branch; none of yours moves before you deliver",
  gate: "the commands, such as your tests, that must pass before work lands",
  landing: "work is merged, passes the gate, and the target moves to it",
  queue: "tasks whose work is ready and waits to be landed",
  check: "the gate runs on the target itself",
  planner: "an agent that splits the goal, or a large task, into tasks",
  worker: "an agent that does one task, in a clone of its own",
  attempt: "one try of a worker; the next one is told why the last failed",
  handoff: "what a worker reports at its end",
  evidence: "what git shows of the work, whatever its worker says",
  wave: "tasks that could start together; each waits only for its own lines",
  "longest chain": "tasks that had to follow each other: more workers change nothing",
  flaky: "of a test: it failed and passed on the same files",
  queued: "of a task: it waits for files that another task changes",
  split: "of a task: a planner made smaller tasks of it",
} as const satisfies Readonly<Record<string, string>>;

export type Explained = keyof typeof WORDS;
