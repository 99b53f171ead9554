/** A virtual repository to which mishaps happen: commits taken back, branches pruned, gates that say little. */
import type { LandBrief } from "../../src/core/brief.ts";
import type { GateReport } from "../../src/core/gate.ts";
import type { Outcome } from "../../src/core/job.ts";
import { PROBLEM_CLASSES, type Problem } from "../../src/core/rules/repair.ts";
import { VirtualRepository } from "../../src/simulation/virtual-repository.ts";

type Manner = {
  /** One command does it all, step by step, and stops at the first step that fails. */
  readonly staged?: boolean;
  /** Commands that say only that they failed. */
  readonly nameless?: readonly string[];
};

export class ShakyRepository extends VirtualRepository {
  readonly #isStaged: boolean;
  readonly #nameless: readonly string[];
  readonly #pruned = new Set<string>();

  constructor(broken: readonly Problem[] = [], { staged = false, nameless = [] }: Manner = {}) {
    super(broken);
    this.#isStaged = staged;
    this.#nameless = nameless;
  }

  get failures(): ReadonlySet<string> {
    return this.tipCommit.failures;
  }

  /** The newest commit of the target branch is taken back from outside. */
  putBack(): void {
    this.tipCommit = this.commits.get(this.tipCommit.parent ?? this.base)!;
  }

  /** All that workers made and that is not in the target branch is removed from outside, with the refs that hold it. */
  prune(): void {
    for (const commit of this.made.keys()) this.#pruned.add(commit);
  }

  /** Whether it is in the history of the target. */
  has(commit: string): boolean {
    return this.history(this.tip).has(commit);
  }

  override push(...[made, problems]: Parameters<VirtualRepository["push"]>): void {
    this.#pruned.delete(made.commit);
    super.push(made, problems);
  }

  override land(brief: LandBrief, flake: readonly string[]): Outcome {
    const gone = brief.members.filter(({ commit }) => this.#pruned.has(commit!));
    const isElsewhere = !brief.above && brief.onto !== this.tip;
    if (isElsewhere || gone.length === 0) return super.land(brief, flake);
    return { is: "gone", members: gone.map(({ task, attempt }) => ({ task, attempt })) };
  }

  override report(failures: ReadonlySet<string>, flake: readonly string[]): GateReport {
    const commands = super
      .report(failures, flake)
      .commands.map((one) => (this.#nameless.includes(one.name) ? { ...one, failures: [] } : one));
    return this.#isStaged ? stagedReport({ commands }) : { commands };
  }

  protected override known(name: string): string {
    return name.startsWith(`${STAGED}: `) ? name.slice(STAGED.length + 2) : name;
  }

  /** What a fix of a command is for that says only that it failed. */
  protected override healedBy(name: string, failures: ReadonlySet<string>): readonly string[] {
    return this.#nameless.includes(name)
      ? [...failures].filter((one) => one.startsWith(`${name}: `))
      : super.healedBy(name, failures);
  }
}

const STAGED = "gate";

/** The first step that fails, as the one command that is seen. Before the last step no test runs. */
function stagedReport({ commands }: GateReport): GateReport {
  const at = commands.findIndex(({ green }) => !green);
  const first = commands[at];
  if (!first) return { commands: [{ name: STAGED, green: true, failures: [] }] };
  const failures = first.failures.map((failed) => `${first.name}: ${failed}`);
  const kind = PROBLEM_CLASSES[at]!;
  const ran = kind === "tests" ? { tests: failures.length } : { blocked: "no test ran" };
  return { commands: [{ name: STAGED, green: false, failures, classes: [kind], ...ran }] };
}
