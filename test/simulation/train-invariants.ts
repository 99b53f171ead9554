/** Checks candidates that are gated at the same time, by the log and by the repository. */
import type { LandJob, Member } from "../../src/core/job.ts";
import type { Event } from "../../src/core/log/event.ts";
import type { RunState } from "../../src/core/log/state.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import type { TaskId } from "../../src/core/task.ts";
import type { ShakyRepository } from "./shaky-repository.ts";
import { must } from "./violation.ts";

/**
 * One job at a time may move the target, no task is in two candidates, and no more gates run than are allowed. Every
 * commit that the target was moved to had passed on the commit before it.
 */
export class TrainInvariants {
  readonly #gates: number;
  readonly #repository: ShakyRepository;
  /**
   * Own bookkeeping: land jobs under way, candidates that passed and wait, and the number of landings already checked.
   */
  readonly #jobs = new Map<string, LandJob>();
  readonly #waiting = new Map<number, readonly Member[]>();
  #seen = 0;

  constructor({ landing }: Policy, repository: ShakyRepository) {
    this.#gates = landing.gates;
    this.#repository = repository;
  }

  before(event: Event, { target }: RunState): void {
    if (event.type === "job.started" && event.job.kind === "land") this.#starting(event.job);
    if (event.type === "job.ended") this.#jobs.delete(event.job);
    if (event.type === "candidate.passed") this.#waiting.set(event.turn, event.passed.members);
    if (event.type === "landing.turned") for (const turn of event.drop ?? []) this.#waiting.delete(turn);
    if (event.type !== "batch.landed" || event.proof === "found") return;
    const landing = this.#repository.landings.find(({ commit }) => commit === event.commit);
    if (landing)
      must(landing.onto === target.tip, `${event.commit} landed on ${landing.onto}, not on ${target.tip}`);
    this.#waiting.delete(event.turn ?? 0);
  }

  #starting(job: LandJob): void {
    const others = [...this.#jobs.values()];
    const movers = others.filter(({ on }) => !on);
    if (!job.on)
      must(movers.length === 0, `land#${job.turn} and land#${movers[0]?.turn} may both move the target`);
    if (job.moves !== undefined)
      must(this.#waiting.has(job.moves), `land#${job.turn} moves to what has not passed`);
    const taken = new Set<TaskId>();
    for (const { members } of others) for (const { task } of members) taken.add(task);
    for (const [turn, members] of this.#waiting)
      if (turn !== job.moves) for (const { task } of members) taken.add(task);
    for (const { task } of job.members) must(!taken.has(task), `${task} is in two candidates at once`);
    this.#jobs.set(`land#${job.turn}`, job);
    const gating = [...this.#jobs.values()].filter(({ moves }) => moves === undefined);
    must(gating.length <= this.#gates, `${gating.length} gates at once, ${this.#gates} are allowed`);
  }

  /** Every commit that became the target had passed its gate, on the commit that was the target before. */
  after(_event: Event, { train }: RunState): void {
    const { landings, gated } = this.#repository;
    for (; this.#seen < landings.length; this.#seen += 1) {
      const { commit } = landings[this.#seen]!;
      must(gated.has(commit), `${commit} became the target and was never gated`);
    }
    if (this.#gates === 1) must(train.length === 0, "with one gate nothing is gated ahead");
  }
}
