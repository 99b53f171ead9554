/** Plays a history with the real engine, landing and repository; agents, the gate and time are made up. */
import { setImmediate as drained } from "node:timers/promises";
import { ManualClock } from "../../src/adapters/clocks/manual.ts";
import { MemoryEventLog } from "../../src/adapters/event-logs/memory.ts";
import { GitRepository } from "../../src/adapters/repositories/git.ts";
import { readPlanAnswer } from "../../src/core/answers/plan-answer.ts";
import type { Brief, PlanBrief, WorkBrief } from "../../src/core/brief.ts";
import { failure } from "../../src/core/failure.ts";
import type { Outcome } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import { type EngineEnd, runEngine } from "../../src/engine/engine.ts";
import { Inbox } from "../../src/engine/inbox.ts";
import { jobRunner } from "../../src/jobs/run-job.ts";
import type { Answer } from "../../src/ports/job-queue.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import { evidenceOf, handoff } from "../../src/simulation/virtual-queue.ts";
import { placesThatRemember } from "../simulation/gate-places.ts";
import { HistoryGate } from "./gate.ts";
import type { History, Planted } from "./plant.ts";
import { HistoryQueue } from "./queue.ts";
import { type Place, RUN, TARGET } from "./repository.ts";
import { mend, outside, scopeOf, work } from "./worker.ts";

export type Played = {
  readonly events: readonly Event[];
  readonly gate: HistoryGate;
  /** Commits that other people put on the target. */
  readonly outside: readonly string[];
  readonly end: EngineEnd | { readonly is: "stuck"; readonly why: string };
};

/** Two months of the run's time, or this many events: a run that is not over by then is stuck. */
const MAX_MS = 60 * 24 * 3_600_000;
const MAX_EVENTS = 50_000;

export type PlayOptions = {
  /** The events of an earlier engine, which this engine continues. */
  readonly since?: readonly Event[];
  /** The engine stops when it would start this job, and the job is never begun. */
  readonly stopAt?: (brief: Brief) => boolean;
  readonly msOf?: (brief: Brief, random: Random) => number;
};

export async function play(history: History, place: Place, options: PlayOptions = {}): Promise<Played> {
  const { since = [], stopAt, msOf = takes } = options;
  const world = new World(history, place);
  const clock = new ManualClock(since.at(-1)?.at ?? 0);
  const log = new MemoryEventLog();
  await log.append(0, since);
  const inbox = new Inbox();
  const stop = new AbortController();
  using repository = new GitRepository({ folder: place.folder });
  const land = jobRunner({ ...UNUSED, repository, gate: world.gate });
  const random = randomFrom(seedFor(history.seed, "time"));
  const queue = new HistoryQueue({
    clock,
    msOf: (brief) => msOf(brief, random),
    run: (brief, signal) =>
      brief.kind === "land" || brief.kind === "check" ? land(brief, signal) : world.agent(brief),
    refuses: (brief) => {
      if (stopAt?.(brief)) stop.abort();
      return stop.signal.aborted;
    },
  });
  for (const { when, what } of history.outsiders) {
    if ("atMs" in when) clock.wakeAt(when.atMs, () => queue.busyWith(world.moveTarget(what, "between jobs")));
  }
  for (const at of history.baseMovesAtMs) {
    clock.wakeAt(at, () =>
      queue.busyWith(world.moveBase().then((commit) => inbox.send({ type: "base-moved", commit }))),
    );
  }
  inbox.send({ type: "open", request: { run: RUN, goal: "make the project", base: place.base } });

  let end: EngineEnd | undefined;
  let broken: unknown;
  const engine = runEngine({ log, queue, clock, policy: history.policy }, inbox, stop.signal).then(
    (ended) => {
      end = ended;
    },
    (error: unknown) => {
      broken = error;
    },
  );
  const played = (how: Played["end"]) => ({
    events: log.events,
    gate: world.gate,
    outside: world.outside,
    end: how,
  });
  const stuck = async (why: string) => {
    stop.abort();
    await engine;
    return played({ is: "stuck", why });
  };
  while (true) {
    await drained();
    while (await queue.finish()) await drained(); // Everything that follows from the last step has happened.
    if (broken) throw broken;
    if (end) return played(end);
    if (log.events.length > MAX_EVENTS) return stuck("too many events");
    if ((clock.next() ?? MAX_MS) >= MAX_MS) return stuck("nobody waits for anything within two months");
    clock.step();
  }
}

/** Gate runs are longer than many tasks, so that tasks wait for them together and batches are large. */
const takes = ({ kind }: Brief, random: Random): number =>
  kind === "work" ? random.spread(10_000, 300_000) : random.spread(5_000, 120_000);

const unused = () => {
  throw new Error("landing and checking do not ask for this");
};
const UNUSED = {
  workspaces: { take: unused, keep: unused, release: unused, heldBy: unused, leftovers: unused },
  planner: "none",
  worker: { turn: unused, collect: unused },
  checkout: { look: unused },
  remember: unused,
  unkept: new Map(),
  redact: (text: string) => text,
  surroundings: { of: unused },
  specialists: unused,
  signs: { clock: new ManualClock(), changedAt: unused, waitedMs: unused, tell: unused },
  outbox: { folder: "", prepare: unused, read: unused },
  criteria: { try: unused },
  subtasks: { templates: unused, filesIn: unused, artefacts: { keep: unused } },
  maxTurnMs: { plan: 0, work: 0 },
} as const;

class World {
  readonly gate: HistoryGate;
  readonly outside: string[] = [];
  readonly #history: History;
  readonly #place: Place;
  readonly #tried = new Map<string, number>();

  constructor(history: History, place: Place) {
    this.#history = history;
    this.#place = place;
    const random = randomFrom(seedFor(history.seed, "gate"));
    const { seed, flaky, outageInRun, staged, versions, tally } = history;
    const places = placesThatRemember(
      randomFrom(seedFor(seed, "places that remember")),
      history.policy.landing.gates,
    );
    this.gate = new HistoryGate({
      trees: place.trees,
      random,
      flaky,
      outageInRun,
      staged,
      tally,
      ...(versions !== undefined && {
        remembers: (tree: string, isFresh: boolean) =>
          places(`version ${seedFor(seed, `version of ${tree}`) % versions}`, isFresh),
      }),
      meanwhile: (run) => this.#during(run),
    });
  }

  async agent(brief: PlanBrief | WorkBrief): Promise<Answer> {
    const outcome = brief.kind === "plan" ? this.#plan(brief) : await this.#work(brief);
    return { outcome, spent: { tokens: 1 } };
  }

  /** Gives the sprints one after the other, and at the end only addresses concerns. */
  #plan(brief: PlanBrief): Outcome {
    const sprint = Number(brief.scratchpad || "0");
    const tasks = this.#history.tasks.filter((task) => task.sprint === sprint).map(asked);
    const addressed = brief.concerns.map(({ id }) => ({ concern: id, because: "it was planted so" }));
    const read = readPlanAnswer(JSON.stringify({ scratchpad: `${sprint + 1}`, tasks, addressed }));
    return read.is === "answer"
      ? { is: "planned", answer: read.answer }
      : { is: "failed", failure: failure("plan-invalid", read.reasons.join("; ")) };
  }

  async #work(brief: WorkBrief): Promise<Outcome> {
    const { trees } = this.#place;
    const { spec, base, attempt, task, branch } = brief;
    const files = await trees.files(base);
    const { stubborn, staged } = this.#history;
    const planted = this.#history.tasks.find(({ key }) => key === spec.key);
    const steps = planted
      ? work(planted, files, attempt)
      : [mend({ repairs: spec.repairs ?? [], scope: spec.scope, files, staged }, stubborn, this.#tried)];
    let commit = base;
    for (const [i, changes] of steps.entries()) {
      commit = await trees.commit(commit, changes, `${spec.key}, attempt ${attempt}, step ${i}\n`);
    }
    await trees.branch(branch, commit);
    const changed = [...new Set(steps.flatMap((changes) => [...changes.keys()]))];
    return {
      is: "worked",
      handoff: handoff(task, `did ${spec.key}`),
      evidence: { ...evidenceOf(changed), commit },
    };
  }

  async #during(run: number): Promise<void> {
    for (const { when, what } of this.#history.outsiders) {
      if ("inRun" in when && when.inRun === run) await this.moveTarget(what, "while a gate ran");
    }
  }

  /** Puts a commit on the target as it is in git, whatever the run knows of it. */
  async moveTarget(
    what: History["outsiders"][number]["what"],
    when: "between jobs" | "while a gate ran",
  ): Promise<void> {
    const { trees, git } = this.#place;
    const { tally } = this.#history;
    const tip = await git("rev-parse", TARGET);
    const changes = outside(what, this.outside.length, await trees.files(tip));
    const commit = await trees.commit(tip, changes, `somebody else's: ${what}\n`);
    await git("update-ref", "-m", "outside", TARGET, commit, tip);
    this.outside.push(commit);
    tally.add(`somebody else's commit: ${what}`);
    tally.add(`the target moved ${when}`);
  }

  /** Moves the user's own branch: the run checks it again, and takes nothing of it. */
  async moveBase(): Promise<string> {
    const { trees, git, base } = this.#place;
    const commit = await trees.commit(
      base,
      new Map([["src/theirs.txt", "text: the user's own\n"]]),
      "the user's\n",
    );
    await git("update-ref", "refs/heads/main", commit);
    this.#history.tally.add("base branch moved");
    return commit;
  }
}

const asked = (task: Planted) => ({
  id: task.key,
  description: `Make ${task.key}`,
  acceptance: "the gate is green",
  scope: scopeOf(task),
  priority: task.priority,
  after: task.after,
});
