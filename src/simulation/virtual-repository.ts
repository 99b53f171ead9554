/** Simulates git and the gate in memory: commits, branches, conflicts and persistent failures. */
import type { CheckBrief, LandBrief, LandMember } from "../core/brief.ts";
import { type Accept, failuresOf, type GateReport, judgeGate, type Proof } from "../core/gate.ts";
import type { Conflict, FoundLanding, Member, Moved, Outcome } from "../core/job.ts";
import type { Problem } from "../core/rules/repair.ts";

export type Change = {
  readonly files: readonly string[];
  /** Names of the failures that the change introduces. */
  readonly breaks: readonly string[];
  readonly heals: readonly string[];
  /** Two changes with the same mark pass alone and fail together, though they merge without a conflict. */
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
  /** The changed files. */
  readonly files: ReadonlySet<string>;
};
/** The members that could be merged onto a commit; `commits` are those of `members`. */
type Merged = {
  readonly onto: string;
  readonly members: readonly Member[];
  readonly commits: readonly string[];
  readonly conflicts: readonly Conflict[];
  readonly files: ReadonlySet<string>;
};
type Tree = Pick<Commit, "failures" | "marks">;
type Step = Pick<Commit, "files" | "parent">;
type Passed = {
  readonly proof: Proof;
  readonly compared?: readonly string[];
  readonly report: GateReport;
};
type Red = Extract<Outcome, { readonly is: "red" }>;
type Landing = FoundLanding & { readonly onto: string };

export class VirtualRepository {
  readonly base = "c0";
  /** Every commit that the target pointed at, oldest first. */
  readonly landings: Landing[] = [];
  /** Names of failures that appeared without a change: unknown before the next check. */
  readonly decayed = new Set<string>();
  readonly #problems = new Map<string, Problem>();
  /** Changes by the commit that was judged, wherever its branch points now. */
  protected readonly made = new Map<string, Cut>();
  protected readonly commits = new Map<string, Commit>();
  protected tipCommit: Commit;
  /**
   * Candidates with an id, because they landed or others are built on them; by id. `#ids` maps their contents to the
   * id.
   */
  readonly #candidates = new Map<string, Merged>();
  readonly #ids = new Map<string, string>();
  /** Commits that a gate passed. */
  readonly gated = new Set<string>();
  #count = 0;

  constructor(broken: readonly Problem[] = []) {
    for (const problem of broken) this.#problems.set(problem.name, problem);
    const failures = new Set(broken.map(({ name }) => name));
    this.tipCommit = { id: this.base, parent: undefined, failures, marks: new Set(), files: new Set() };
    this.commits.set(this.base, this.tipCommit);
  }

  get tip(): string {
    return this.tipCommit.id;
  }

  /** Registers a worker's commit, cut from the target as it was when its job started. */
  push(made: Made, problems: readonly Problem[] = []): void {
    for (const problem of problems) this.#problems.set(problem.name, problem);
    this.made.set(made.commit, { ...made.change, since: Number(made.base.slice(1)) });
  }

  /** Simulates that someone else moves the target branch. */
  moveFromOutside(): void {
    this.#move({ ...this.tipCommit, id: this.#nextId(), parent: this.tip, files: new Set() });
  }

  /** From now on something fails without a change, as when a date passes or a service breaks. */
  decay(problem: Problem): void {
    this.#problems.set(problem.name, problem);
    this.decayed.add(problem.name);
    this.#move({ ...this.tipCommit, failures: new Set([...this.tipCommit.failures, problem.name]) });
  }

  /**
   * Executes one land job: candidate, gate and compare-and-swap; or only the gate, or only the compare-and-swap.
   * `flake` has failures that occur by chance this time.
   */
  land(brief: LandBrief, flake: readonly string[]): Outcome {
    if (brief.above) return this.#gateAhead(brief, flake);
    if (brief.onto !== this.tip) return { is: "moved", ...this.#look(brief.onto) };
    if (brief.passed) return this.#landAs(brief.passed.commit, brief.passed);
    const merged = this.#merge(brief.onto, brief.members);
    if (merged.members.length === 0) return { is: "unmergeable", conflicts: merged.conflicts };
    const judged = this.#gate(merged, brief.accept, flake);
    if ("is" in judged) return judged;
    const commit = this.#idOf(merged);
    this.gated.add(commit);
    return this.#landAs(commit, judged);
  }

  /** The commit on which the candidate is built. */
  baseOf({ onto, above = [] }: LandBrief): string {
    return above.reduce((base, { members }) => {
      const below = this.#merge(base, members);
      return below.members.length === 0 ? base : this.#idOf(below);
    }, onto);
  }

  #gateAhead(brief: LandBrief, flake: readonly string[]): Outcome {
    const onto = this.baseOf(brief);
    const merged = this.#merge(onto, brief.members);
    const { members, conflicts } = merged;
    if (members.length === 0) return { is: "unmergeable", conflicts, onto };
    const judged = this.#gate(merged, brief.accept, flake);
    if ("is" in judged) return { ...judged, onto };
    const commit = this.#idOf(merged);
    this.gated.add(commit);
    return { is: "gated", onto, commit, members, conflicts, ...judged, flags: [] };
  }

  #gate(merged: Merged, accept: Accept, flake: readonly string[]): Passed | Red {
    const { members, conflicts } = merged;
    const report = this.report(this.#treeOf(merged).failures, flake);
    const verdict = judgeGate(report, accept);
    if (verdict.ok) {
      const { proof, compared } = verdict;
      return { proof, ...(compared && { compared }), report };
    }
    const { failures } = verdict;
    const named = failures.flatMap((name) => this.#problems.get(this.known(name))?.files ?? []);
    return { is: "red", members, conflicts, failures, files: named };
  }

  #landAs(commit: string, { proof, compared }: Omit<Passed, "report">): Outcome {
    const merged = this.#candidates.get(commit)!;
    const { members, conflicts, files, onto } = merged;
    this.landings.push({ commit, members, onto });
    this.#move({ ...this.#treeOf(merged), id: commit, parent: onto, files });
    return { is: "landed", commit, members, conflicts, proof, ...(compared && { compared }) };
  }

  /** Equal candidates get equal ids. Ids rise along every line of commits. */
  #idOf(merged: Merged): string {
    const key = [merged.onto, ...merged.commits].join(" ");
    const id = this.#ids.get(key) ?? this.#nextId();
    this.#ids.set(key, id);
    this.#candidates.set(id, merged);
    return id;
  }

  check({ tip, seen }: CheckBrief, flake: readonly string[]): Outcome {
    const moved = tip === this.tip ? {} : { moved: this.#look(tip) };
    if (seen) return { is: "checked", tip, report: seen, problems: [], isKnown: true, ...moved };
    const { failures } = this.commits.get(tip)!;
    const report = this.report(failures, flake);
    const problems = failuresOf(report).map((name): Problem => {
      const known = this.#problems.get(this.known(name));
      const told = known ?? { class: "tests", files: ["test/flaky.test.ts"], message: `${name} failed` };
      return { ...told, name };
    });
    return { is: "checked", tip, report, problems, ...moved };
  }

  /** The gate's report for a tree with these failures. */
  report(failures: ReadonlySet<string>, flake: readonly string[]): GateReport {
    return reportOf(failures, flake);
  }

  /** The tree with these commits on top of the target. */
  candidate(commits: readonly string[]): Tree {
    return this.#with(this.tipCommit, commits);
  }

  #treeOf({ onto, commits }: Merged): Tree {
    const below = this.commits.get(onto);
    return this.#with(below ?? this.#treeOf(this.#candidates.get(onto)!), commits);
  }

  #with(below: Tree, commits: readonly string[]): Tree {
    const failures = new Set(below.failures);
    const marks = new Set(below.marks);
    for (const change of commits.map((name) => this.made.get(name)!)) {
      for (const name of change.heals.flatMap((one) => this.healedBy(one, failures))) failures.delete(name);
      for (const name of change.breaks) failures.add(name);
      if (change.clash === undefined) continue;
      if (marks.has(change.clash)) failures.add(this.#clashFailure(change.clash, change.files));
      marks.add(change.clash);
    }
    return { failures, marks };
  }

  #merge(onto: string, wanted: readonly LandMember[]): Merged {
    const conflicts: Conflict[] = [];
    const files = new Set<string>();
    const merged = wanted.filter(({ task, commit }) => {
      const change = this.made.get(commit!)!;
      const changed = this.#changedSince(onto, change.since, change.files);
      const met = change.files.filter((file) => files.has(file));
      if (changed.length > 0) conflicts.push({ task, files: changed, against: "target" });
      else if (met.length > 0) conflicts.push({ task, files: met, against: "batch" });
      else for (const file of change.files) files.add(file);
      return changed.length === 0 && met.length === 0;
    });
    const members = merged.map(({ task, attempt }) => ({ task, attempt }));
    return { onto, members, commits: merged.map(({ commit }) => commit!), conflicts, files };
  }

  /** Those of these files that commits after number `since` changed on the way to `onto`. */
  #changedSince(onto: string, since: number, of: readonly string[]): readonly string[] {
    const changed = new Set<string>();
    for (let id: string | undefined = onto; id !== undefined && Number(id.slice(1)) > since; ) {
      const step: Step = this.commits.get(id) ?? this.#asCommit(id);
      for (const file of of) if (step.files.has(file)) changed.add(file);
      id = step.parent;
    }
    return of.filter((file) => changed.has(file));
  }

  #asCommit(id: string): Step {
    const { files, onto } = this.#candidates.get(id)!;
    return { files, parent: onto };
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

  /** The failure's name in this repository. */
  protected known(name: string): string {
    return name;
  }

  /** Those of `failures` that a fix for this name removes. */
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

/** Makes one gate command per prefix of a failure: "test: adds numbers" is a failure of "test". */
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
