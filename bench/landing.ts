/** Measures landings without a gate, one by one and in batches, beside the git commands that they need in any case. */
import { join } from "node:path";
import { startedGits } from "../src/adapters/git/git.ts";
import { GitRepository } from "../src/adapters/repositories/git.ts";
import { hasFailed } from "../src/core/result.ts";
import type { TaskId } from "../src/core/task.ts";
import { batchesTable } from "./landing-batches.ts";
import { gatesTable } from "./landing-gates.ts";
import { type BenchRepository, branchName, makeBenchRepository, plainGit } from "./landing-repository.ts";
import { type Bench, type BenchForm, type BenchReport, type Limit, median, type Table } from "./measure.ts";

export const landingBench: Bench = { name: "landing", run };

const SIZES = [500, 20_000];
const BRANCHES = 200;
const SHORT_BRANCHES = 100;
/** The number of landings at each end that are compared. */
const END = 50;
const MAX_OF_FLOOR = 1.5;
/** Relative to the floor's growth, because a machine that becomes slower slows both. */
const MAX_GROWTH = 1.25;
const MAX_PROCESSES = 3;
const BATCH = 50;
/** A landing in a batch, relative to one of the floor's single landings. */
const MAX_BATCHED = 0.9;

async function run(form: BenchForm = "whole"): Promise<BenchReport> {
  const isShort = form === "short";
  const branches = isShort ? SHORT_BRANCHES : BRANCHES;
  const rows: Table["rows"][number][] = [];
  const limits: Limit[] = [];
  for (const files of isShort ? SIZES.slice(0, 1) : SIZES) {
    const { floor, unsynced, ours, merge, batched, processes } = await measure(files, branches);
    const growth = (ms: readonly number[]) => median(ms.slice(-END)) / median(ms.slice(0, END));
    const ofFloor = median(ours) / median(floor);
    rows.push({
      files: files.toLocaleString("en-US"),
      "floor, ms": median(floor),
      "floor, not synced, ms": median(unsynced),
      "skein, ms": median(ours),
      "git merge, ms": median(merge),
      [`skein, ${BATCH} at once, ms each`]: median(batched),
      "skein of floor": ofFloor,
      [`${BATCH} at once, of floor`]: median(batched) / median(floor),
      "skein of git merge": median(ours) / median(merge),
      "git processes": processes,
      [`last ${END} of first ${END}`]: growth(ours),
      "the floor's": growth(floor),
    });
    const where = `${files.toLocaleString("en-US")} files`;
    limits.push(
      { claim: `a landing of the floor, ${where}`, measured: ofFloor, max: MAX_OF_FLOOR },
      {
        claim: `a landing in batches of ${BATCH}, of the floor one by one, ${where}`,
        measured: median(batched) / median(floor),
        max: MAX_BATCHED,
      },
      {
        claim: `the last ${END} landings of the first ${END}, beside the same of the floor, ${where}`,
        measured: growth(ours) / growth(floor),
        max: MAX_GROWTH,
      },
      { claim: `git processes a landing, ${where}`, measured: processes, max: MAX_PROCESSES },
    );
  }
  const title =
    `${branches} small branches landed one by one, median ms a landing; floor: merge-tree, commit-tree and ` +
    "update-ref, spawned by the same program; git merge: in a worktree; both sync objects and refs as skein does; a " +
    "proof is left only by skein";
  const batches = batchesTable();
  const gates = isShort ? { table: [], limits: [] } : await tableOfGates();
  return {
    title:
      "landing: candidate and compare-and-swap, gate off; how often the gate runs, and how long tasks wait for it",
    tables: [{ title, rows }, batches.table, ...gates.table],
    limits: [...limits, ...batches.limits, ...gates.limits],
  };
}

/** On a virtual clock, so the results are equal on every machine. */
async function tableOfGates() {
  const { table, limits } = await gatesTable();
  return { table: [table], limits };
}

type Measured = {
  readonly floor: readonly number[];
  /** With git's default settings, which may lose data at a power failure. */
  readonly unsynced: readonly number[];
  readonly ours: readonly number[];
  readonly merge: readonly number[];
  /** Milliseconds per landing, one number per batch. */
  readonly batched: readonly number[];
  readonly processes: number;
};

/** All lanes take each branch in turn, so that other load affects them equally; which lane goes first changes. */
async function measure(files: number, branches: number): Promise<Measured> {
  await using repository = await makeBenchRepository(files, branches);
  using skein = new GitRepository({ folder: repository.folder });
  const lanes = {
    floor: await floorLane(repository, "floor", SYNCED),
    unsynced: await floorLane(repository, "unsynced", []),
    ours: await skeinLane(repository, skein, "skein"),
    merge: await mergeLane(repository),
  };
  const names = ["floor", "ours", "merge", "unsynced"] as const;
  const times = {
    floor: [] as number[],
    unsynced: [] as number[],
    ours: [] as number[],
    merge: [] as number[],
  };
  const batchedLane = await skeinLane(repository, skein, "batched");
  const batched: number[] = [];
  let processes = 0;
  for (let i = 0; i < branches; i += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(i + turn) % names.length]!;
      const [start, started] = [performance.now(), startedGits()];
      await lanes[name]([branchName(i)]);
      times[name].push(performance.now() - start);
      if (name === "ours") processes += (startedGits() - started) / branches;
    }
    if ((i + 1) % BATCH !== 0) continue;
    const start = performance.now();
    await batchedLane(Array.from({ length: BATCH }, (_, k) => branchName(i + 1 - BATCH + k)));
    batched.push((performance.now() - start) / BATCH);
  }
  await verify(repository, branches);
  return { ...times, batched, processes };
}

type Lane = (branches: readonly string[]) => Promise<void>;

const targetOf = (name: string) => `bench/${name}/target`;

/** Settings that Skein's git has too; Skein syncs names of refs itself, the floor leaves them to the journal. */
const SYNCED = ["-c", "core.fsync=objects,reference", "-c", "core.fsyncMethod=batch"];

async function floorLane(
  { folder, git }: BenchRepository,
  name: string,
  settings: readonly string[],
): Promise<Lane> {
  await git("branch", targetOf(name), "main");
  let tip = await git("rev-parse", "main");
  const run = (...args: readonly string[]) => plainGit(folder, [...settings, ...args]);
  return async ([branch = ""]) => {
    const tree = await run("merge-tree", "--write-tree", tip, branch);
    const commit = await run("commit-tree", "-p", tip, "-p", branch, "-m", `${name} ${branch}`, tree);
    await run("update-ref", `refs/heads/${targetOf(name)}`, commit, tip);
    tip = commit;
  };
}

async function skeinLane({ git }: BenchRepository, skein: GitRepository, run: string): Promise<Lane> {
  const target = targetOf(run);
  await git("branch", target, "main");
  let from = await git("rev-parse", "main");
  const { signal } = new AbortController();
  return async (branches) => {
    const members = branches.map((branch) => ({
      task: `t.${branch}` as TaskId,
      attempt: 1,
      branch,
      subject: branch,
    }));
    const made = await skein.candidate({ run, onto: from, strategy: "merge-commit", members }, signal);
    if (hasFailed(made) || "is" in made || made.commit === undefined) throw new Error(JSON.stringify(made));
    const proof = {
      run,
      members: made.members,
      proof: "ungated" as const,
      report: { commands: [] },
      flags: [],
    };
    const landed = await skein.land({ target, from, to: made.commit, proof }, signal);
    if (hasFailed(landed) || landed.is !== "landed") throw new Error(JSON.stringify(landed));
    from = made.commit;
  };
}

async function mergeLane({ folder, git }: BenchRepository): Promise<Lane> {
  const worktree = join(folder, "..", "worktree");
  await git("worktree", "add", "-q", "-b", targetOf("merge"), worktree, "main");
  return async ([branch = ""]) => {
    await plainGit(worktree, [...SYNCED, "merge", "-q", "--no-ff", "-m", branch, branch]);
  };
}

/** A lane that did less than the others would be faster because of that. */
async function verify({ git }: BenchRepository, branches: number): Promise<void> {
  const names = ["floor", "unsynced", "skein", "batched", "merge"];
  const trees = await Promise.all(names.map((name) => git("rev-parse", `${targetOf(name)}^{tree}`)));
  if (new Set(trees).size !== 1) throw new Error(`the targets differ: ${trees.join(" ")}`);
  const notes = (await git("notes", "--ref=skein/skein", "list")).split("\n").length;
  if (notes !== branches) throw new Error(`${notes} proofs for ${branches} landings`);
  const batches = (await git("rev-list", "--count", "--first-parent", `main..${targetOf("batched")}`)).trim();
  if (batches !== String(branches / BATCH)) throw new Error(`${batches} batches for ${branches} branches`);
}
