/** A repository in memory with mishaps: commits taken back, branches pruned, gates whose reports say little. */
import type { LandBrief } from "../../src/core/brief.ts";
import type { CommandReport, GateReport } from "../../src/core/gate.ts";
import type { Outcome } from "../../src/core/job.ts";
import { PROBLEM_CLASSES, type Problem } from "../../src/core/rules/repair.ts";
import { VirtualRepository } from "../../src/simulation/virtual-repository.ts";

type Manner = {
  /** One command runs all steps, and stops at the first step that fails. */
  readonly staged?: boolean;
  /** Commands whose failures have no names. */
  readonly nameless?: readonly string[];
  /** If the tree does not build, no test runs: the tests' command reports only that. */
  readonly isBlind?: boolean;
};

export class ShakyRepository extends VirtualRepository {
  readonly #isStaged: boolean;
  readonly #nameless: readonly string[];
  readonly #isBlind: boolean;
  readonly #pruned = new Set<string>();

  constructor(
    broken: readonly Problem[] = [],
    { staged = false, nameless = [], isBlind = false }: Manner = {},
  ) {
    super(broken);
    this.#isStaged = staged;
    this.#nameless = nameless;
    this.#isBlind = isBlind;
  }

  get failures(): ReadonlySet<string> {
    return this.tipCommit.failures;
  }

  /** Takes the target's newest commit back, as another person would. */
  putBack(): void {
    this.tipCommit = this.commits.get(this.tipCommit.parent ?? this.base)!;
  }

  /** Removes all commits of workers that are not in the target, and their refs, as another person would. */
  prune(): void {
    for (const commit of this.made.keys()) this.#pruned.add(commit);
  }

  /** Whether the commit is in the target's history. */
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
    if (this.#isStaged) return stagedReport({ commands });
    return this.#isBlind ? blindReport({ commands }) : { commands };
  }

  /** The real failures of a commit, whatever a gate reports of them. */
  failuresAt(commit: string): ReadonlySet<string> {
    return this.commits.get(commit)!.failures;
  }

  /** Those real failures of a tree that keep its tests from running. */
  keepsFromRunning(failures: ReadonlySet<string>): readonly string[] {
    const steps = this.#isStaged ? ["markers", "build", "types"] : this.#isBlind ? ["build"] : [];
    const first = steps.find((step) => [...failures].some((name) => name.startsWith(`${step}: `)));
    return [...failures].filter((name) => name.startsWith(`${first}: `));
  }

  protected override known(name: string): string {
    if (name.startsWith(UNBUILT)) return `build: ${name.slice(UNBUILT.length)}`;
    return name.startsWith(`${STAGED}: `) ? name.slice(STAGED.length + 2) : name;
  }

  /** The real failures that a fix is for, if its command's failures have no names. */
  protected override healedBy(name: string, failures: ReadonlySet<string>): readonly string[] {
    return this.#nameless.includes(name)
      ? [...failures].filter((one) => one.startsWith(`${name}: `))
      : super.healedBy(name, failures);
  }
}

const STAGED = "gate";

/** The first step that fails, as the only visible command. Before the last step no test has run. */
function stagedReport({ commands }: GateReport): GateReport {
  const at = commands.findIndex(({ green }) => !green);
  const first = commands[at];
  if (!first) return { commands: [{ name: STAGED, green: true, failures: [] }] };
  const failures = first.failures.map((failed) => `${first.name}: ${failed}`);
  const kind = PROBLEM_CLASSES[at]!;
  const ran = kind === "tests" ? { tests: failures.length } : { blocked: "no test ran" };
  return { commands: [{ name: STAGED, green: false, failures, classes: [kind], ...ran }] };
}

const UNBUILT = "test: does not build: ";

const withTests = (one: CommandReport): CommandReport =>
  one.name === "test" && !one.green ? { ...one, classes: ["tests"], tests: one.failures.length } : one;

/** The tests' command with the build's failures in place of its tests. */
function blindReport({ commands }: GateReport): GateReport {
  const unbuilt = commands.find(({ name }) => name === "build")!.failures;
  if (unbuilt.length === 0) return { commands: commands.map(withTests) };
  const failures = unbuilt.map((failed) => `${UNBUILT.slice("test: ".length)}${failed}`);
  const hiding = failures.length;
  const blind = {
    name: "test",
    green: false,
    failures,
    classes: ["build"],
    hiding,
    blocked: "no test ran",
  } as const;
  return { commands: commands.map((one) => (one.name === "test" ? blind : one)) };
}
