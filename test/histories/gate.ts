/** A gate for histories that judges trees from git's objects, with flaky failures, outages and pushes by others. */
import { failuresOf, type Probed } from "../../src/core/gate.ts";
import type { JobId } from "../../src/core/job.ts";
import type { GateChange } from "../../src/core/rules/gate-changes.ts";
import type { Problem } from "../../src/core/rules/repair.ts";
import type { Gate, GatedTree, GateRun } from "../../src/ports/gate.ts";
import type { Random } from "../../src/simulation/random.ts";
import type { placesThatRemember } from "../simulation/gate-places.ts";
import type { Tally } from "./tally.ts";
import { plainName, reportOf, stagedReportOf, wrongWith } from "./tree.ts";
import type { Trees } from "./trees.ts";

/** `failures`: everything that failed in the run, also without a reason. */
export type Run = GatedTree & { readonly tree: string; readonly failures: readonly string[] };

type World = {
  readonly trees: Trees;
  readonly random: Random;
  readonly flaky: number;
  readonly outageInRun: number | undefined;
  readonly staged: boolean;
  readonly tally: Tally;
  /** What a run meets in a workspace that is not made anew. */
  readonly remembers?: (tree: string, isFresh: boolean) => ReturnType<ReturnType<typeof placesThatRemember>>;
  /** Lets others move the target while the run goes on. */
  readonly meanwhile: (run: number) => Promise<void>;
};

export const OUTAGE = "test: the network";
/** The number of checks of the target that an outage lasts: after fewer, it could not be told from a bad task. */
const LOOKS = 2;
const MAX_FLAKES = 2;

export class HistoryGate implements Gate {
  readonly runs: Run[] = [];
  readonly #world: World;
  readonly #flaked = new Map<string, number>();
  #looks = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async run(wanted: GatedTree): Promise<GateRun> {
    const { trees, meanwhile, staged, remembers } = this.#world;
    const tree = await trees.treeOf(wanted.commit);
    const wrong = wrongWith(await trees.files(wanted.commit));
    const chance = [...this.#flake(tree), ...this.#outage(wanted.job)];
    const { over, leftovers } = remembers?.(tree, wanted.isFresh === true) ?? {};
    if (over !== undefined) this.#world.tally.add("gate run over leftovers");
    const failures = [...wrong.keys(), ...chance, ...(over === undefined ? [] : [`test: ${over}`])];
    this.runs.push({ ...wanted, tree, failures });
    await meanwhile(this.runs.length);
    const report = staged ? stagedReportOf(failures) : reportOf(failures);
    const problems = failuresOf(report).map((name) => ({
      ...(wrong.get(plainName(name)) ?? unexplained(plainName(name))),
      name,
    }));
    const isRed = failures.length > 0;
    return { report, problems, tail: failures.join("\n"), ...(isRed && leftovers && { leftovers }) };
  }

  /** Does nothing: a tree is judged without a workspace. */
  prepare(): void {}

  async probe(): Promise<Probed> {
    return { is: "proved" };
  }

  async changes(): Promise<readonly GateChange[]> {
    return [];
  }

  /**
   * Makes a tree fail without a reason at most twice, each time in another way: the engine takes two failures of one
   * kind for a real one.
   */
  #flake(tree: string): readonly string[] {
    const { random, flaky, tally } = this.#world;
    const before = this.#flaked.get(tree) ?? 0;
    if (before >= MAX_FLAKES || !random.chance(flaky)) return [];
    this.#flaked.set(tree, before + 1);
    tally.add(before === 0 ? "flaky gate run" : "flaky gate run of a tree that had one");
    return [`test: flaky ${MAX_FLAKES * random.below(3) + before}`];
  }

  #outage(job: JobId): readonly string[] {
    const { outageInRun, tally } = this.#world;
    if (outageInRun === undefined || this.runs.length + 1 < outageInRun || this.#looks >= LOOKS) return [];
    if (this.runs.length + 1 === outageInRun) tally.add("outage");
    if (job.startsWith("check")) this.#looks += 1;
    return [OUTAGE];
  }
}

const unexplained = (name: string): Problem => ({
  class: "tests",
  name,
  files: [name === OUTAGE ? "src/network.txt" : "src/flaky.txt"],
  message: `${name} failed`,
});
