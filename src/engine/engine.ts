/** How does a run go on? One loop: what was said becomes facts, facts become durable, what is due is started. */
import { briefOf } from "../core/brief.ts";
import { isPaid } from "../core/budget.ts";
import { decide } from "../core/decide.ts";
import { due } from "../core/due.ts";
import type { Event, Fact } from "../core/event.ts";
import { evolve } from "../core/evolve.ts";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import { type Job, type JobId, jobId, type Spent, slotOf, slotOfId } from "../core/job.ts";
import type { Policy } from "../core/policy.ts";
import { policyProblems } from "../core/policy-check.ts";
import { emptyState, type RunState } from "../core/state.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { Inbox, Message, Post } from "./inbox.ts";

export type EngineParts = {
  readonly log: EventLog;
  readonly queue: JobQueue;
  readonly clock: Clock;
  readonly policy: Policy;
};

/** `stopped`: the run can be resumed from its log. `lost`: another engine has it, the log cannot be read or written, or the policy makes no sense. */
export type EngineEnd =
  | { readonly is: "closed"; readonly state: RunState }
  | { readonly is: "stopped"; readonly state: RunState }
  | { readonly is: "lost"; readonly failure: Failure };

/** There is no resume path: an engine always starts by replaying its log, which may be empty. */
export async function runEngine(parts: EngineParts, inbox: Inbox, signal: AbortSignal): Promise<EngineEnd> {
  const problems = policyProblems(parts.policy);
  if (problems.length > 0) return { is: "lost", failure: failure("policy", problems.join("; ")) };
  const engine = new Engine(parts, inbox);
  const unreadable = await engine.replay();
  if (unreadable) return { is: "lost", failure: unreadable };
  for (const message of await engine.recover()) engine.take({ message });
  while (true) {
    engine.followUp();
    const problem = await engine.commit();
    if (problem) return { is: "lost", failure: problem };
    if (engine.state.closed) return { is: "closed", state: engine.state };
    if (signal.aborted) return { is: "stopped", state: engine.state };
    for (const post of await engine.next(signal)) engine.take(post);
  }
}

/** Far more steps than facts can follow from one another: past it, two rules undo each other. */
const MAX_STEPS = 10_000;

/** How long a run that could close waits for jobs that were called off, to hear what they cost. */
const LAST_WORDS_MS = 30_000;

/** The state, what is not durable yet, and what to do in the world once it is. */
class Engine {
  readonly state: RunState = emptyState();
  readonly #parts: EngineParts;
  readonly #inbox: Inbox;
  #seq = 0;
  #latest = 0;
  #fresh: Event[] = [];
  #started: Job[] = [];
  #ended: JobId[] = [];
  #heard: (() => void)[] = [];
  #deadline: number | undefined;
  /** Of those that cost something: offered, and not heard of yet. */
  readonly #underway = new Set<JobId>();
  /** Called off or expired in an earlier engine, and not heard of. */
  readonly #calledOff = new Map<JobId, Job>();
  #closeBy: number | undefined;

  constructor(parts: EngineParts, inbox: Inbox) {
    this.#parts = parts;
    this.#inbox = inbox;
  }

  async replay(): Promise<Failure | undefined> {
    try {
      for await (const event of this.#parts.log.read(0)) {
        if (event.type === "job.ended") this.#remember(event);
        evolve(this.state, event);
        this.#latest = event.at;
        this.#seq += 1;
      }
      return undefined;
    } catch (error) {
      return failure("repository", `the log cannot be read after event ${this.#seq}: ${messageOf(error)}`);
    }
  }

  /** What became of the jobs that the log says are running, or may still answer. */
  async recover(): Promise<readonly Message[]> {
    const { queue } = this.#parts;
    const messages: Message[] = [];
    const running = [...this.state.running.values()].map(({ job }) => job);
    for (const job of [...running, ...this.#calledOff.values()]) {
      const found = await queue.recover(job, this.#inbox.send);
      if (found.is === "running" && isPaid(job)) this.#underway.add(jobId(job));
      if (found.is === "answered") messages.push({ type: "ended", job: jobId(job), ...found.answer });
      if (found.is === "gone") messages.push({ type: "interrupted", job: jobId(job), ...costOf(found) });
    }
    return messages;
  }

  take({ message, heard }: Post): void {
    const { policy } = this.#parts;
    if (message.type === "ended") this.#underway.delete(message.job);
    const facts = decide(this.state, { ...message, at: this.#now() }, policy);
    this.#add(facts);
    if (heard) this.#heard.push(() => heard(facts));
  }

  /** Until nothing more follows from the state itself. */
  followUp(): void {
    const { policy } = this.#parts;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const { facts, deadline } = due(this.state, policy, this.#now());
      this.#deadline = deadline;
      const isClosing = facts.some(({ type }) => type === "run.closed");
      if (!isClosing) this.#closeBy = undefined; // It may have been about to, and gone on.
      if (facts.length === 0 || (isClosing && this.#waitsForLastWords())) return;
      this.#add(facts);
    }
    throw new Error(`no end after ${MAX_STEPS} steps; the last fact: ${JSON.stringify(this.#fresh.at(-1))}`);
  }

  /** Nothing is done in the world before the log has the reason for it. */
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

  /** Sleeps until something is said, or until the deadline that `due` named. */
  async next(signal: AbortSignal): Promise<readonly Post[]> {
    const { clock } = this.#parts;
    if (this.#deadline === undefined) return this.#inbox.take(signal);
    const callOff = clock.wakeAt(this.#deadline, () => this.#inbox.send({ type: "tick" }));
    const posts = await this.#inbox.take(signal);
    callOff();
    return posts;
  }

  /** The log's time does not go back, also when a machine's clock was set back between two engines. */
  #now(): number {
    return Math.max(this.#latest, this.#parts.clock.now());
  }

  #add(facts: readonly Fact[]): void {
    const at = this.#now();
    this.#latest = at;
    for (const fact of facts) {
      if (fact.type === "job.started") this.#starting(fact.job);
      if (fact.type === "run.closed") {
        this.#ended.push(...this.state.running.keys(), ...this.state.late.values().map(jobId));
      }
      const event: Event = { ...fact, at };
      evolve(this.state, event);
      if (fact.type === "job.ended" && this.#isOver(fact)) this.#ended.push(fact.job);
      this.#fresh.push(event);
    }
  }

  /** The log takes nothing more once it is closed, and what those have cost who were called off would be lost. */
  #waitsForLastWords(): boolean {
    const calledOff = [...this.#underway].filter((id) => !this.state.running.has(id));
    if (calledOff.length === 0) return false;
    if (this.#closeBy === undefined) this.#ended.push(...calledOff);
    this.#closeBy ??= this.#now() + LAST_WORDS_MS;
    this.#deadline = this.#closeBy;
    return this.#now() < this.#closeBy;
  }

  /** Before the event itself is part of the state. */
  #remember({ job, how }: Event & { readonly type: "job.ended" }): void {
    const running = this.state.running.get(job);
    const isGivenUp = how === "aborted" || how === "expired"; // Of what expired, another may have taken the place.
    if (isGivenUp && running && isPaid(running.job)) this.#calledOff.set(job, running.job);
    else this.#calledOff.delete(job);
  }

  /** Nobody waits for its answer: it was aborted, or expired and is not of the kind whose late answer counts. */
  #isOver({ job, how }: Fact & { readonly type: "job.ended" }): boolean {
    return how === "aborted" || (how === "expired" && !this.state.late.has(slotOfId(job)));
  }

  /** It replaces the expired job of its slot, which may still be at work. */
  #starting(job: Job): void {
    const late = this.state.late.get(slotOf(job));
    if (late) this.#ended.push(jobId(late));
    this.#started.push(job);
  }
}

const costOf = ({ spent }: { readonly spent?: Spent }) => (spent ? { spent } : {});
