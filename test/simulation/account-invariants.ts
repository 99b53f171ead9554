/** Checks accounts and money after every event, with bookkeeping of its own from the log alone. */

import { type Failure, isAccounts } from "../../src/core/failure.ts";
import { type Job, type JobId, jobId, type Spent, taskOfJob } from "../../src/core/job.ts";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { type RunState, taskOf } from "../../src/core/log/state.ts";
import { isPaid } from "../../src/core/rules/budget.ts";
import { accountsOf } from "../../src/core/rules/governor.ts";
import type { Limit, Policy } from "../../src/core/rules/policy.ts";
import { isRepair, ROOT, type Task, type TaskId } from "../../src/core/task.ts";
import { must } from "./violation.ts";

type Trouble = { readonly is: "parked" | "refused"; readonly until: number };
/**
 * `givenMs`: the time that the job has from `at` on. It counts from the offer, and anew when a machine takes the job.
 */
type Started = { readonly at: number; readonly givenMs: number; readonly troubled: ReadonlySet<string> };

/**
 * No plan or work job starts while all its accounts are parked or refused. A quota or a refused key is charged to no
 * task, and waiting for it costs no lease. Each token is counted once, for its task, its subtree and the run.
 */
export class AccountInvariants {
  readonly #policy: Policy;
  readonly #troubles = new Map<string, Trouble>();
  /** For each account the spans in which it was parked. */
  readonly #spans = new Map<string, { from: number; until: number }[]>();
  readonly #started = new Map<JobId, Started>();
  /** By task: the tokens used, with the reserve of calls whose cost was never reported. */
  readonly #used = new Map<TaskId, number>();
  #exact = 0;
  #all = 0;
  /** The number of jobs that answered after their reserve was released. */
  #late = 0;
  #isExhausted = false;
  #jumpedAt = -1;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** `state` is the state before the event. */
  before(event: Event, state: RunState): void {
    if (event.type === "job.started" && isPaid(event.job)) this.#starting(event.job, state, event.at);
    if (event.type === "job.taken" || event.type === "job.returned") this.#taking(event);
    if (event.type === "job.ended") this.#ending(event, state);
    if (event.type === "clock.jumped") this.#jumpedAt = event.at;
    if (event.type === "account.parked") this.#parking(event);
    if (event.type === "account.refused") this.#trouble(event.account, { is: "refused", until: 0 }, event.at);
    if (event.type === "account.woken") this.#waking(event);
    if (event.type === "budget.exhausted") this.#isExhausted = true;
    if (event.type === "task.retried" || event.type === "plan.rejected") this.#blaming(event, state);
    if (event.type === "run.closed") this.#closing(state);
  }

  /** Whether accounts and budgets let the task start now. */
  mayStart(kind: "plan" | "work", task: Task, state: RunState): boolean {
    const chain = accountsOf(this.#policy, kind, task.spec);
    return chain.some((account) => !this.#troubles.has(account)) && this.#isPaidFor(task, state);
  }

  #starting(job: Job & { readonly kind: "plan" | "work" }, state: RunState, at: number): void {
    const id = jobId(job);
    const task = taskOf(state, job.task);
    const chain = accountsOf(this.#policy, job.kind, task.spec);
    must(
      chain.some((account) => !this.#troubles.has(account)),
      `${id} started while ${chain.join(", ")} cannot be called`,
    );
    must(this.#isPaidFor(task, state), `${id} was not in the budget`);
    const givenMs = this.#policy.offerMs + this.#policy.leaseMs[job.kind];
    this.#started.set(id, { at, givenMs, troubled: new Set(this.#troubles.keys()) });
  }

  #taking(event: EventOf<"job.taken" | "job.returned">): void {
    const { type, job } = event;
    const at = event.type === "job.taken" ? event.since : event.at;
    const started = this.#started.get(job);
    const { leaseMs, offerMs } = this.#policy;
    const givenMs =
      leaseMs[job.startsWith("plan:") ? "plan" : "work"] + (type === "job.returned" ? offerMs : 0);
    if (started) this.#started.set(job, { ...started, at, givenMs });
  }

  #isPaidFor(task: Task, { running }: RunState): boolean {
    const { budget } = this.#policy;
    const isLanding = isRepair(task) || task.tries.refused > 0 || task.spec.spawn?.isForLanding === true;
    if (this.#isExhausted && !isLanding) return false;
    const jobs = [...running.values()].flatMap(({ job }) => (isPaid(job) ? [job.task] : []));
    const kept = isLanding ? 0 : budget.landingShare;
    const max = budget.maxTokens === undefined ? undefined : budget.maxTokens * (1 - kept);
    if (max !== undefined && this.#all + (jobs.length + 1) * budget.reserveTokens > max + 1e-6) return false;
    if (task.id === ROOT) return true;
    const top = task.id.split(".").slice(0, 2).join(".");
    const inTop = (id: TaskId) => id === top || id.startsWith(`${top}.`);
    const usedIn = [...this.#used].reduce((sum, [id, used]) => sum + (inTop(id) ? used : 0), 0);
    return (
      this.#fits(budget.task, this.#used.get(task.id) ?? 0, 1) &&
      this.#fits(budget.subtree, usedIn, jobs.filter(inTop).length + 1)
    );
  }

  #fits(limit: Limit | undefined, used: number, jobs: number): boolean {
    const max = limit?.maxTokens;
    return max === undefined || used + jobs * Math.min(max, this.#policy.budget.reserveTokens) <= max;
  }

  #ending({ job: id, how, spent, at }: EventOf<"job.ended">, state: RunState): void {
    const running = state.running.get(id)?.job;
    if (how === "expired" && running && isPaid(running)) this.#expiring(running, state, at);
    if (how === "answered-late" || how === "dropped") this.#late += 1;
    if (spent) this.#charge(id, spent);
  }

  /** The time in which all of a job's accounts were parked does not count against its lease. */
  #expiring(job: Job & { readonly kind: "plan" | "work" }, state: RunState, at: number): void {
    const id = jobId(job);
    const { at: from, givenMs } = this.#started.get(id)!;
    const chain = accountsOf(this.#policy, job.kind, taskOf(state, job.task).spec);
    const held = this.#heldMs(chain, from, at);
    const had = at - from - held;
    must(
      had >= givenMs,
      `${id} was given up after ${had} ms and ${held} ms of waiting for ${chain.join(", ")}`,
    );
  }

  /** How long all accounts of the chain were parked at the same time. */
  #heldMs(chain: readonly string[], from: number, to: number): number {
    const spans = chain.map((account) => this.#spans.get(account) ?? []);
    const edges = spans.flat().flatMap((span) => [span.from, span.until]);
    const times = [from, ...edges.filter((time) => time > from && time < to), to].sort((a, b) => a - b);
    return times.slice(1).reduce((sum, until, i) => {
      const since = times[i]!;
      const isHeld = spans.every((of) => of.some((span) => span.from <= since && span.until >= until));
      return sum + (isHeld ? until - since : 0);
    }, 0);
  }

  #charge(id: JobId, { tokens, unaccounted }: Spent): void {
    const { maxTokens, reserveTokens } = this.#policy.budget;
    const charged = tokens + (unaccounted?.tokens ?? 0);
    const task = taskOfJob(id) ?? ROOT;
    this.#used.set(task, (this.#used.get(task) ?? 0) + charged);
    this.#exact += tokens;
    this.#all += charged;
    must(
      maxTokens === undefined || this.#all <= maxTokens + this.#late * reserveTokens,
      `${this.#all} tokens were used, of ${maxTokens}`,
    );
  }

  #parking({ account, until, at }: EventOf<"account.parked">): void {
    const before = this.#troubles.get(account);
    must(before?.is !== "refused", `${account} was parked although its key is refused`);
    const isMoved = at === this.#jumpedAt && before !== undefined;
    must(isMoved || before === undefined || until > before.until, `${account} was parked for a shorter time`);
    must(isMoved ? until >= at : until > at, `${account} is parked until ${until}`);
    must(until <= at + this.#policy.quota.maxUntilMs, `${account} is parked until ${until}`);
    this.#trouble(account, { is: "parked", until }, at);
  }

  #trouble(account: string, trouble: Trouble, at: number): void {
    const spans = this.#spans.get(account) ?? [];
    this.#spans.set(account, spans);
    const open = spans.at(-1);
    if (trouble.is === "parked" && open && open.until > at) open.until = trouble.until;
    else if (trouble.is === "parked") spans.push({ from: at, until: trouble.until });
    else if (open && open.until > at) open.until = at;
    this.#troubles.set(account, trouble);
  }

  #waking({ account, at }: EventOf<"account.woken">): void {
    const trouble = this.#troubles.get(account);
    must(trouble !== undefined, `${account} was woken without being in trouble`);
    must(at >= trouble!.until, `${account} was woken too early`);
    this.#troubles.delete(account);
  }

  /** A job that started before an account's trouble was known is not charged for that trouble. */
  #blaming(event: EventOf<"task.retried" | "plan.rejected">, state: RunState): void {
    const { failure, charge } = event;
    if (!isAccounts(failure) || !this.#isNews(event, failure, state)) return;
    must(charge === "nothing", `${event.task} was charged for ${failure.kind}: ${charge}`);
  }

  #isNews(event: EventOf<"task.retried" | "plan.rejected">, { account }: Failure, state: RunState): boolean {
    const { turns } = taskOf(state, event.task).tries;
    const job: Job =
      event.type === "task.retried"
        ? { kind: "work", task: event.task, attempt: event.attempt }
        : { kind: "plan", task: event.task, turn: turns };
    return !this.#started.get(jobId(job))!.troubled.has(account ?? "");
  }

  #closing({ tasks, subtrees, spent }: RunState): void {
    const sum = (all: Iterable<{ readonly tokens: number }>) =>
      [...all].reduce((tokens, used) => tokens + used.tokens, 0);
    const root = tasks.get(ROOT)!.used;
    must(spent.tokens === this.#exact, `${spent.tokens} tokens are known, but ${this.#exact} were said`);
    must(spent.tokens + spent.unaccounted.tokens === this.#all, "what was cut off is not all counted");
    must(
      sum([...tasks.values()].map(({ used }) => used)) === spent.tokens,
      "what the tasks have used is not what the run has",
    );
    must(
      sum([...subtrees.values(), root]) === spent.tokens,
      "what the subtrees have used is not what the run has",
    );
  }
}
