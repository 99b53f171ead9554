/** Plants the history of one seed: a project, tasks that meet in every way, and what happens meanwhile. */
import { defaultPolicy, type Policy } from "../../src/core/rules/policy.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import { type Kind, Tally } from "./tally.ts";
import type { Files } from "./tree.ts";

/** What a task changes, besides leaving its mark in the tree. */
export type Makes =
  /** `slot`: it also changes a line of its own in a file that other tasks change, too. */
  | { readonly is: "plain"; readonly slot?: number }
  /** It leaves its mark in a line that other tasks change, too. */
  | { readonly is: "shared"; readonly line: number }
  /** It fails alone in its first `times` attempts, and is right from then on. */
  | { readonly is: "bad"; readonly how: "fails" | "broken" | "needs"; readonly times: number }
  /** One task renames what another task begins to use. */
  | { readonly is: "renames" | "uses"; readonly lib: number }
  /** Two of these tasks pass together, and three are too many. */
  | { readonly is: "takes"; readonly pool: number }
  /** One task is right only together with the other, and the plan does not say so. */
  | { readonly is: "offers" | "wants"; readonly part: number };

export type Planted = {
  readonly key: string;
  readonly sprint: number;
  readonly priority: number;
  readonly after: readonly string[];
  readonly makes: Makes;
  readonly commits: number;
};

/** A commit on the target that another person makes: at a time, or during the gate run with that number. */
export type Outsider = {
  readonly when: { readonly atMs: number } | { readonly inRun: number };
  readonly what: "green" | "red" | "shared" | "takes";
};

export type History = {
  readonly seed: number;
  readonly policy: Policy;
  readonly base: Files;
  readonly tasks: readonly Planted[];
  /** The number of attempts that do not mend a failure of the base, by the failure's name. */
  readonly stubborn: ReadonlyMap<string, number>;
  readonly outsiders: readonly Outsider[];
  readonly baseMovesAtMs: readonly number[];
  /** The chance that a gate run fails without a reason. */
  readonly flaky: number;
  /** From this gate run on everything fails, until two checks of the target have seen it. */
  readonly outageInRun: number | undefined;
  /** The gate is one command, which ends at its first step that fails. */
  readonly staged: boolean;
  /**
   * The gate's workspaces keep files of earlier runs; this is the number of versions of the tree whose files conflict.
   */
  readonly versions: number | undefined;
  readonly tally: Tally;
};

export const NEVER = 99;
export const SLOTS = 60;
const GROUPS = 3;

export function plant(seed: number): History {
  const random = randomFrom(seed);
  const tally = new Tally();
  const policy = withGates(policyOf(random), seed);
  const old = random.chance(0.35) ? oldFailures(random, tally) : [];
  const tasks = tasksOf(random, tally);
  // A failure that stays for ever would hide what else a task breaks, and no promise could be checked.
  const staged = random.chance(0.3) && !old.some(({ times: tries }) => tries === NEVER);
  if (staged) tally.add("gate that ends at the first step that fails");
  tally.add(policy.landing.strategy);
  if (policy.landing.gates > 1) tally.add("several gates at once");
  return {
    seed,
    policy,
    base: baseOf(old),
    tasks,
    stubborn: new Map(old.map(({ name, times }) => [name, times])),
    outsiders: outsidersOf(random, tasks),
    baseMovesAtMs: random.chance(0.2) ? [random.spread(10_000, 3_600_000)] : [],
    flaky: random.pick([0, 0, 0.05, 0.3]),
    outageInRun: random.chance(0.25) ? random.between(2, 15) : undefined,
    staged,
    versions: versionsOf(seed),
    tally,
  };
}

/** Uses random numbers of its own, as the number of gates does. */
function versionsOf(seed: number): number | undefined {
  const random = randomFrom(seedFor(seed, "versions"));
  return random.chance(0.5) ? random.pick([2, 3, 5]) : undefined;
}

const policyOf = (random: Random): Policy => ({
  ...defaultPolicy,
  capacity: { plan: 1, work: random.pick([2, 8, 40, 40]) },
  overlap: random.pick(["allow", "allow", "allow", "serialise"]),
  landing: {
    ...defaultPolicy.landing,
    strategy: random.pick(["merge-commit", "merge-commit", "rebase", "fast-forward"]),
    maxBatch: random.pick([1, 4, 50, 50, 50]),
  },
});

/** Uses random numbers of its own, so that all else stays as it was with one gate. */
const withGates = (policy: Policy, seed: number): Policy => ({
  ...policy,
  landing: { ...policy.landing, gates: randomFrom(seedFor(seed, "gates")).pick([1, 2, 4]) },
});

type Old = { readonly path: string; readonly text: string; readonly name: string; readonly times: number };

/** One failure for each file, and now and then a second one that the same fix does not mend. */
function oldFailures(random: Random, tally: Tally): readonly Old[] {
  tally.add("base red from the start");
  const isHopeless = random.chance(0.2);
  return Array.from({ length: random.spread(1, 6) }, (_, i) => {
    const path = `src/old${i}.txt`;
    const [line, name] = random.pick([
      [`fails: old${i}`, `test: old${i}`],
      [`broken: old${i}`, `build: old${i}`],
      [`needs: gone${i}`, `types: ${path} needs gone${i}`],
      [`<<<<<<< old${i}`, `markers: old${i}`],
    ] as const);
    const times = isHopeless && i === 0 ? NEVER : random.pick([0, 0, 0, 1, 2, 4]);
    if (times === NEVER) tally.add("failure that nobody can mend");
    else if (times > 0) tally.add("failure that the first fix does not mend");
    const second = random.chance(0.2) ? `fails: also${i}\n` : "";
    return { path, text: `text: old ${i}\n${line}\n${second}text: the end\n`, name, times };
  });
}

function baseOf(old: readonly Old[]): Files {
  const groups = Array.from({ length: GROUPS }, (_, i): readonly [string, string][] => [
    [`src/shared${i}.txt`, "text: the line below is wanted\nmark:\ntext: the line above is wanted\n"],
    [`src/lib${i}.txt`, `text: a library\nprovides: lib${i}\n`],
    [`src/user${i}.txt`, `text: its user\nneeds: lib${i}\n`],
    [`src/pool${i}.txt`, `text: a pool\nroom: pool${i} 2\n`],
  ]);
  // Three lines lie between two slots, so that changes of neighbours merge.
  const slots = Array.from({ length: SLOTS }, (_, i) => `slot: ${i} free\ntext: a\ntext: b\ntext: c\n`);
  return new Map([
    ...groups.flat(),
    ["src/wide.txt", slots.join("")],
    ...old.map(({ path, text }) => [path, text] as const),
  ]);
}

function tasksOf(random: Random, tally: Tally): readonly Planted[] {
  const makes: Makes[] = [];
  const some = (chance: number, groups: (i: number) => readonly Makes[]) => {
    for (let i = 0; i < GROUPS; i += 1) if (random.chance(chance)) makes.push(...groups(i));
  };
  some(0.25, (line) => {
    tally.add("tasks that want one line");
    return times(random.between(2, 3), { is: "shared", line });
  });
  some(0.2, (lib) => {
    tally.add("a name that one changes and others begin to use");
    return [{ is: "renames", lib }, ...times(random.between(1, 3), { is: "uses", lib } as const)];
  });
  some(0.18, (pool) => {
    tally.add("room for fewer than take it");
    return times(3, { is: "takes", pool });
  });
  some(0.15, (part) => {
    tally.add("a task that is right only after another");
    return [
      { is: "offers", part },
      { is: "wants", part },
    ];
  });
  for (let i = random.pick([0, 0, 1, 2, 3]); i > 0; i -= 1) makes.push(badOf(random, tally));
  const total = random.chance(0.15) ? random.between(20, 40) : random.spread(4, 20);
  while (makes.length < total) makes.push(plainOf(random, makes.length, tally));
  const tasks: Planted[] = [];
  for (const made of shuffled(random, makes)) tasks.push(taskOf(random, made, tasks));
  return tasks;
}

function badOf(random: Random, tally: Tally): Makes {
  const wrong = random.pick([1, 1, 1, 2, 3]);
  const kinds: Record<number, Kind> = {
    1: "a task that is bad once",
    2: "a task that is bad twice",
    3: "a task that stays bad",
  };
  tally.add(kinds[wrong]!);
  return { is: "bad", how: random.pick(["fails", "broken", "needs"]), times: wrong };
}

function plainOf(random: Random, i: number, tally: Tally): Makes {
  if (!random.chance(0.3)) return { is: "plain" };
  tally.add("changes to one file that merge");
  return { is: "plain", slot: i };
}

const times = <T>(count: number, item: T): readonly T[] => Array.from({ length: count }, () => item);

function taskOf(random: Random, makes: Makes, earlier: readonly Planted[]): Planted {
  const sprint = earlier.length > 0 && random.chance(0.2) ? 1 : 0; // A sprint without tasks is not meant here.
  // Tasks wait only for plain ones: a task that waits for one that stays bad is skipped, which is not tested here.
  const before = earlier.filter((task) => task.makes.is === "plain" && task.sprint <= sprint);
  return {
    key: `w${earlier.length}`,
    sprint,
    priority: random.chance(0.2) ? random.between(1, 9) : 5,
    after: before.length > 0 && random.chance(0.1) ? [random.pick(before).key] : [],
    makes,
    commits: random.pick([1, 1, 2, 3]),
  };
}

function shuffled<T>(random: Random, items: readonly T[]): readonly T[] {
  const left = [...items];
  return items.map(() => left.splice(random.below(left.length), 1)[0]!);
}

function outsidersOf(random: Random, tasks: readonly Planted[]): readonly Outsider[] {
  const count = random.pick([0, 0, 1, 1, 2]);
  const wanted = tasks.some(({ makes }) => makes.is === "shared" || makes.is === "takes");
  return Array.from({ length: count }, () => {
    const what = random.pick([
      "green",
      "red",
      wanted ? "shared" : "green",
      wanted ? "takes" : "red",
    ] as const);
    const inGate = random.chance(0.6);
    return {
      what,
      when: inGate ? { inRun: random.between(1, 25) } : { atMs: random.spread(10_000, 3_600_000) },
    };
  });
}
