/** Runs the engine: one loop that turns messages into facts, makes the facts durable, and starts what is due. */
import { briefOf } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import { type Job, type JobId, jobId, type Spent, slotOf, slotOfId } from "../core/job.ts";
import type { Event, Fact } from "../core/log/event.ts";
import { type RunState, wallTime } from "../core/log/state.ts";
import { isPaid } from "../core/rules/budget.ts";
import { decide } from "../core/rules/decide.ts";
import { due } from "../core/rules/due.ts";
import { isEnding } from "../core/rules/finish.ts";
import type { Policy } from "../core/rules/policy.ts";
import { policyProblems } from "../core/rules/policy-check.ts";
import { type Clock, MAX_APART_MS } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { Fold } from "./fold.ts";
import type { Inbox, Message, Post } from "./inbox.ts";

export type EngineParts = {
  readonly log: EventLog;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly policy: Policy;
  /** Called for each event right after it became part of the state, before it is durable. */
  readonly onFold?: (event: Event, state: RunState) => void;
};

/**
 * `stopped`: the run can be resumed from its log. `lost`: another engine has the run, the log cannot be read or
 * written, or the policy is invalid.
 */
export type EngineEnd =
  | { readonly is: "closed"; readonly state: RunState }
  | { readonly is: "stopped"; readonly state: RunState }
  | { readonly is: "lost"; readonly failure: Failure };

/**
 * There is no resume path: an engine always starts by replaying its log, which may be empty. `fold`: what the caller
 * has already read of it.
 */
export async function runEngine(
  parts: EngineParts,
  inbox: Inbox,
  signal: AbortSignal,
  fold: Fold = new Fold(),
): Promise<EngineEnd> {
  const problems = policyProblems(parts.policy);
  if (problems.length > 0) return { is: "lost", failure: failure("policy", problems.join("; ")) };
  const unreadable = await fold.catchUp(parts.log);
  if (unreadable) return { is: "lost", ...unreadable };
  const engine = new Engine(parts, inbox, fold);
  const callOff = parts.clock.onJump(() => inbox.send({ type: "tick" }));
  try {
    return await goOn(engine, signal);
  } finally {
    callOff();
  }
}

async function goOn(engine: Engine, signal: AbortSignal): Promise<EngineEnd> {
  let posts: readonly Post[] = await engine.recover();
  while (true) {
    engine.wake();
    for (const post of posts) engine.take(post);
    engine.followUp();
    const problem = await engine.commit();
    if (problem) return { is: "lost", failure: problem };
    if (engine.state.closed) return { is: "closed", state: engine.state };
    if (signal.aborted) return { is: "stopped", state: engine.state };
    posts = await engine.next(signal);
  }
}

/** Far more steps than facts can follow from one another. Beyond it, two rules undo each other. */
const MAX_STEPS = 10_000;

/** How long a run that could close waits for aborted jobs to report what they cost. */
const LAST_WORDS_MS = 30_000;

/** The state, what is not durable yet, and what to do in the world once it is. */
class Engine {
  readonly state: RunState;
  readonly #parts: EngineParts;
  readonly #inbox: Inbox;
  readonly #fold: Fold;
  #seq: number;
  /** How far the run's own time is ahead of this process's clock. */
  readonly #aheadMs: number;
  /** One time for all messages that are taken in together, and for all that follows from them. */
  #now = 0;
  #fresh: Event[] = [];
  #started: Job[] = [];
  #ended: JobId[] = [];
  #heard: (() => void)[] = [];
  #deadline: number | undefined;
  /** Paid jobs that were offered and have not reported yet. */
  readonly #underway = new Set<JobId>();
  /** Aborted jobs, with the time until which the end of the run waits for their costs. */
  readonly #asked = new Map<JobId, number>();

  constructor(parts: EngineParts, inbox: Inbox, fold: Fold) {
    this.#parts = parts;
    this.#inbox = inbox;
    this.#fold = fold;
    this.state = fold.state;
    this.#seq = fold.events;
    this.#aheadMs = this.#startTime(fold.latest) - parts.clock.now();
  }

  /**
   * While no engine ran, only the machine's clock shows how much time has passed. If that clock went back, it may have
   * been set back to an earlier setting: then the setting that gives the time nearest to the log counts. The log's time
   * never goes back.
   */
  #startTime(latest: number): number {
    const { aheadMs, wereAheadMs } = this.state;
    const times = [aheadMs, ...wereAheadMs].map((ms) => this.#parts.clock.wall() - ms);
    if (times[0]! >= latest) return times[0]!;
    const nearest = times.reduce((one, other) =>
      Math.abs(other - latest) < Math.abs(one - latest) ? other : one,
    );
    return Math.max(latest, nearest);
  }

  /**
   * Reports of jobs that the log has as running or that may still answer; and commands that already wait, so that a run
   * that is to be cancelled starts nothing before.
   */
  async recover(): Promise<readonly Post[]> {
    const { queue } = this.#parts;
    const messages: Message[] = [];
    const running = [...this.state.running.values()].map(({ job }) => job);
    for (const job of [...running, ...this.#fold.calledOff.values()]) {
      const found = await queue.recover(job, this.#inbox.send);
      if (found.is === "running" && isPaid(job)) this.#underway.add(jobId(job));
      if (found.is === "answered") messages.push({ type: "ended", job: jobId(job), ...found.answer });
      if (found.is === "gone") messages.push({ type: "interrupted", job: jobId(job), ...costOf(found) });
    }
    return [...messages.map((message) => ({ message })), ...this.#inbox.takeNow()];
  }

  /** The run's own time goes on evenly. A jump of the machine's clock is reported as an event. */
  wake(): void {
    const { clock } = this.#parts;
    this.#now = clock.now() + this.#aheadMs;
    const ms = Math.round(clock.wall() - wallTime(this.state, this.#now));
    if (Math.abs(ms) > MAX_APART_MS) this.take({ message: { type: "clock-jumped", ms } });
  }

  take({ message, heard }: Post): void {
    const { policy } = this.#parts;
    if (message.type === "ended") this.#underway.delete(message.job);
    const facts = decide(this.state, { ...message, at: this.#now }, policy);
    this.#add(facts);
    if (heard) this.#heard.push(() => heard(facts));
  }

  /** Repeats until nothing more follows from the state itself. */
  followUp(): void {
    const { policy } = this.#parts;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const { facts, deadline } = due(this.state, policy, this.#now);
      this.#deadline = deadline;
      if (facts.length === 0 || (this.#isLast(facts) && this.#waitsForLastWords())) return;
      this.#add(facts);
    }
    throw new Error(`no end after ${MAX_STEPS} steps; the last fact: ${JSON.stringify(this.#fresh.at(-1))}`);
  }

  /**
   * Writes the facts to the log first, then acts: nothing is done in the world before the log has the reason for it.
   */
  async commit(): Promise<Failure | undefined> {
    const { log, queue, policy } = this.#parts;
    if (this.#fresh.length > 0) {
      const appended = await log.append(this.#seq, this.#fresh);
      if (appended.is === "taken") return failure("repository", "another engine has taken over this run");
      if (appended.is === "failed") return appended.failure;
    }
    this.#seq += this.#fresh.length;
    const [started, ended, heard] = [this.#started, this.#ended, this.#heard];
    this.#fresh = [];
    this.#started = [];
    this.#ended = [];
    this.#heard = [];
    for (const tell of heard) tell();
    for (const id of ended) queue.cancel(id);
    for (const job of started) {
      if (!this.state.running.has(jobId(job))) continue;
      if (isPaid(job)) this.#underway.add(jobId(job));
      queue.offer(job, briefOf(this.state, job, policy), this.#inbox.send);
    }
    return undefined;
  }

  /** Sleeps until a message arrives, or until the deadline that `due` named. */
  async next(signal: AbortSignal): Promise<readonly Post[]> {
    const { clock } = this.#parts;
    if (this.#deadline === undefined) return this.#inbox.take(signal);
    const callOff = clock.wakeAt(this.#deadline - this.#aheadMs, () => this.#inbox.send({ type: "tick" }));
    const posts = await this.#inbox.take(signal);
    callOff();
    return posts;
  }

  #add(facts: readonly Fact[]): void {
    const at = this.#now;
    for (const fact of facts) {
      if (fact.type === "job.started") this.#starting(fact.job);
      if (fact.type === "run.closed") {
        this.#ended.push(...this.state.running.keys(), ...this.state.late.values().map(jobId));
      }
      const event: Event = { ...fact, at };
      this.#fold.take(event);
      this.#parts.onFold?.(event, this.state);
      if (fact.type === "job.ended" && this.#isOver(fact)) this.#ended.push(fact.job);
      this.#fresh.push(event);
    }
  }

  /** The end of the run, or the check of the target right before it. */
  #isLast(facts: readonly Fact[]): boolean {
    if (facts.some(({ type }) => type === "run.closed")) return true;
    const isLook = facts.every((fact) => fact.type === "job.started" && fact.job.kind === "check");
    return isLook && isEnding(this.state, this.#parts.policy);
  }

  /**
   * A closed log takes nothing more, so the costs of aborted jobs that report later would be lost. They are waited for
   * before the last check of the target, because a person may move the target back meanwhile.
   */
  #waitsForLastWords(): boolean {
    const calledOff = [...this.#underway].filter((id) => !this.state.running.has(id));
    const unasked = calledOff.filter((id) => !this.#asked.has(id));
    this.#ended.push(...unasked);
    for (const id of unasked) this.#asked.set(id, this.#now + LAST_WORDS_MS);
    const waits = calledOff.map((id) => this.#asked.get(id)!).filter((until) => until > this.#now);
    this.#deadline = Math.min(...waits, this.#deadline ?? Number.POSITIVE_INFINITY);
    return waits.length > 0;
  }

  /** The job's answer is not waited for: it was aborted, or it expired and late answers of its kind do not count. */
  #isOver({ job, how }: Fact & { readonly type: "job.ended" }): boolean {
    return how === "aborted" || (how === "expired" && !this.state.late.has(slotOfId(job)));
  }

  /** The job replaces the expired one of its slot, which may still be at work. */
  #starting(job: Job): void {
    const late = this.state.late.get(slotOf(job));
    if (late) this.#ended.push(jobId(late));
    this.#started.push(job);
  }
}

const costOf = ({ spent }: { readonly spent?: Spent }) => (spent ? { spent } : {});
