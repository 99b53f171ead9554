/** Drives the core of a run by hand in tests: inputs in, facts out, and answers of jobs as plain values. */
import assert from "node:assert/strict";
import type { AnsweredTask, PlanAnswer } from "../../src/core/answers/plan-answer.ts";
import { type Brief, briefOf } from "../../src/core/brief.ts";
import { type FailureKind, failure } from "../../src/core/failure.ts";
import { type Handoff, NO_METRICS } from "../../src/core/handoff.ts";
import type { Conflict, Job, JobId, Moved, Outcome, Spent } from "../../src/core/job.ts";
import type { Command, Event, Fact, Report } from "../../src/core/log/event.ts";
import { evolve } from "../../src/core/log/evolve.ts";
import { emptyState, type RunState } from "../../src/core/log/state.ts";
import { decide } from "../../src/core/rules/decide.ts";
import { due } from "../../src/core/rules/due.ts";
import type { Evidence } from "../../src/core/rules/evidence.ts";
import { defaultPolicy, type Policy } from "../../src/core/rules/policy.ts";
import type { Problem } from "../../src/core/rules/repair.ts";
import type { Delivers, Task, TaskId } from "../../src/core/task.ts";

export const MINUTE = 60_000;

/** Each section of the policy may be given in part. */
export type PolicyChanges = { readonly [K in keyof Policy]?: Partial<Policy[K]> | Policy[K] };

export function policyWith(changes: PolicyChanges): Policy {
  const merged = Object.entries(changes).map(([key, value]) => {
    const before = defaultPolicy[key as keyof Policy];
    const isSection = typeof value === "object" && !Array.isArray(value);
    return [key, isSection ? { ...(before as object), ...value } : value];
  });
  return { ...defaultPolicy, ...Object.fromEntries(merged) };
}

/** A task as a planner writes it; by default its scope is a file of its own name. */
export const task = (id: string, fields: Partial<AnsweredTask> = {}): AnsweredTask => ({
  id,
  description: `Make ${id}`,
  scope: [`${id}.ts`],
  acceptance: `${id} works`,
  after: [],
  delivers: "change",
  ...fields,
});

/** A task of four files, which are enough for a subplanner. */
export const large = (id: string, fields: Partial<AnsweredTask> = {}): AnsweredTask =>
  task(id, { scope: ["a", "b", "c", "d"].map((file) => `${id}/${file}.ts`), ...fields });

export type Planned = readonly AnsweredTask[];
type Work = Partial<Pick<Handoff, "status" | "summary" | "concerns" | "suggestions">> &
  Partial<Omit<Evidence, "commit">> & { readonly spent?: Spent };

export class CoreRun {
  readonly state: RunState = emptyState();
  readonly log: Event[] = [];
  readonly policy: Policy;
  now = 0;
  #commits = 0;

  /** A run that is opened and whose first check of the target is green, from which most tests start. */
  static green(changes: PolicyChanges = {}): CoreRun {
    const run = new CoreRun(changes);
    run.check();
    return run;
  }

  /** A run whose root planner has answered with `tasks`. */
  static planned(tasks: Planned, changes: PolicyChanges = {}): CoreRun {
    const run = CoreRun.green(changes);
    run.plan("t", tasks);
    return run;
  }

  /** `delivers`: "report" if the goal asks for an answer. */
  constructor(changes: PolicyChanges = {}, delivers?: Delivers) {
    this.policy = policyWith(changes);
    const request = { run: "r", goal: "make it", base: "base", ...(delivers && { delivers }) };
    this.say({ type: "open", request });
  }

  /** Handles messages and then everything that is due; gives the facts that follow. */
  say(...messages: readonly (Command | Report)[]): readonly Event[] {
    const before = this.log.length;
    for (const message of messages) this.#add(decide(this.state, { ...message, at: this.now }, this.policy));
    this.#follow();
    return this.log.slice(before);
  }

  /** Lets time pass, and handles every deadline on the way. */
  wait(ms: number): void {
    const end = this.now + ms;
    for (let steps = 0; steps < 10_000; steps += 1) {
      const { deadline } = due(this.state, this.policy, this.now);
      if (deadline === undefined || deadline > end) {
        this.now = end;
        this.#follow();
        return;
      }
      this.now = Math.max(this.now, deadline);
      this.say({ type: "tick" });
    }
    assert.fail(`deadlines without end at ${this.now}`);
  }

  // Answers of planners, workers, landings and checks.

  plan(id: string, tasks: Planned, fields: Partial<PlanAnswer> = {}): readonly Event[] {
    const answer = {
      scratchpad: "",
      tasks,
      deferred: [],
      addressed: [],
      done: undefined,
      notes: [],
      ...fields,
    };
    return this.answer(this.#jobOf("plan", id), { is: "planned", answer });
  }

  work(id: string, { spent, ...said }: Work = {}): readonly Event[] {
    return this.answer(this.#jobOf("work", id), this.worked(id, said), spent);
  }

  /** A worker's outcome: by default complete, with every file of its scope changed. */
  worked(id: string, said: Omit<Work, "spent"> = {}): Outcome {
    const { status = "complete", summary = `did ${id}`, concerns = [], suggestions = [], ...rest } = said;
    const filesChanged =
      rest.filesChanged ?? (this.task(id).spec.delivers === "report" ? [] : this.task(id).spec.scope);
    const handoff = {
      taskId: id,
      status,
      summary,
      diff: "",
      filesChanged: [],
      concerns,
      suggestions,
      metrics: NO_METRICS,
    };
    const evidence: Evidence = {
      diff: "",
      linesAdded: 0,
      linesRemoved: 0,
      filesCreated: 0,
      filesModified: 0,
      deletedTests: [],
      disabledTests: [],
      forbiddenMarks: [],
      ...rest,
      filesChanged,
      ...(filesChanged.length > 0 && { commit: `${id} made` }),
    };
    return { is: "worked", handoff, evidence };
  }

  fail(kind: "plan" | "work", id: string, why: FailureKind = "agent-failed", message = why as string) {
    return this.answer(this.#jobOf(kind, id), { is: "failed", failure: failure(why, message) });
  }

  /** The candidate is green and lands, without the members in conflict. */
  land(conflicts: readonly Conflict[] = []): readonly Event[] {
    const { members } = this.landing();
    const clashing = new Set(conflicts.map((c) => c.task));
    const merged = members.filter((m) => !clashing.has(m.task));
    if (merged.length === 0) return this.answer(this.#only("land"), { is: "unmergeable", conflicts });
    this.#commits += 1;
    const proof = this.state.target.health === "red" ? "red-to-red" : "green";
    const commit = `commit-${this.#commits}`;
    return this.answer(this.#only("land"), { is: "landed", commit, members: merged, conflicts, proof });
  }

  landRed(
    failures: readonly string[] = ["test: x"],
    conflicts: readonly Conflict[] = [],
    files: readonly string[] = [],
  ): readonly Event[] {
    const clashing = new Set(conflicts.map((c) => c.task));
    const members = this.landing().members.filter((m) => !clashing.has(m.task));
    return this.answer(this.#only("land"), { is: "red", members, conflicts, failures, files });
  }

  landMoved(moved: Moved): readonly Event[] {
    return this.answer(this.#only("land"), { is: "moved", ...moved });
  }

  landFailed(): readonly Event[] {
    return this.answer(this.#only("land"), { is: "failed", failure: failure("repository", "disk full") });
  }

  /** A check of the target that finds `failures`, each in `file`; "*": each in a file of its own name. */
  check(failures: readonly string[] = [], file = "broken.ts", moved?: Moved): readonly Event[] {
    const isTypes = (name: string) => name.startsWith("types: ");
    const of = (name: string, failing: readonly string[]) => ({
      name,
      line: `npm run ${name}`,
      green: failing.length === 0,
      failures: failing.map((failed) => failed.replace(/^\w+: /, "")),
    });
    const types = failures.filter(isTypes);
    const tests = failures.filter((name) => !isTypes(name));
    const report = { commands: [...(types.length > 0 ? [of("types", types)] : []), of("test", tests)] };
    const problems = failures.map(
      (name): Problem => ({
        class: isTypes(name) ? "types" : "tests",
        name,
        files: file === "" ? [] : [file === "*" ? `${name.replace("test: ", "")}.ts` : file],
        message: `${name} fails`,
      }),
    );
    const tip = this.state.target.tip;
    const isKnown = this.brief("check").seen !== undefined;
    const outcome: Outcome = {
      is: "checked",
      tip,
      report,
      problems,
      ...(isKnown && { isKnown }),
      ...(moved && { moved }),
    };
    return this.answer(this.#only("check"), outcome);
  }

  /** A red check of the target, and a second one that confirms it. */
  checkRed(failures: readonly string[] = ["test: x"], file = "broken.ts"): void {
    this.check(failures, file);
    if (this.state.target.health === "suspect") this.check(failures, file);
  }

  checkFailed(): readonly Event[] {
    return this.answer(this.#only("check"), { is: "failed", failure: failure("repository", "no gate") });
  }

  answer(job: string, outcome: Outcome, spent?: Spent): readonly Event[] {
    return this.say({ type: "ended", job: job as JobId, outcome, ...(spent && { spent }) });
  }

  /** Work and a landing of its own: the usual way to done. */
  finish(...ids: readonly string[]): void {
    for (const id of ids) {
      this.work(id);
      if (this.task(id).spec.delivers === "change") this.land();
    }
  }

  /** Fails as often as the policy allows. */
  failForGood(id: string): void {
    for (let n = 0; n < this.policy.retry.maxFailed; n += 1) this.fail("work", id);
    assert.equal(this.is(id), "failed");
  }

  // Queries.

  task(id: string): Task {
    const found = this.state.tasks.get(id as TaskId);
    assert.ok(found, `there is no task ${id}`);
    return found;
  }

  is(id: string): Task["state"]["is"] {
    return this.task(id).state.is;
  }

  running(kind?: Job["kind"]): readonly string[] {
    return [...this.state.running]
      .filter(([, { job }]) => kind === undefined || job.kind === kind)
      .map(([id]) => id);
  }

  /** The land job that is under way; fails if there is none. */
  landing(): Job & { readonly kind: "land" } {
    return this.#job(this.#only("land")) as Job & { readonly kind: "land" };
  }

  candidate(): readonly string[] {
    return this.running("land").length === 0 ? [] : this.landing().members.map((m) => m.task);
  }

  /** The brief of a turn's land job. */
  briefOfLanding(turn: number): Extract<Brief, { readonly kind: "land" }> {
    const brief = briefOf(this.state, this.#job(`land#${turn}`), this.policy);
    assert.ok(brief.kind === "land");
    return brief;
  }

  brief<K extends Job["kind"]>(kind: K, id?: string): Extract<Brief, { readonly kind: K }> {
    const job = id === undefined ? this.#only(kind) : this.#jobOf(kind, id);
    return briefOf(this.state, this.#job(job), this.policy) as Extract<Brief, { readonly kind: K }>;
  }

  events<T extends Fact["type"]>(type: T): readonly Extract<Event, { readonly type: T }>[] {
    return this.log.filter((e): e is Extract<Event, { readonly type: T }> => e.type === type);
  }

  get closed() {
    return this.state.closed;
  }

  isAsked(id: string): boolean {
    return this.running("plan").some((job) => job.startsWith(`plan:${id}#`));
  }

  #job(id: string): Job {
    return this.state.running.get(id as JobId)!.job;
  }

  #jobOf(kind: Job["kind"], id: string): string {
    const found = this.running(kind).find((job) => job.startsWith(`${kind}:${id}#`));
    assert.ok(found, `no ${kind} job of ${id} is running, but ${this.running().join(", ") || "nothing"}`);
    return found;
  }

  #only(kind: Job["kind"]): string {
    const [found, ...more] = this.running(kind);
    assert.ok(found && more.length === 0, `there is not one ${kind} job, but ${this.running().join(", ")}`);
    return found;
  }

  #follow(): void {
    for (let steps = 0; steps < 10_000; steps += 1) {
      const { facts } = due(this.state, this.policy, this.now);
      if (facts.length === 0) return;
      this.#add(facts);
    }
    assert.fail("there is always something more due");
  }

  #add(facts: readonly Fact[]): void {
    for (const fact of facts) {
      const event: Event = { ...fact, at: this.now };
      evolve(this.state, event);
      this.log.push(event);
    }
  }
}

/** A run of three tasks, of which the first has landed and the other two are in one candidate. */
export function twoToLand(): CoreRun {
  const run = CoreRun.planned([task("z"), task("a"), task("b")]);
  for (const id of ["t.1", "t.2", "t.3"]) run.work(id);
  run.land();
  return run;
}
