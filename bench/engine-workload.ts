/** Generates the plans of the engine bench from a seed, and executes them in a simulated run. */
import type { PlanBrief, WorkBrief } from "../src/core/brief.ts";
import type { RunState } from "../src/core/log/state.ts";
import { defaultPolicy, type Policy } from "../src/core/rules/policy.ts";
import { type Random, randomFrom } from "../src/simulation/random.ts";
import { evidenceOf, handoff } from "../src/simulation/virtual-queue.ts";
import { VirtualRepository } from "../src/simulation/virtual-repository.ts";
import { type Simulated, type Simulation, simulate } from "../test/simulation/simulate.ts";
import type { Script } from "../test/simulation/virtual-queue.ts";

/** `after` has indexes in the same list, all of them earlier. */
export type PlannedTask = {
  readonly after: readonly number[];
  readonly priority: number;
  readonly ms: number;
};
export type Workload = readonly PlannedTask[];

const LAYER = 100;

export const WORKLOADS: Readonly<Record<string, (size: number, seed: number) => Workload>> = {
  independent: (size, seed) => workloadOf(size, seed, () => []),
  "layers of 100": (size, seed) =>
    workloadOf(size, seed, (random, at) => {
      const above = at - (at % LAYER) - LAYER;
      return above < 0 ? [] : some(3, () => above + random.below(LAYER));
    }),
  "random graph": randomGraph,
};

/** Up to three dependencies among any earlier tasks. */
export function randomGraph(size: number, seed: number): Workload {
  return workloadOf(size, seed, (random, at) =>
    at === 0 ? [] : some(random.between(0, 3), () => random.below(at)),
  );
}

/** Durations from 5 seconds to half an hour, as likely below 95 seconds as above, with random priorities. */
function workloadOf(
  size: number,
  seed: number,
  after: (random: Random, at: number) => readonly number[],
): Workload {
  const random = randomFrom(seed);
  return Array.from({ length: size }, (_, at) => ({
    after: after(random, at),
    priority: random.chance(0.1) ? random.between(3, 7) : 5,
    ms: random.spread(5_000, 1_800_000),
  }));
}

const some = (count: number, pick: () => number): readonly number[] => [
  ...new Set(Array.from({ length: count }, pick)),
];

/** The longest answer of a planner: a longer plan is given in several answers, all at the start of the run. */
const MAX_TASKS_PER_ANSWER = 10_000;

/** Only work takes virtual time, so that the makespan shows only the order of the work. */
export function simulationOf(
  workload: Workload,
  workers: number,
  order: Policy["order"] = "priority",
): Simulation {
  const answers = answersOf(workload);
  const script: Script = {
    plan: (brief) => answers[partOf(brief)] ?? nothingMore(brief),
    work,
    ms: (job) => (job.kind === "work" ? workload[placeOf(job.task)]!.ms : 0),
  };
  return {
    goal: "Build it",
    policy: policyOf(workers, order),
    script,
    repository: new VirtualRepository(),
    said: answers.slice(1).map((_, i) => ({ at: i + 1, message: { type: "steer", message: "Go on" } })),
  };
}

const policyOf = (workers: number, order: Policy["order"]): Policy => ({
  ...defaultPolicy,
  order,
  capacity: { ...defaultPolicy.capacity, work: workers },
  root: {
    ...defaultPolicy.root,
    maxTasksPerAnswer: MAX_TASKS_PER_ANSWER,
    replanAfter: Number.MAX_SAFE_INTEGER, // Ask again only when nothing is left to do.
  },
});

const nothingMore = ({ scratchpad }: PlanBrief) => JSON.stringify({ scratchpad, tasks: [] });

/** The answers are written beforehand, because writing them is not the engine's work, but reading them is. */
const answersOf = (workload: Workload): readonly string[] =>
  Array.from({ length: Math.ceil(workload.length / MAX_TASKS_PER_ANSWER) }, (_, part) => {
    const from = part * MAX_TASKS_PER_ANSWER;
    const tasks = workload.slice(from, from + MAX_TASKS_PER_ANSWER).map((task, i) => ({
      id: `k${from + i}`,
      description: `Make module ${from + i}`,
      scope: [`src/m${(from + i) % 100}/f${from + i}.ts`],
      acceptance: "Its tests pass",
      priority: task.priority,
      after: task.after.map((place) => `k${place}`),
    }));
    return JSON.stringify({ scratchpad: `part ${part + 1}`, tasks });
  });

/** The scratchpad stores how many parts the planner has given. */
const partOf = ({ scratchpad }: PlanBrief) => Number(/^part (\d+)$/.exec(scratchpad)?.[1] ?? 0);

/** "t.1" is the first task. */
const placeOf = (task: string) => Number(task.slice(2)) - 1;

const work = ({ task, attempt, spec: { scope, key } }: WorkBrief): ReturnType<Script["work"]> => ({
  handoff: handoff(task, `did ${key}`),
  evidence: { ...evidenceOf(scope), commit: `${task}.${attempt}` },
  change: { files: scope, breaks: [], heals: [] },
});

export type Executed = Simulated & { readonly state: RunState };

export async function execute(
  workload: Workload,
  workers: number,
  order?: Policy["order"],
): Promise<Executed> {
  const run = await simulate(simulationOf(workload, workers, order));
  const { end } = run;
  if (end.is === "stuck" || end.state.closed?.how !== "done")
    throw new Error(`the run did not end well: ${end.is === "stuck" ? end.why : end.state.closed?.left}`);
  return { ...run, state: end.state };
}

/** Throws unless all tasks landed, each started after its dependencies, and never more ran at once than allowed. */
export function verify({ events }: Executed, workload: Workload, workers: number): void {
  const landed = new Set<number>();
  let atWork = 0;
  for (const event of events) {
    if (event.type === "job.started" && event.job.kind === "work") {
      const place = placeOf(event.job.task);
      if (!workload[place]!.after.every((other) => landed.has(other)))
        throw new Error(`started too early: ${event.job.task}`);
      atWork += 1;
      if (atWork > workers) throw new Error(`${atWork} at work, but there are ${workers} workers`);
    }
    if (event.type === "job.ended" && event.job.startsWith("work:")) atWork -= 1;
    if (event.type === "batch.landed") for (const { task } of event.members) landed.add(placeOf(task));
  }
  if (landed.size !== workload.length) throw new Error(`${landed.size} of ${workload.length} landed`);
}
