/** What would git and the tests say? A repository in memory: commits, branches, conflicts, failures that stay. */
import type { CheckBrief, LandBrief } from "../core/brief.ts";
import { failuresOf, type GateReport, judgeGate } from "../core/gate.ts";
import type { Conflict, FoundLanding, Moved, Outcome } from "../core/job.ts";
import type { Problem } from "../core/rules/repair.ts";

export type Change = {
  readonly files: readonly string[];
  /** Files that conflict if another change touched them; all files if left out. */
  readonly meets?: readonly string[];
  /** Failures that it brings, by name. */
  readonly breaks: readonly string[];
  readonly heals: readonly string[];
  /** Two changes with the same mark are each fine alone and fail together, though they merge. */
  readonly clash?: string;
};

/** A worker's commit, cut from `base`. */
type Made = { readonly commit: string; readonly base: string; readonly change: Change };
type Cut = Change & { readonly since: number };
type Commit = {
  readonly id: string;
  readonly parent: string | undefined;
  readonly failures: ReadonlySet<string>;
  readonly marks: ReadonlySet<string>;
};
type Landing = FoundLanding & { readonly onto: string };

export class VirtualRepository {
  readonly base = "c0";
  /** Every commit that the target pointed at, oldest first. */
  readonly landings: Landing[] = [];
  /** Failures that came by themselves: unknown before the next check. */
  readonly decayed = new Set<string>();
  readonly #problems = new Map<string, Problem>();
  /** By what was judged: where a branch points by then does not matter. */
  protected readonly made = new Map<string, Cut>();
  protected readonly commits = new Map<string, Commit>();
  protected readonly lastChange = new Map<string, number>();
  protected tipCommit: Commit;
  #count = 0;

  constructor(broken: readonly Problem[] = []) {
    for (const problem of broken) this.#problems.set(problem.name, problem);
    const failures = new Set(broken.map(({ name }) => name));
    this.tipCommit = { id: this.base, parent: undefined, failures, marks: new Set() };
    this.commits.set(this.base, this.tipCommit);
  }

  get tip(): string {
    return this.tipCommit.id;
  }

  /** What a worker made, cut from the target as it was when its job started. */
  push(made: Made, problems: readonly Problem[] = []): void {
    for (const problem of problems) this.#problems.set(problem.name, problem);
    this.made.set(made.commit, { ...made.change, since: Number(made.base.slice(1)) });
  }

  /** The target branch is moved from outside. */
  moveFromOutside(): void {
    this.#move({ ...this.tipCommit, id: this.#nextId(), parent: this.tip });
  }

  /** Something fails from now on without a change: a date, a service, a machine. */
  decay(problem: Problem): void {
    this.#problems.set(problem.name, problem);
    this.decayed.add(problem.name);
    this.#move({ ...this.tipCommit, failures: new Set([...this.tipCommit.failures, problem.name]) });
  }

  /** One land job: candidate, gate, compare-and-swap. `flake` is what fails without a reason this time. */
  land(brief: LandBrief, flake: readonly string[]): Outcome {
    if (brief.onto !== this.tip) return { is: "moved", ...this.#look(brief.onto) };
    const { members, conflicts, files } = this.#merge(brief);
    if (members.length === 0) return { is: "unmergeable", conflicts };
    const candidate = this.candidate(members.map((m) => m.commit!));
    const verdict = judgeGate(this.report(candidate.failures, flake), brief.accept);
    const landed = members.map(({ task, attempt }) => ({ task, attempt }));
    if (!verdict.ok) {
      const { failures } = verdict;
      const named = failures.flatMap((name) => this.#problems.get(this.known(name))?.files ?? []);
      return { is: "red", members: landed, conflicts, failures, files: named };
    }
    const commit = this.#nextId();
    this.landings.push({ commit, members: landed, onto: this.tip });
    this.#move({ ...candidate, id: commit, parent: this.tip });
    for (const file of files) this.lastChange.set(file, this.#count);
    return { is: "landed", commit, members: landed, conflicts, proof: verdict.proof };
  }

  check({ tip, seen }: CheckBrief, flake: readonly string[]): Outcome {
    const moved = tip === this.tip ? {} : { moved: this.#look(tip) };
    if (seen) return { is: "checked", tip, report: seen, problems: [], ...moved };
    const { failures } = this.commits.get(tip)!;
    const report = this.report(failures, flake);
    const problems = failuresOf(report).map((name): Problem => {
      const known = this.#problems.get(this.known(name));
      const told = known ?? { class: "tests", files: ["test/flaky.test.ts"], message: `${name} failed` };
      return { ...told, name };
    });
    return { is: "checked", tip, report, problems, ...moved };
  }

  /** What the gate would say about a tree with these failures. */
  report(failures: ReadonlySet<string>, flake: readonly string[]): GateReport {
    return reportOf(failures, flake);
  }

  /** What the tree would be with these commits on top of the target. */
  candidate(commits: readonly string[]): Omit<Commit, "id" | "parent"> {
    const failures = new Set(this.tipCommit.failures);
    const marks = new Set(this.tipCommit.marks);
    for (const change of commits.map((name) => this.made.get(name)!)) {
      for (const name of change.heals.flatMap((one) => this.healedBy(one, failures))) failures.delete(name);
      for (const name of change.breaks) failures.add(name);
      if (change.clash === undefined) continue;
      if (marks.has(change.clash)) failures.add(this.#clashFailure(change.clash, change.files));
      marks.add(change.clash);
    }
    return { failures, marks };
  }

  #merge(brief: LandBrief) {
    const conflicts: Conflict[] = [];
    const files = new Set<string>();
    const members = brief.members.filter(({ task, commit }) => {
      const change = this.made.get(commit!)!;
      const meets = change.meets ?? change.files;
      const changed = meets.filter((file) => (this.lastChange.get(file) ?? -1) > change.since);
      const met = meets.filter((file) => files.has(file));
      if (changed.length > 0) conflicts.push({ task, files: changed, against: "target" });
      else if (met.length > 0) conflicts.push({ task, files: met, against: "batch" });
      else for (const file of change.files) files.add(file);
      return changed.length === 0 && met.length === 0;
    });
    return { members, conflicts, files };
  }

  #look(since: string): Moved {
    const [now, before] = [this.history(this.tip), this.history(since)];
    const landings = this.landings.flatMap(({ commit, members }) =>
      now.has(commit) && !before.has(commit) ? [{ commit, members }] : [],
    );
    return { tip: this.tip, landings, lost: [...before.difference(now)].reverse() };
  }

  protected history(commit: string): Set<string> {
    const found = new Set<string>();
    for (let id: string | undefined = commit; id !== undefined; id = this.commits.get(id)!.parent) {
      found.add(id);
    }
    return found;
  }

  #clashFailure(mark: string, files: readonly string[]): string {
    const name = `test: ${mark} agrees with itself`;
    this.#problems.set(name, {
      class: "tests",
      name,
      files: files.slice(0, 2),
      message: `${mark} is used in two ways`,
    });
    return name;
  }

  /** The failure by the name that the repository knows it by. */
  protected known(name: string): string {
    return name;
  }

  /** Of `failures`, those that a fix for this name removes. */
  protected healedBy(name: string, _failures: ReadonlySet<string>): readonly string[] {
    return [this.known(name)];
  }

  #nextId(): string {
    this.#count += 1;
    return `c${this.#count}`;
  }

  #move(commit: Commit): void {
    this.tipCommit = commit;
    this.commits.set(commit.id, commit);
  }
}

/** One gate command a failure's prefix: "test: adds numbers" is a failure of "test". */
function reportOf(failures: ReadonlySet<string>, flake: readonly string[]): GateReport {
  const names = [...failures, ...flake];
  const commands = ["markers", "build", "types", "test"].map((name) => {
    const mine = names
      .filter((failed) => failed.startsWith(`${name}: `))
      .map((failed) => failed.slice(name.length + 2));
    return { name, green: mine.length === 0, failures: mine };
  });
  return { commands };
}
