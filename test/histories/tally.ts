/** Counts what was planted and what happened, by name, to show that every kind really occurred. */

export const KINDS = [
  "merge-commit",
  "rebase",
  "fast-forward",
  "several gates at once",
  "tasks that want one line",
  "a name that one changes and others begin to use",
  "room for fewer than take it",
  "a task that is right only after another",
  "a task that is bad once",
  "a task that is bad twice",
  "a task that stays bad",
  "changes to one file that merge",
  "base red from the start",
  "failure that the first fix does not mend",
  "failure that nobody can mend",
  "somebody else's commit: green",
  "somebody else's commit: red",
  "somebody else's commit: shared",
  "somebody else's commit: takes",
  "the target moved while a gate ran",
  "the target moved between jobs",
  "base branch moved",
  "flaky gate run",
  "flaky gate run of a tree that had one",
  "gate that ends at the first step that fails",
  "outage",
  "gate run over leftovers",
  // What happened in the run.
  "landing of one task",
  "landing of a batch",
  "landing of what was gated ahead of its turn",
  "gated ahead, and failed",
  "gated ahead, and discarded",
  "landing on red",
  "refused for a conflict",
  "refused for a red gate",
  "refused for a failure that came with another task",
  "fix task",
  "fix that landed",
  "repair given up",
  "bisect in a batch",
  "members tried first that the gate pointed at",
  "leftovers named",
  "target green again",
] as const;

export type Kind = (typeof KINDS)[number];

export class Tally {
  readonly #counts = new Map<Kind, number>();

  add(kind: Kind, count = 1): void {
    this.#counts.set(kind, this.of(kind) + count);
  }

  of(kind: Kind): number {
    return this.#counts.get(kind) ?? 0;
  }

  addAll(other: Tally): void {
    for (const kind of KINDS) this.add(kind, other.of(kind));
  }
}
