/** A job queue that simulates agents and landings by a script, with a repository in memory, on a manual clock. */

import { type PlanAnswer, readPlanAnswer } from "../../src/core/answers/plan-answer.ts";
import type { Brief, CheckBrief, LandBrief, PlanBrief, WorkBrief } from "../../src/core/brief.ts";
import { type Failure, failure } from "../../src/core/failure.ts";
import { isGreen } from "../../src/core/gate.ts";
import { type Job, type JobId, jobId, type Outcome } from "../../src/core/job.ts";
import type { Report } from "../../src/core/log/event.ts";
import type { WorkerCall } from "../../src/core/subtask.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Answer, JobQueue, Recovered } from "../../src/ports/job-queue.ts";
import type { Fate as AnsweringFate, Worked } from "../../src/simulation/virtual-queue.ts";
import type { VirtualRepository } from "../../src/simulation/virtual-repository.ts";
import type { Fleet } from "./fleets.ts";
import type { GatePlaces } from "./gate-places.ts";
import { courseOf, type Provider } from "./provider.ts";

/** `dies`: the job never answers. */
export type Fate = AnsweringFate | { readonly is: "dies" };

/** The answers of agents, and the duration of each job in ms. */
export type Script = {
  /** A planner's answer as text, or as data where its text could not have it. */
  plan(brief: PlanBrief): string | PlanAnswer;
  work(brief: WorkBrief): Worked | Calls | { readonly outcome: Outcome };
  ms(job: Job): number;
};

/** A worker that calls for a subtask or asks; `start` is a snapshot of its workspace. */
type Calls = { readonly call: WorkerCall; readonly start: string };

/** What goes wrong; by default nothing. */
export type Mischief = {
  fate(job: Job, brief: Brief, ms: number): Fate;
  /** Failures without a reason in one gate run of `tree`. */
  flake(tree: string): readonly string[];
  garble(text: string): string;
  /** Whether a cancelled job goes on. */
  ignoresCancel(job: Job): boolean;
};

export const noMischief: Mischief = {
  fate: (_job, _brief, ms) => ({ is: "honest", ms }),
  flake: () => [],
  garble: (text) => text,
  ignoresCancel: () => false,
};

type World = {
  readonly clock: Clock;
  readonly repository: VirtualRepository;
  readonly script: Script;
  readonly mischief: Mischief;
  readonly provider: Provider;
  readonly places?: GatePlaces;
  readonly unready?: Unready;
  /** Undefined: all jobs run on one machine, which begins them at once. */
  readonly fleet?: Fleet;
};

/**
 * The outcome of a job whose workspace cannot be set up, or which probes the gate; undefined: the job runs as usual.
 */
export type Unready = (brief: Brief) => Outcome | undefined;

type Underway = {
  readonly job: Job;
  report: (report: Report) => void;
  callOff: () => void;
  answer?: Answer;
  /** The machine that has the job, and how many machines have lost it before. */
  taken?: { readonly machine: string; readonly tries: number; readonly at: number };
};

export class VirtualQueue implements JobQueue {
  readonly #world: World;
  readonly #underway = new Map<JobId, Underway>();

  constructor(world: World) {
    this.#world = world;
  }

  offer(job: Job, brief: Brief, report: (report: Report) => void): void {
    const { clock, mischief, script, provider } = this.#world;
    const id = jobId(job);
    const fate = mischief.fate(job, brief, script.ms(job));
    const entry: Underway = { job, report, callOff: () => {} };
    this.#underway.set(id, entry);
    const taken = this.#takings(entry, fate.is === "dies" ? 1 : fate.ms);
    entry.callOff = taken.callOff;
    if (fate.is === "dies") return;
    const course = this.#course(job, brief, fate.ms, taken.last);
    const quiet = provider.quietAfter(job, fate.ms);
    const end = clock.wakeAt(course.end, () => {
      const outcome = course.failure ? failed(course.failure) : this.#outcome(fate, brief);
      entry.answer = { outcome, spent: provider.cost(job) };
      entry.report({ type: "ended", job: id, ...entry.answer });
    });
    const others = [
      ...course.heard.map(({ at, account, failure: why }) =>
        clock.wakeAt(at, () => entry.report({ type: "account-refused", account, failure: why })),
      ),
      ...(quiet === undefined
        ? []
        : [clock.wakeAt(taken.last + quiet, () => entry.report({ type: "quiet", job: id, ms: quiet }))]),
    ];
    entry.callOff = () => {
      for (const callOff of [end, taken.callOff, ...others]) callOff();
    };
  }

  /** When the last machine begins the job, and how to call that off. */
  #takings(entry: Underway, ms: number): { readonly last: number; readonly callOff: () => void } {
    const { clock, fleet } = this.#world;
    let last = clock.now();
    const job = jobId(entry.job);
    const callOffs = (fleet?.takingsOf(entry.job, ms) ?? []).flatMap(({ afterMs, machine }, tries) => {
      const returned = last + Math.ceil(afterMs / 2);
      last += afterMs;
      const take = clock.wakeAt(last, () => {
        entry.taken = { machine, tries, at: clock.now() };
        this.#tell(entry);
      });
      if (tries === 0) return [take];
      const giveBack = () => {
        delete entry.taken;
        entry.report({ type: "returned", job });
      };
      return [clock.wakeAt(returned, giveBack), take];
    });
    const callOff = () => {
      for (const one of callOffs) one();
    };
    return { last, callOff };
  }

  #tell({ job, taken, report }: Underway): void {
    if (!taken) return;
    const { machine, tries, at } = taken;
    report({ type: "taken", job: jobId(job), machine, tries, agoMs: this.#world.clock.now() - at });
  }

  #course(job: Job, brief: Brief, ms: number, now: number) {
    const { provider } = this.#world;
    if (brief.kind !== "plan" && brief.kind !== "work") return { heard: [], end: now + ms };
    const waits = provider.waits(job);
    return courseOf(provider.shortages, provider.chainOf(brief), { now, ms, waits });
  }

  #outcome(fate: AnsweringFate, brief: Brief): Outcome {
    return fate.is === "instead" ? fate.outcome : (this.#world.unready?.(brief) ?? this.#execute(brief));
  }

  cancel(id: JobId): void {
    const entry = this.#underway.get(id);
    if (!entry || this.#world.mischief.ignoresCancel(entry.job)) return;
    entry.callOff();
    this.#underway.delete(id);
  }

  /** A job outlives its engine, as it does on another machine, unless `crash` has ended it. */
  async recover(job: Job, report: (report: Report) => void): Promise<Recovered> {
    const entry = this.#underway.get(jobId(job));
    const spent = entry ? undefined : this.#world.provider.cut(job);
    if (!entry) return spent ? { is: "gone", spent } : { is: "gone" };
    if (entry.answer) return { is: "answered", answer: entry.answer };
    entry.report = report;
    this.#tell(entry);
    return { is: "running" };
  }

  /** The engine has died: no answer reaches it. Jobs that `survives` spares go on. */
  crash(survives: (job: Job) => boolean): void {
    for (const [id, entry] of this.#underway) {
      entry.report = () => {};
      if (survives(entry.job)) continue;
      entry.callOff();
      this.#underway.delete(id);
    }
  }

  #execute(brief: Brief): Outcome {
    const { repository, script, mischief } = this.#world;
    switch (brief.kind) {
      case "plan":
        return planOutcome(script.plan(brief), mischief);
      case "work": {
        const worked = script.work(brief);
        if ("outcome" in worked) return worked.outcome;
        const session = jobId({ kind: "work", task: brief.task, attempt: brief.attempt });
        if ("call" in worked) return { is: "called", session, ...worked };
        const { handoff, evidence, change, problems } = worked;
        const { commit } = evidence;
        // A subtask's commit is part of its parent's, which lands.
        if (commit !== undefined && !brief.spec.spawn)
          repository.push({ commit, base: brief.base, change }, problems);
        return { is: "worked", handoff, evidence };
      }
      case "land":
        // A job that only moves the target runs no gate.
        if (brief.passed) return repository.land(brief, []);
        return this.#gated(brief, mischief.flake(treeOf(repository, brief)), (failures) =>
          repository.land(brief, failures),
        );
      case "check":
        if (brief.probe) return { is: "probed", probed: { is: "proved" } };
        if (brief.seen) return repository.check(brief, []);
        return this.#gated(brief, mischief.flake(brief.tip), (failures) => repository.check(brief, failures));
    }
  }

  /** Runs the gate with chance failures of this run, and reports what was left in the workspace if it fails. */
  #gated(
    brief: LandBrief | CheckBrief,
    flake: readonly string[],
    run: (failures: readonly string[]) => Outcome,
  ): Outcome {
    const { places, repository } = this.#world;
    const weather = places?.run(treeIdOf(repository, brief), {
      kind: brief.kind,
      isFresh: brief.isFresh === true,
    });
    const outcome = run([...flake, ...(weather?.failures ?? [])]);
    const isRed = outcome.is === "red" || (outcome.is === "checked" && !isGreen(outcome.report));
    const leftovers = brief.isFresh ? undefined : weather?.leftovers;
    return isRed && leftovers ? { ...outcome, leftovers } : outcome;
  }
}

const failed = (why: Failure): Outcome => ({ is: "failed", failure: why });

const treeOf = (repository: VirtualRepository, brief: LandBrief) =>
  [repository.baseOf(brief), ...brief.members.map(({ task, attempt }) => `${task}.${attempt}`)].join(" ");

/** The tree of a check; for a candidate, the commit that it becomes if it lands. */
const treeIdOf = (repository: VirtualRepository, brief: LandBrief | CheckBrief): string =>
  brief.kind === "check"
    ? brief.tip
    : repository.baseOf({ ...brief, above: [...(brief.above ?? []), { members: brief.members, madeAt: 0 }] });

/** Reads a planner's text as every plan job does: an answer, or a failure that is retried. */
function planOutcome(said: string | PlanAnswer, { garble }: Pick<Mischief, "garble">): Outcome {
  if (typeof said !== "string") return { is: "planned", answer: said };
  const read = readPlanAnswer(garble(said));
  if (read.is === "answer") return { is: "planned", answer: read.answer };
  const kind = read.is === "unreadable" ? "plan-unreadable" : "plan-invalid";
  return { is: "failed", failure: failure(kind, read.reasons.join("; ")) };
}
