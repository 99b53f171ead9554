/** Executes the jobs of a simulated run with scripted agents and a repository in memory, on a manual clock. */
import type { PlanAnswer } from "../core/answers/plan-answer.ts";
import type { Brief, PlanBrief, WorkBrief } from "../core/brief.ts";
import { type Handoff, NO_METRICS } from "../core/handoff.ts";
import { type Job, type JobId, jobId, type Outcome, type Spent } from "../core/job.ts";
import type { Report } from "../core/log/event.ts";
import type { Evidence } from "../core/rules/evidence.ts";
import type { Problem } from "../core/rules/repair.ts";
import type { Clock } from "../ports/clock.ts";
import type { JobQueue, Recovered } from "../ports/job-queue.ts";
import type { Change, VirtualRepository } from "./virtual-repository.ts";

export type QueueScript = {
  plan(brief: PlanBrief): PlanAnswer;
  work(brief: WorkBrief): Worked;
  ms(job: Job): number;
  cost(job: Job): Spent;
  fate(job: Job, ms: number): Fate;
};

/** A worker's result: its handoff, and the change in its branch. */
export type Worked = {
  readonly handoff: Handoff;
  readonly evidence: Evidence;
  readonly change: Change;
  readonly problems?: readonly Problem[];
};

export type Fate =
  | { readonly is: "honest"; readonly ms: number }
  | { readonly is: "instead"; readonly ms: number; readonly outcome: Outcome };

export class VirtualQueue implements JobQueue {
  readonly #clock: Clock;
  readonly #repository: VirtualRepository;
  readonly #script: QueueScript;
  readonly #callOff = new Map<JobId, () => void>();

  constructor(clock: Clock, repository: VirtualRepository, script: QueueScript) {
    this.#clock = clock;
    this.#repository = repository;
    this.#script = script;
  }

  offer(job: Job, brief: Brief, report: (report: Report) => void): void {
    const id = jobId(job);
    const fate = this.#script.fate(job, this.#script.ms(job));
    const end = () => {
      const outcome = fate.is === "instead" ? fate.outcome : this.#execute(brief);
      report({ type: "ended", job: id, outcome, spent: this.#script.cost(job) });
    };
    this.#callOff.set(id, this.#clock.wakeAt(this.#clock.now() + fate.ms, end));
  }

  cancel(id: JobId): void {
    this.#callOff.get(id)?.();
    this.#callOff.delete(id);
  }

  /** The engine of a simulated run never restarts. */
  async recover(): Promise<Recovered> {
    return { is: "gone" };
  }

  #execute(brief: Brief): Outcome {
    switch (brief.kind) {
      case "plan":
        return { is: "planned", answer: this.#script.plan(brief) };
      case "work": {
        const { handoff, evidence, change, problems } = this.#script.work(brief);
        if (evidence.commit !== undefined)
          this.#repository.push({ commit: evidence.commit, base: brief.base, change }, problems);
        return { is: "worked", handoff, evidence };
      }
      case "land":
        return this.#repository.land(brief, []);
      case "check":
        return brief.probe ? { is: "probed", probed: { is: "proved" } } : this.#repository.check(brief, []);
    }
  }
}

export const handoff = (taskId: string, summary: string, concerns: readonly string[] = []): Handoff => ({
  taskId,
  status: "complete",
  summary,
  diff: "",
  filesChanged: [],
  concerns,
  suggestions: [],
  metrics: NO_METRICS,
});

export const evidenceOf = (filesChanged: readonly string[]): Evidence => ({
  filesChanged,
  diff: "",
  linesAdded: 10 * filesChanged.length,
  linesRemoved: 0,
  filesCreated: 0,
  filesModified: filesChanged.length,
  deletedTests: [],
  disabledTests: [],
  forbiddenMarks: [],
});
