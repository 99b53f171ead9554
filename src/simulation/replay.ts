/** Replays a recorded run: its tasks, answers and ends, with the durations that it had or with assumed ones. */
import type { PlanAnswer } from "../core/answers/plan-answer.ts";
import type { PlanBrief, WorkBrief } from "../core/brief.ts";
import { type Failure, failure } from "../core/failure.ts";
import { type Job, jobId, type Spent } from "../core/job.ts";
import type { Event } from "../core/log/event.ts";
import type { Policy } from "../core/rules/policy.ts";
import type { TaskId } from "../core/task.ts";
import type { Assumed } from "./assumed.ts";
import { worked } from "./forecast.ts";
import {
  type GateJob,
  NOTHING_MORE,
  type PlannedTurn,
  type RecordedAttempt,
  type Recording,
  TaskNames,
} from "./recording.ts";
import { simulate } from "./simulate.ts";
import { type Timeline, timelineOf } from "./timeline.ts";
import type { Fate, QueueScript, Worked } from "./virtual-queue.ts";
import { VirtualRepository } from "./virtual-repository.ts";

export async function replay(
  recording: Recording,
  policy: Policy,
): Promise<Timeline | { readonly failure: Failure }> {
  const player = new Player(recording);
  const repository = new VirtualRepository(recording.broken);
  const approvals = [...recording.approvals];
  const simulated = await simulate({
    goal: recording.goal,
    policy,
    repository,
    script: player,
    said: recording.said,
    happens: recording.happened.map(({ at, what }) => ({
      at,
      happens: () => (what === "moved" ? repository.moveFromOutside() : repository.decay(what)),
    })),
    react: (event) => {
      player.see(event);
      return event.type === "plan.proposed" ? approvals.splice(0, 1) : [];
    },
    flaky: recording.flaky,
    maxMs: MAX_MS,
  });
  return "stuck" in simulated
    ? { failure: failure("policy", `replayed, the run does not end: ${simulated.stuck}`) }
    : timelineOf(simulated.events);
}

/** A year: no run was so long. */
const MAX_MS = 365 * 24 * 60 * 60_000;

/** Answers as recorded, by the names of tasks; where the replay takes another course, with the most likely answer. */
class Player implements QueueScript {
  readonly #recording: Recording;
  readonly #names = new TaskNames();
  /** Of a planner's recorded turns, how many are used up. */
  readonly #turns = new Map<string, number>();
  readonly #flakes: Map<string, number>;
  #check: GateJob | undefined;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#flakes = new Map(recording.flakes);
  }

  /** Which task has which name: numbers are given in the order of events. */
  see(event: Event): void {
    if (event.type === "plan.accepted" || event.type === "repair.planned") this.#names.add(event.into);
  }

  ms(job: Job): number {
    const known = this.#entry(job);
    if (known) return known.ms;
    const others = job.kind === "work" ? (this.#recording.attempts.get(this.#nameOf(job.task)) ?? []) : [];
    return others.at(-1)?.ms ?? this.#recording.usualMs[job.kind];
  }

  plan(brief: PlanBrief): PlanAnswer {
    const turn = this.#turn(brief.task, brief.active.length === 0);
    return turn && !("kind" in turn.said) ? turn.said : NOTHING_MORE;
  }

  work(brief: WorkBrief): Worked {
    const { task, attempt } = brief;
    const known = this.#recording.attempts.get(this.#nameOf(task)) ?? [];
    const entry = known[attempt - 1];
    const files = entry?.files ?? known.findLast((one) => one.files)?.files;
    const usual = worked(brief, entry?.refused === "red");
    if (!files || files.length === 0 || brief.spec.delivers === "report") return usual;
    // Git merges most changes to one file: only where it was seen not to, they meet.
    const meets = entry?.refused === "conflict" ? files : [];
    return {
      ...usual,
      evidence: { ...usual.evidence, filesChanged: files },
      change: { ...usual.change, files, meets },
    };
  }

  cost(job: Job): Spent {
    return this.#entry(job)?.spent ?? { tokens: 0 };
  }

  #nameOf(task: TaskId): string {
    return this.#names.of(task);
  }

  #entry(job: Job): RecordedAttempt | PlannedTurn | GateJob | undefined {
    const { plans, attempts, lands, checks } = this.#recording;
    switch (job.kind) {
      case "plan":
        return plans.get(this.#nameOf(job.task))?.[job.turn - 1];
      case "work":
        return attempts.get(this.#nameOf(job.task))?.[job.attempt - 1];
      case "land":
        return lands[job.turn - 1];
      case "check":
        return checks[job.turn - 1];
    }
  }

  /** The next that was recorded. One that had nothing to say, as others were at work, is passed over if none are. */
  #turn(task: TaskId, isIdle: boolean): PlannedTurn | undefined {
    const name = this.#nameOf(task);
    const all = this.#recording.plans.get(name) ?? [];
    let next = this.#turns.get(name) ?? 0;
    const hasMore = () => all.slice(next + 1).some((turn) => hasTasks(turn));
    while (next < all.length && isIdle && !hasTasks(all[next]!) && hasMore()) next += 1;
    this.#turns.set(name, next + 1);
    return all[next];
  }

  fate(job: Job, ms: number): Fate {
    const entry = this.#entry(job);
    if (job.kind === "check") this.#check = entry; // One at a time.
    if (entry?.end === "dies") return { is: "dies" };
    const why = failureOf(job, entry);
    if (!why) return { is: "honest", ms };
    if (job.kind === "plan") this.#turns.set(this.#nameOf(job.task), job.turn); // It is used up.
    return { is: "instead", ms, outcome: { is: "failed", failure: why } };
  }

  /** A candidate is named by its members, after the commit that it is on; a look at the target has none. */
  flake(tree: string): readonly string[] {
    const [, ...members] = tree.split(" ");
    if (members.length === 0) return this.#check?.flakes ?? [];
    const name = members
      .map((member) => {
        const dot = member.lastIndexOf(".");
        return `${this.#nameOf(member.slice(0, dot) as TaskId)}#${member.slice(dot + 1)}`;
      })
      .sort()
      .join(" ");
    const left = this.#flakes.get(name) ?? 0;
    if (left === 0) return [];
    this.#flakes.set(name, left - 1);
    return [`test: ${name} comes and goes`];
  }
}

const hasTasks = ({ said }: PlannedTurn): boolean => "kind" in said || said.tasks.length > 0;

function failureOf(
  job: Job,
  entry: RecordedAttempt | PlannedTurn | GateJob | undefined,
): Failure | undefined {
  if (!entry) return undefined;
  if ("said" in entry) return "kind" in entry.said ? entry.said : undefined;
  if ("failure" in entry && entry.failure && !("files" in entry && entry.refused)) return entry.failure;
  const isLost = job.kind === "work" && !("files" in entry);
  return isLost ? failure("interrupted", `${jobId(job)} left no result`) : undefined;
}

/** Turns a recorded run into a forecast of it: its tasks with assumed durations and no failures. */
export function withoutHistory(recording: Recording, assumed: Assumed): Recording {
  const answered = { end: "answered" } as const;
  const planMs = followsPlan(recording) ? 0 : assumed.planMs; // It was there already.
  return {
    goal: recording.goal,
    plans: new Map(
      [...recording.plans].map(([name, turns]) => [
        name,
        turns.flatMap((turn) => ("kind" in turn.said ? [] : [{ ...answered, ms: planMs, said: turn.said }])),
      ]),
    ),
    attempts: new Map(
      [...recording.attempts].map(([name, attempts]) => {
        const files = attempts.findLast((one) => one.files)?.files ?? [];
        return [name, [{ ...answered, ms: assumed.workMs, files }]];
      }),
    ),
    lands: [],
    checks: [],
    usualMs: {
      plan: planMs,
      work: assumed.workMs,
      land: assumed.gateMs,
      check: assumed.gateMs,
    },
    broken: [],
    flakes: new Map(),
    happened: [],
    said: [],
    approvals: recording.approvals,
    flaky: [],
    inexact: [],
  };
}

/** Only tasks of a plan that was given have terms. */
const followsPlan = ({ plans }: Recording): boolean =>
  [...plans.values()].flat().some(({ said }) => !("kind" in said) && said.tasks.some(({ terms }) => terms));
