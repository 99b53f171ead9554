/** Measures the wait from ready to landed by the number of parallel gates, with the engine on a virtual clock. */
import type { WorkBrief } from "../src/core/brief.ts";
import type { Event } from "../src/core/log/event.ts";
import { defaultPolicy, type Policy } from "../src/core/rules/policy.ts";
import type { TaskId } from "../src/core/task.ts";
import { type Random, randomFrom } from "../src/simulation/random.ts";
import { evidenceOf, handoff, type Worked } from "../src/simulation/virtual-queue.ts";
import { VirtualRepository } from "../src/simulation/virtual-repository.ts";
import { simulate } from "../test/simulation/simulate.ts";
import type { Limit, Table } from "./measure.ts";

const GATES = [1, 2, 4, 8];
const SHARES = [0, 0.02, 0.1];
/** The number of tasks that become ready in one gate time. */
const RATES = [0.5, 1, 2];
const TASKS = 200;
const SEEDS = [1, 2, 3];
const GATE_MS = 60_000;
/** The time to move the target to a passed candidate, as measured by the landing bench. */
const MOVE_MS = 50;
const MAX_WAIT = 1.15;

/** Every gate takes equally long, so ideally a task waits for one gate time: its own. */
export async function gatesTable(): Promise<{ readonly table: Table; readonly limits: readonly Limit[] }> {
  const rows: Table["rows"][number][] = [];
  const limits: Limit[] = [];
  for (const share of SHARES)
    for (const rate of RATES) {
      const means = new Map<number, Mean>();
      for (const gates of GATES) means.set(gates, await meanOf({ share, rate, gates }));
      const columns = (name: string, of: (mean: Mean) => number) =>
        GATES.map((gates) => [`${name}, ${gates} at once`, of(means.get(gates)!)]);
      rows.push({
        bad: `${share * 100} %`,
        "ready a gate time": rate,
        ideal: 1,
        ...Object.fromEntries(columns("wait", ({ wait }) => wait)),
        ...Object.fromEntries(columns("gate runs a task", ({ runs }) => runs)),
      });
      if (share === 0)
        limits.push({
          claim: `mean wait in gate times, 4 gates, nothing bad, ${rate} ready a gate time`,
          measured: means.get(4)!.wait,
          max: MAX_WAIT,
        });
    }
  const title =
    `from ready to landed, mean in gate times; gates of equal length, ${TASKS} tasks that become ready by chance, ` +
    `${SEEDS.length} seeds; a bad one is made right in three gate times, and its new wait counts; runs are of candidates ` +
    "and of the target";
  return { table: { title, rows }, limits };
}

type Story = { readonly share: number; readonly rate: number; readonly gates: number };
type Mean = { readonly wait: number; readonly runs: number };

async function meanOf(story: Story): Promise<Mean> {
  let [wait, runs] = [0, 0];
  for (const seed of SEEDS) {
    const events = await play(story, randomFrom(seed));
    wait += meanWait(events) / SEEDS.length;
    runs += events.filter(isGateRun).length / TASKS / SEEDS.length;
  }
  return { wait, runs };
}

async function play({ share, rate, gates }: Story, random: Random): Promise<readonly Event[]> {
  let at = 0;
  const readyAt = Array.from({ length: TASKS }, () => {
    at += (-Math.log(1 - random.next()) * GATE_MS) / rate;
    return at;
  });
  const bad = new Set(readyAt.flatMap((_, i) => (random.chance(share) ? [i] : [])));
  const tasks = readyAt.map((_, i) => ({
    id: `task-${i}`,
    description: `Make ${i}`,
    scope: [`src/${i}.ts`],
    acceptance: "it works",
  }));
  const { end, events } = await simulate({
    goal: "make it",
    policy: policyWith(gates),
    repository: new VirtualRepository(),
    script: {
      plan: ({ first }) => JSON.stringify({ scratchpad: "", tasks: first ? tasks : [], done: !first }),
      work: (brief) => made(brief, bad),
      ms: (job) => {
        if (job.kind === "work") return job.attempt === 1 ? readyAt[placeOf(job.task)]! : 3 * GATE_MS;
        if (job.kind === "land") return job.moves === undefined ? GATE_MS : MOVE_MS;
        return job.kind === "check" && job.turn > 1 ? GATE_MS : 0;
      },
    },
  });
  if (end.is !== "closed" || end.state.closed?.how !== "done")
    throw new Error(`it did not end well: ${JSON.stringify(end.is === "closed" ? end.state.closed : end)}`);
  return events;
}

const policyWith = (gates: number): Policy => ({
  ...defaultPolicy,
  capacity: { plan: 1, work: TASKS },
  leaseMs: { ...defaultPolicy.leaseMs, work: 1_000 * TASKS * GATE_MS },
  root: { ...defaultPolicy.root, replanAfter: TASKS },
  landing: { ...defaultPolicy.landing, gates },
});

const placeOf = (id: TaskId): number => Number(id.slice("t.".length)) - 1;

function made({ task, attempt, spec }: WorkBrief, bad: ReadonlySet<number>): Worked {
  const breaks = bad.has(placeOf(task)) && attempt === 1 ? [`test: ${task} works`] : [];
  const files = [...spec.scope];
  return {
    handoff: handoff(task, "done"),
    evidence: { ...evidenceOf(files), commit: `${task}.${attempt}` },
    change: { files, breaks, heals: [] },
    problems: breaks.map((name) => ({ class: "tests", name, files, message: "it does not work" })),
  };
}

const isGateRun = (event: Event): boolean =>
  event.type === "job.started" &&
  (event.job.kind === "check" || (event.job.kind === "land" && event.job.moves === undefined));

/** The mean wait in gate times, from the handoff that landed. */
function meanWait(events: readonly Event[]): number {
  const ready = new Map<TaskId, number>();
  let sum = 0;
  for (const event of events) {
    if (event.type === "task.handed-off") ready.set(event.task, event.at);
    if (event.type === "batch.landed")
      for (const { task } of event.members) sum += (event.at - ready.get(task)!) / GATE_MS;
  }
  return sum / TASKS;
}
