/** The job queue of a fleet: planners and workers run on any machine, landings and checks with the coordinator. */
import { hostname } from "node:os";
import type { Brief, PlanBrief, WorkBrief } from "../../core/brief.ts";
import { type Failure, failure, isAccounts, messageOf } from "../../core/failure.ts";
import { type Job, type JobId, jobId, type Outcome, taskOfJob } from "../../core/job.ts";
import type { Report } from "../../core/log/event.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Evidence } from "../../core/rules/evidence.ts";
import { addSpent } from "../../core/used.ts";
import type { JobTaken, Made } from "../../ports/fleet-jobs.ts";
import type { Answer, JobQueue, Recovered } from "../../ports/job-queue.ts";
import { harmless } from "../../text/words.ts";
import type { JobObjects } from "../objects/job-objects.ts";
import { outputRef } from "../objects/names.ts";
import { heldBy, keptBy } from "../repositories/names.ts";
import type { FleetOffers } from "./fleet-offers.ts";
import type { InProcessJobQueue } from "./in-process.ts";
import type { JobEnding } from "./job-ending.ts";

type PgBossOptions = {
  readonly run: string;
  readonly offers: FleetOffers;
  readonly objects: JobObjects;
  /** Executes the jobs that run with the coordinator. */
  readonly own: InProcessJobQueue;
  /** Whether a job is for the workers; a plan that was made before the run is not. */
  readonly travels: (kind: Job["kind"]) => boolean;
  /** The ref that keeps the work of a failed attempt. */
  readonly salvageRef: (of: Pick<WorkBrief, "run" | "task" | "attempt">) => string;
  /** Labels that every job needs. */
  readonly labels: readonly string[];
  /** Called when the coordinator's machine has begun a job. */
  readonly onTaken: (job: JobId, taken: JobTaken) => void;
  /** What a commit changes compared with the one that it was made from. */
  readonly evidenceOf: (base: string, commit: string, signal: AbortSignal) => Promise<Evidence | Failed>;
  /** Reads a file of the run that a worker wrote, for a bundle. */
  readonly readFile: (path: string) => Promise<Uint8Array | undefined>;
};

export class PgBossJobQueue implements JobQueue {
  readonly #options: PgBossOptions;
  readonly #stop = new AbortController();
  /** Jobs that no machine can find yet, because their commits are still being sent to the remote. */
  readonly #offering = new Map<JobId, AbortController>();
  readonly #dropping = new Set<Promise<void>>();

  constructor(options: PgBossOptions) {
    this.#options = options;
  }

  offer(job: Job, brief: Brief, report: (report: Report) => void): void {
    const { own, travels, onTaken } = this.#options;
    if (isAgents(brief) && travels(job.kind)) return void this.#offer(jobId(job), brief, report);
    own.offer(job, brief, report);
    if (isAgents(brief)) onTaken(jobId(job), { machine: hostname(), tries: 0, agoMs: 0 });
  }

  cancel(id: JobId): void {
    this.#options.own.cancel(id);
    this.#offering.get(id)?.abort();
    if (/^(?:plan|work):/.test(id)) void this.#options.offers.cancel(id);
  }

  async recover(job: Job, report: (report: Report) => void): Promise<Recovered> {
    const { own, offers, travels } = this.#options;
    if (!travels(job.kind) || (job.kind !== "plan" && job.kind !== "work")) return own.recover(job);
    const id = jobId(job);
    const found = await offers.find(id);
    if (found === "underway" || (typeof found === "object" && hasFailed(found))) {
      this.#await(id, report);
      return { is: "running" };
    }
    if (found === "unknown") return { is: "gone" };
    if (found.is === "cancelled" || found.is === "given-up")
      return { is: "gone", ...(found.used && { spent: found.used }) };
    return { is: "answered", answer: await this.#answerOf(id, found) };
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#options.own.close();
    await this.#options.offers.close();
    await this.settled();
  }

  /** Resolves once refused commits have been removed from the remote, or it did not answer. */
  async settled(): Promise<void> {
    await Promise.all(this.#dropping);
  }

  async #offer(id: JobId, brief: PlanBrief | WorkBrief, report: (report: Report) => void): Promise<void> {
    const { objects, offers } = this.#options;
    const callOff = new AbortController();
    this.#offering.set(id, callOff);
    using _ = { [Symbol.dispose]: () => this.#offering.delete(id) };
    const refuse = (why: Failure) =>
      report({ type: "ended", job: id, outcome: { is: "failed", failure: why } });
    const signal = AbortSignal.any([this.#stop.signal, callOff.signal]);
    const needs = await objects.offer(id, commitsOf(brief), signal);
    if (this.#stop.signal.aborted) return;
    if (callOff.signal.aborted) return refuse(CALLED_OFF);
    if (hasFailed(needs)) return refuse(needs.failure);
    this.#await(id, report);
    const labels = [...new Set([...this.#options.labels, ...(brief.spec.needs ?? [])])];
    const offered = await offers.offer({
      ...{ job: id, needs, labels, what: { is: "brief", brief } },
      priority: priorityOf(brief),
    });
    if (offered === "offered" && callOff.signal.aborted) await offers.cancel(id);
    // A coordinator that was replaced reports nothing more.
    if (offered !== "offered" && offered.failure.kind !== "interrupted") refuse(offered.failure);
  }

  #await(id: JobId, report: (report: Report) => void): void {
    this.#options.offers.follow(id, (end) => {
      void this.#answerOf(id, end).then((answer) => {
        if (!this.#stop.signal.aborted) report({ type: "ended", job: id, ...answer });
      });
    });
  }

  /**
   * The answer of a job. No result of a worker may crash the coordinator. Adds what machines used that lost the
   * job, and what the last machine used if it does not report that itself.
   */
  async #answerOf(id: JobId, end: JobEnding): Promise<Answer> {
    const { spent: own, ...answer } = await this.#readAnswer(id, end).catch((error: unknown) =>
      failed("agent-failed", `the answer of a worker cannot be used: ${messageOf(error)}`),
    );
    const isTaken = end.is === "answered" && end.result.is === "answer" && isSame(end.result.answer, answer);
    if (!isTaken && id.startsWith("work:")) this.#drop(id, end.tries);
    const spent = own && end.lost ? addSpent(own, end.lost) : (own ?? end.used);
    return { ...answer, ...(spent && { spent }) };
  }

  /** Removes a refused commit in the background. */
  #drop(id: JobId, tries: number): void {
    const dropping = this.#options.objects.drop(id, tries, this.#stop.signal).finally(() => {
      this.#dropping.delete(dropping);
    });
    this.#dropping.add(dropping);
  }

  /** Reads an answer. Its commits are fetched here before it is reported. */
  async #readAnswer(id: JobId, end: JobEnding): Promise<Answer> {
    if (end.is === "cancelled") {
      const spent = end.begun ? await this.#options.offers.lastWords(id) : undefined;
      return { outcome: { is: "failed", failure: CALLED_OFF }, ...(spent && { spent }) };
    }
    if (end.is === "given-up") return failed("agent-failed", `${end.tries + 1} machines died with this job`);
    if (end.is === "unusable") return failed("agent-failed", "a worker handed back what is no answer");
    const { result, offered } = end;
    const brief = offered.what.is === "brief" ? offered.what.brief : undefined;
    if (result.is !== "answer" || !brief || !isFor(brief, result.answer))
      return failed("agent-failed", "a worker answered something else");
    const { made } = result;
    const answer = withShortPark(result.answer);
    if (brief.kind !== "work") return answer;
    if (!isHandedIn(answer, brief, made))
      return { ...answer, ...failed("agent-failed", "a worker named a commit that it did not hand in") };
    const wrong = made && (await this.#take(brief, made, end.tries));
    if (wrong) return { ...answer, outcome: { is: "failed", failure: wrong } };
    return answer.outcome.is === "worked"
      ? { ...answer, outcome: await this.#seen(brief, answer.outcome) }
      : answer;
  }

  /**
   * Takes the evidence from the commit here, whatever the worker claims; only the unmet terms are the worker's
   * word.
   */
  async #seen(brief: WorkBrief, { handoff, evidence: said }: Worked): Promise<Outcome> {
    const { objects, evidenceOf } = this.#options;
    const { signal } = this.#stop;
    const { commit = brief.base, unmet } = said;
    const base = await objects.forkOf(brief.base, commit, signal);
    const evidence = hasFailed(base) ? base : await evidenceOf(base.commit, commit, signal);
    if (hasFailed(evidence)) return { is: "failed", failure: evidence.failure };
    return {
      ...{ is: "worked", handoff: { ...handoff, taskId: brief.task } },
      evidence: { ...evidence, ...(unmet && { unmet }) },
    };
  }

  /** Fetches the commit under names that this side chooses: a worker only says which commit it is. */
  async #take(brief: WorkBrief, made: Made, tries: number): Promise<Failure | undefined> {
    const { objects, run, salvageRef, readFile } = this.#options;
    const { commit } = made;
    const ref = outputRef(run, jobId(jobOf(brief)), tries);
    const bundle = made.bundle === undefined ? undefined : await readFile(made.bundle);
    if (made.bundle !== undefined && !bundle)
      return failure("repository", "the bundle of a worker is not there");
    const branch = `refs/heads/${brief.branch}`;
    const as = made.as === "salvage" ? [salvageRef(brief)] : [branch, keptBy(heldBy(run), branch)];
    const taken = { ref, commit, known: commitsOf(brief), ...(bundle && { bundle }) };
    return (await objects.take(taken, as, this.#stop.signal))?.failure;
  }
}

/** Of a worker's report about an account, only the kind and the time count; for an hour at most. */
function withShortPark(answer: Answer): Answer {
  const { outcome } = answer;
  if (outcome.is !== "failed" || !isAccounts(outcome.failure)) return answer;
  const { kind, account, waitMs, until } = outcome.failure;
  const of = account === undefined ? "an account" : `account ${harmless(account, MAX_ACCOUNT_CHARS)}`;
  const what = kind === "quota" ? `${of} is rate limited` : `the key of ${of} was refused there`;
  const saidMs = waitMs ?? (until === undefined ? undefined : until - Date.now());
  const parked = saidMs !== undefined && { waitMs: Math.max(0, Math.min(saidMs, MAX_PARK_MS)) };
  const said = { kind, message: `a worker says that ${what}`, ...(account !== undefined && { account }) };
  return { ...answer, outcome: { is: "failed", failure: { ...said, ...parked } } };
}

const MAX_ACCOUNT_CHARS = 100;
const MAX_PARK_MS = 3_600_000;

/**
 * Whether the worker's answer was accepted: evidence may replace its claims, but a failure in place of its outcome
 * refuses it.
 */
const isSame = ({ outcome: said }: Answer, { outcome }: Pick<Answer, "outcome">): boolean =>
  outcome === said || outcome.is !== "failed";

/** Whether the commit that the outcome names was handed in, or was there before. */
function isHandedIn({ outcome }: Answer, brief: WorkBrief, made: Made | undefined): boolean {
  if (outcome.is === "worked")
    return outcome.evidence.commit === undefined || outcome.evidence.commit === made?.commit;
  return outcome.is !== "called" || [...commitsOf(brief), made?.commit].includes(outcome.start);
}

type Worked = Extract<Outcome, { readonly is: "worked" }>;

/** Whether a job of this kind can end like this. */
function isFor(brief: Brief, { outcome }: Answer): boolean {
  if (outcome.is === "failed") return true;
  if (brief.kind !== "work") return outcome.is === "planned";
  if (outcome.is === "called") return taskOfJob(outcome.session) === brief.task;
  return outcome.is !== "planned";
}

const isAgents = (brief: Brief): brief is PlanBrief | WorkBrief =>
  brief.kind === "plan" || brief.kind === "work";

const jobOf = (brief: PlanBrief | WorkBrief): Job =>
  brief.kind === "plan"
    ? { kind: "plan", task: brief.task, turn: brief.turn }
    : { kind: "work", task: brief.task, attempt: brief.attempt };

const commitsOf = (brief: PlanBrief | WorkBrief): readonly string[] =>
  brief.kind === "plan" ? [brief.tip] : [brief.base, ...(brief.goOn ? [brief.goOn.start] : [])];

/** Planners come before workers, because other tasks wait for their plans. Gates come before both. */
const priorityOf = ({ kind, spec }: PlanBrief | WorkBrief): number =>
  (kind === "plan" ? 100 : 0) + MAX_PRIORITY - spec.priority;

const MAX_PRIORITY = 10;

const CALLED_OFF = failure("interrupted", "the job was called off");

const failed = (kind: "interrupted" | "agent-failed", why: string): Answer => ({
  outcome: { is: "failed", failure: failure(kind, why) },
});
