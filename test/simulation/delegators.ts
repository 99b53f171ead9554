/** Simulates workers that call for subtasks and ask, and people that answer or cancel, and checks the rules. */

import type { WorkBrief } from "../../src/core/brief.ts";
import { type Job, jobId } from "../../src/core/job.ts";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { type RunState, taskOf } from "../../src/core/log/state.ts";
import { chainOf, chainTop } from "../../src/core/rules/chain.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { type SubtaskQuestion, UNANSWERED, type WorkerCall } from "../../src/core/subtask.ts";
import { isSettled, parentId, type TaskId } from "../../src/core/task.ts";
import { type Random, randomFrom, seedFor } from "../../src/simulation/random.ts";
import type { Tally } from "./faults.ts";
import type { Reaction } from "./simulate.ts";
import { must } from "./violation.ts";
import type { Script } from "./virtual-queue.ts";

/** Uses random numbers of its own, so that all else happens as before. */
export class Delegators {
  readonly policy: Pick<Policy, "subtasks" | "questions">;
  readonly #seed: number;
  readonly #faults: Tally;
  readonly #random: Random;
  readonly #chance: number;
  /** The commit that each turn began from: a turn that goes on must be judged from the same one. */
  readonly #bases = new Map<string, string>();
  /** The commit that each waiting task goes on from: the snapshot of its workspace, or what its subtask made of it. */
  readonly #starts = new Map<TaskId, string>();
  /** How long the asking worker lets each question wait, by its attempt. */
  readonly #waits = new Map<string, number>();
  readonly #questions = new Map<string, SubtaskQuestion>();
  /** Everything that people answered, whether or not an engine accepted it. */
  readonly #answers = new Map<string, Set<string>>();
  #wrong: string | undefined;

  constructor(seed: number, faults: Tally, policy: Policy) {
    this.#seed = seed;
    this.#faults = faults;
    const random = randomFrom(seedFor(seed, "of part eight: subtasks"));
    this.#random = random;
    // Only every third seed has subtasks; the others go as they went before.
    this.#chance = seed % 3 === 2 ? random.pick([0.1, 0.3, 0.5]) : 0;
    this.policy = {
      subtasks: {
        ...policy.subtasks,
        maxDepth: random.pick([1, 3, 10, 10]),
        maxContinuations: random.pick([1, 3, 50]),
        maxTasks: random.pick([1, 5, 100]),
        maxMs: random.pick([60_000, 6 * 3_600_000]),
      },
      questions: { ...policy.questions, waitMs: random.pick([60_000, 1_800_000, 5 * 3_600_000]) },
    };
  }

  script(script: Script): Script {
    return {
      ...script,
      work: (brief) => this.#call(brief) ?? script.work(brief),
    };
  }

  #call(brief: WorkBrief): ReturnType<Script["work"]> | undefined {
    const job = `work:${brief.task}#${brief.attempt}`;
    const { goOn, base } = brief;
    if (goOn && base !== this.#bases.get(goOn.session))
      this.#wrong ??= `${job} goes on from ${base}, and ${goOn.session} began from ${this.#bases.get(goOn.session)}`;
    this.#bases.set(job, base);
    const die = randomFrom(seedFor(this.#seed, `${job} calls`));
    if (goOn?.isAnswering) return this.#answering(brief, die);
    if (!die.chance(this.#chance)) return undefined;
    const start = die.chance(0.3) ? (goOn?.start ?? base) : `${job} so far`;
    return { call: this.#what(brief, die), start };
  }

  /** The subtask of a task asks: the task answers, passes the question on with words, or passes it on without. */
  #answering({ goOn }: WorkBrief, die: Random): ReturnType<Script["work"]> {
    const question = String(goOn!.response.result.notes["question"]);
    const kind = die.pick(["answers", "answers", "passes on", "gives up"] as const);
    this.#faults.add(kind === "answers" ? "question answered by a task" : "question passed on");
    if (kind === "answers") return { outcome: { is: "answered", question, text: `as ${question} likes` } };
    if (kind === "gives up") return { outcome: { is: "passed-on", question } };
    return { outcome: { is: "passed-on", question, text: "what do you say?" } };
  }

  #what({ task, attempt, spec }: WorkBrief, die: Random): WorkerCall {
    const kind = die.pick([
      ...(["subtask", "subtask", "question", "garbled"] as const),
      spec.spawn ? "question" : "subtask", // A task that was called as a subtask asks more often.
    ]);
    if (kind === "garbled") {
      const result = { status: "FAILED", content: "", notes: { error: "unreadable" } } as const;
      return { is: "refused", response: { name: "subtask", result } };
    }
    if (kind === "question") {
      const own = die.chance(0.5) ? { default: "the first" } : {};
      const wait: { readonly waitMs?: number } = die.chance(0.3)
        ? { waitMs: die.spread(1_000, 3_600_000) }
        : {};
      this.#waits.set(`${task}#${attempt}`, wait.waitMs ?? Number.POSITIVE_INFINITY);
      return { is: "question", question: { text: "which?", ...own, ...wait } };
    }
    const isCycle = spec.spawn !== undefined && die.chance(0.3);
    return {
      is: "subtask",
      order: {
        ...{ type: "look", subtype: "subtask", template: "", description: `look into ${task}` },
        ...{ inputs: "{}", filePaths: [], context: CONTEXT },
        signature: isCycle ? spec.spawn!.signature : `${task}.${attempt}`,
        ...(die.chance(0.1) && { maxDepth: die.between(0, 1) }),
      },
    };
  }

  /** People answer in time or too late, and cancel a subtask or the task that waits for it. */
  react(event: Event): readonly Reaction[] {
    const random = this.#random;
    if (event.type === "subtask.spawned" && random.chance(0.1)) {
      this.#faults.add("cancelled while it waits");
      const task = random.pick([event.task, event.into.id]);
      return [{ afterMs: random.spread(1, 3_600_000), message: { type: "cancel", task } }];
    }
    const id =
      event.type === "question.asked"
        ? event.question.id
        : event.type === "question.passed"
          ? event.question
          : undefined;
    if (id === undefined || !random.chance(0.5)) return [];
    const text = `answer ${random.below(1000)}`;
    this.#answers.set(id, (this.#answers.get(id) ?? new Set()).add(text));
    return [{ afterMs: random.spread(1, 6 * 3_600_000), message: { type: "answer", question: id, text } }];
  }

  /** Kills an engine at a subtask or a question, between the end of one job and the start of the next. */
  kills(events: readonly Event[]): boolean {
    const isBetween = events.some(
      ({ type }) => type === "subtask.spawned" || type === "question.answered" || type === "question.asked",
    );
    const isKilled = isBetween && this.#random.chance(0.2);
    if (isKilled) this.#faults.add("engine killed at a subtask");
    return isKilled;
  }

  /**
   * A worker that called for something waits without a job. Its subtask runs only meanwhile, within depth, number and
   * time, and never does what a task above it is doing; it lands with its parent, which is told how it ended and goes on
   * from what it made. A question is answered once, by its default not before its time.
   */
  before(event: Event, state: RunState): void {
    must(this.#wrong === undefined, this.#wrong ?? "");
    for (const { id, task } of state.questions.values())
      must(!isSettled(taskOf(state, task)), `${id} is open, and ${task} has ended`);
    if (event.type === "job.started") this.#starting(event.job, state);
    if (event.type === "subtask.spawned") this.#spawning(event, state);
    if (
      event.type === "subtask.spawned" ||
      event.type === "subtask.refused" ||
      event.type === "question.asked"
    )
      this.#starts.set(event.task, event.start);
    if (event.type === "subtask.refused") this.#faults.add("subtask refused");
    if (event.type === "question.asked") {
      this.#faults.add("question asked");
      const { question, at, task, attempt } = event;
      const waitMs = Math.min(this.#waits.get(`${task}#${attempt}`)!, this.policy.questions.waitMs);
      must(
        question.until === at + waitMs,
        `${question.id} waits for ${question.until - at} ms, not ${waitMs}`,
      );
      this.#questions.set(event.question.id, event.question);
    }
    if (event.type === "question.answered") this.#answered(event);
    if (event.type === "task.handed-off" || event.type === "landing.proposed")
      must(!taskOf(state, event.task).spec.spawn, `${event.task} is a subtask, and lands by itself`);
    if (event.type === "task.done") this.#done(event, state);
    if (event.type === "run.closed" && event.how === "done")
      must(state.questions.size === 0, "the run is done, and a question is open");
  }

  #starting(job: Job, state: RunState): void {
    if (job.kind !== "work") return;
    const task = taskOf(state, job.task);
    const { state: now, goOn, spec } = task;
    if (now.is === "waiting")
      must(
        now.answering !== undefined && state.questions.get(now.answering)?.to === task.id,
        `${jobId(job)} is started while its task waits, and is asked nothing`,
      );
    if (spec.spawn) {
      const above = taskOf(state, parentId(task.id)!).state;
      const isFor = above.is === "waiting" && "subtask" in above.for && above.for.subtask === task.id;
      must(isFor, `${jobId(job)} is started, and nobody waits for its task`);
    }
    if (!goOn) return;
    must(goOn.response !== undefined, `${jobId(job)} goes on without a response`);
    const start = this.#starts.get(task.id);
    must(goOn.start === start, `${jobId(job)} goes on from ${goOn.start}, and not from ${start}`);
    const child = goOn.response!.name === "subtask" ? goOn.response!.result.notes["task_id"] : undefined;
    if (typeof child !== "string") return;
    const end = taskOf(state, child as TaskId);
    must(isSettled(end), `${task.id} goes on, and ${child} has not ended`);
    const isDone = goOn.response!.result.status === "COMPLETE";
    must(isDone === (end.state.is === "done"), `${task.id} is told wrongly how ${child} ended`);
  }

  #spawning({ task, into }: EventOf<"subtask.spawned">, state: RunState): void {
    this.#faults.add("subtask");
    const { maxDepth, maxTasks } = this.policy.subtasks;
    const seen = new Set([into.spec.spawn!.signature]);
    let levels = 1;
    for (let at = taskOf(state, task); at.spec.spawn; at = taskOf(state, parentId(at.id)!)) {
      must(!seen.has(at.spec.spawn.signature), `${into.id} does what ${at.id} is doing`);
      seen.add(at.spec.spawn.signature);
      levels += 1;
    }
    must(levels < maxDepth, `${into.id} is on level ${levels} of ${maxDepth}`);
    const others = chainOf(state, chainTop(state, taskOf(state, task))).length - 1;
    must(others < maxTasks, `${into.id} is one of more than ${maxTasks} subtasks`);
    must(into.spec.shape === "work", `${into.id} goes to a planner`);
  }

  #answered({ question: id, text, by, at }: EventOf<"question.answered">): void {
    const question = this.#questions.get(id);
    must(question !== undefined, `${id} is answered twice, or was never asked`);
    this.#questions.delete(id);
    if (by === "person") must(this.#answers.get(id)?.has(text) === true, `nobody said ${text}`);
    if (typeof by !== "string") must(text === `as ${id} likes`, `${id} has the answer to another question`);
    if (by !== "default") return;
    this.#faults.add("question answered by default");
    must(text === (question!.default ?? UNANSWERED), `${id} has a wrong default`);
    must(at >= question!.until, `${id} has its default before its time`);
  }

  /** A parent goes on from the commit that its subtask made. */
  #done({ task, handoff: { commit } }: EventOf<"task.done">, state: RunState): void {
    const { spec } = taskOf(state, task);
    if (spec.spawn && commit !== undefined) this.#starts.set(parentId(task)!, commit);
  }
}

const CONTEXT = {
  inherit_context: "none",
  accumulate_data: true,
  accumulation_format: "notes_only",
  fresh_context: "enabled",
} as const;
