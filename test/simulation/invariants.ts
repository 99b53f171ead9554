/** Checks what must hold after every event of a simulated run, with bookkeeping of its own where possible. */

import { type Accept, judgeGate } from "../../src/core/gate.ts";
import { type Job, jobId } from "../../src/core/job.ts";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { evolve } from "../../src/core/log/evolve.ts";
import { emptyState, LANE, type RunState, taskOf } from "../../src/core/log/state.ts";
import { chainTop } from "../../src/core/rules/chain.ts";
import { filesOf, isLoose } from "../../src/core/rules/held-files.ts";
import type { Policy } from "../../src/core/rules/policy.ts";
import { contains, overlaps } from "../../src/core/scope.ts";
import { isRepair, isSettled, parentId, ROOT, type Task, type TaskId } from "../../src/core/task.ts";
import { AccountInvariants } from "./account-invariants.ts";
import { FleetInvariants } from "./fleets.ts";
import { GateRunInvariants } from "./gate-run-invariants.ts";
import { GivenUpInvariants } from "./given-up-invariants.ts";
import { isPlannedOut, type Team } from "./scripted-team.ts";
import { SetupInvariants } from "./setup-invariants.ts";
import type { ShakyRepository } from "./shaky-repository.ts";
import { TrainInvariants } from "./train-invariants.ts";
import { must } from "./violation.ts";

/**
 * 1. Time does not go back. A run is opened once, first; nothing follows its end.
 * 2. Every job is started once, within capacity and budget; never for a settled task, below a settled parent, or while
 *    the run is paused or cancelled; while a plan waits for approval, only for fix tasks.
 * 3. A task starts only when everything in its `after` is done, that is landed; the most urgent first.
 * 4. No two tasks are at work on the same files, as far as these are known. A child stays inside its parent's scope.
 * 5. Only the newest attempt of a task is used.
 * 6. Nothing lands twice. What is said to have landed is in the repository. On a red target a task lands only alone,
 *    and makes nothing worse.
 * 7. No task is refused for a red gate that is green alone on the target.
 * 8. A planner is finished only if none of its tasks is active, it has heard of all of them, and it has nothing more to
 *    ask for. An unreachable or unreadable planner never makes a run done.
 * 9. Fix tasks keep their limits and never repeat a pending one.
 * 10. A task that is settled stays so. No counter exceeds its limit.
 * 11. A run that is done has landed its goal on a green target, where everything that it calls landed still is or is
 *     known to be gone, and leaves nothing; any other says what is left.
 * 12. Every run ends. Replay equals the live state. The same seed gives the same log, byte for byte (`story.ts`).
 *
 * Each file beside this one that calls `must` says its own rules: accounts, trains, gate runs, set-ups, tasks that were
 * given up, fleets, the clock, changes of the gate, and workers that call.
 */
export class Invariants {
  readonly state: RunState = emptyState();
  readonly #policy: Policy;
  readonly #repository: ShakyRepository;
  readonly #team: Team;
  readonly #accounts: AccountInvariants;
  readonly #givenUp = new GivenUpInvariants();
  readonly #setup: SetupInvariants;
  readonly #fleet: FleetInvariants;
  readonly #trains: TrainInvariants;
  readonly #gateRuns: GateRunInvariants;
  readonly #isGateFickle: boolean;
  /** Own bookkeeping: tasks that landed, jobs that were started, tasks that ended, and news that planners were told. */
  readonly #landed = new Set<TaskId>();
  readonly #started = new Set<string>();
  readonly #ended = new Map<TaskId, string>();
  readonly #held = new Map<TaskId, Set<TaskId>>();
  readonly #heard = new Map<TaskId, number>();
  /** Tasks that were proposed, and neither approved nor cancelled. */
  readonly #proposed = new Set<TaskId>();
  #hasDeclined = false;
  #seq = 0;
  #lastAt = 0;

  constructor(policy: Policy, repository: ShakyRepository, team: Team, isGateFickle = false) {
    this.#isGateFickle = isGateFickle;
    this.#gateRuns = new GateRunInvariants(policy);
    this.#team = team;
    this.#accounts = new AccountInvariants(policy);
    this.#setup = new SetupInvariants(policy);
    this.#fleet = new FleetInvariants(policy);
    this.#trains = new TrainInvariants(policy, repository);
    this.#policy = policy;
    this.#repository = repository;
  }

  observe(event: Event): void {
    this.#seq += 1;
    must(this.state.closed === undefined, `nothing follows the end, but ${event.type} did`);
    must(event.at >= this.#lastAt, "time does not go back in the log");
    must((event.type === "run.opened") === (this.#seq === 1), "a run is opened once, first");
    this.#lastAt = event.at;
    this.#givenUp.before(event, this.state);
    this.#setup.before(event);
    this.#fleet.before(event, this.state);
    this.#trains.before(event, this.state);
    this.#gateRuns.before(event, this.state);
    this.#before(event);
    this.#accounts.before(event, this.state);
    evolve(this.state, event);
    this.#after(event);
  }

  #before(event: Event): void {
    if (event.type === "job.started") this.#starting(event.job);
    if (event.type === "batch.landed") this.#landing(event);
    if (event.type === "task.handed-off" || event.type === "task.retried") this.#fenced(event);
    if (event.type === "task.retried" && event.failure.kind === "gate-red") this.#notInnocent(event);
    if (event.type === "plan.accepted" || event.type === "plan.ended") this.#hearing(event);
    if (event.type === "plan.proposed") for (const id of event.tasks) this.#proposed.add(id);
    if (event.type === "plan.approved" || event.type === "plan.declined") this.#proposed.clear();
    if (event.type === "plan.declined") this.#hasDeclined = true;
    if (event.type === "run.closed") this.#closing(event);
    if (event.type === "repair.planned") this.#repairing(event);
  }

  #starting(job: Job): void {
    const { state } = this;
    const id = jobId(job);
    must(!this.#started.has(id), `${id} is started once`);
    this.#started.add(id);
    if (job.kind === "check") return;
    if (job.kind === "land") {
      const blind = state.target.checkErrors >= this.#policy.sweep.maxErrorsInARow;
      must(blind || state.target.health !== "suspect", "nothing lands while the target is under suspicion");
      for (const { task } of job.members) this.#mayLand(taskOf(state, task), job.members.length);
      return;
    }
    const task = taskOf(state, job.task);
    must(!isSettled(task), `${id} is for a settled task`);
    must(
      !state.paused && state.cancelling === undefined,
      `${id} started while the run is paused or cancelled`,
    );
    const fixes = isRepair(taskOf(state, chainTop(state, task)));
    must(this.#proposed.size === 0 || fixes, `${id} started while a plan waits for approval`);
    for (const dependency of task.spec.after) {
      must(taskOf(state, dependency).state.is === "done", `${id} started before ${dependency} was done`);
    }
    const above = parentId(job.task);
    must(
      above === undefined || isRepair(task) || !isSettled(taskOf(state, above)),
      `${id} started below a settled task`,
    );
    this.#dispatching(task);
    if (job.kind === "work") this.#startingWork(task);
  }

  /** A task holds its files from its dispatch until it is settled, against the other tasks of its planner. */
  #dispatching(task: Task): void {
    const above = parentId(task.id);
    const { attempts, turns } = task.tries;
    if (above === undefined || task.spec.delivers === "report" || isRepair(task) || attempts + turns > 0)
      return;
    const held = this.#held.get(above) ?? new Set();
    this.#held.set(above, held);
    for (const id of held) {
      const other = taskOf(this.state, id);
      if (isSettled(other)) held.delete(id);
      else if (this.#policy.overlap === "serialise") {
        must(!overlaps(this.#heldBy(other), filesOf(task)), `${task.id} started while ${id} holds its files`);
      }
    }
    held.add(task.id);
  }

  /** A task without known files holds those that it is known to change, while it is at work or landing. */
  #heldBy(task: Task): readonly string[] {
    const isUnderWay = task.state.is === "landing" || this.#atWork().includes(task);
    return isLoose(task) && !isUnderWay ? [] : filesOf(task);
  }

  #startingWork(task: Task): void {
    const { state } = this;
    const others = this.#atWork();
    // A task that waits only answers a question.
    const takesFiles = task.spec.delivers === "change" && task.state.is !== "waiting";
    if (this.#policy.overlap === "serialise" && takesFiles) {
      const met = others.find((other) => overlaps(filesOf(other), filesOf(task)));
      must(met === undefined, `${task.id} and ${met?.id} are at work on the same files`);
    }
    for (const id of state.dag.ready(LANE.work)) {
      if (id === task.id) break;
      const earlier = taskOf(state, id as TaskId);
      const meets = (other: Task) => overlaps(filesOf(other), filesOf(earlier));
      const waits =
        this.#dispatched(earlier).some(meets) ||
        this.#queued().some((o) => o.order < earlier.order && meets(o)) ||
        !this.#accounts.mayStart("work", earlier, state);
      must(waits, `${task.id} started before ${id}, which is more urgent`);
    }
  }

  /** The tasks that may hold files against this one: all with a job, except those above it. */
  #dispatched(task: Task): readonly Task[] {
    return [...this.state.running.values()].flatMap(({ job }) =>
      (job.kind === "plan" || job.kind === "work") && job.task !== ROOT && !task.id.startsWith(`${job.task}.`)
        ? [taskOf(this.state, job.task)]
        : [],
    );
  }

  /** Tasks that only files keep from starting; they come before the tasks behind them. */
  #queued(): readonly Task[] {
    const { heldBack, dag } = this.state;
    const ids = [...heldBack.keys(), ...dag.ready(LANE.plan), ...dag.ready(LANE.work)];
    return ids.map((id) => taskOf(this.state, id as TaskId));
  }

  #atWork(): readonly Task[] {
    return [...this.state.running.values()].flatMap(({ job }) => {
      const task = job.kind === "work" ? taskOf(this.state, job.task) : undefined;
      return task?.spec.delivers === "change" && task.state.is !== "waiting" ? [task] : [];
    });
  }

  #mayLand(task: Task, together: number): void {
    const { target, repair } = this.state;
    must(task.state.is === "landing", `${task.id} is landed without being ready for it`);
    // On this target the candidate must be green as a whole.
    if (target.health !== "red" || target.checkedTip !== target.tip) return;
    must(together === 1, "on a red target tasks land one by one");
    must(
      isRepair(task) || repair.givenUp || this.state.landing.phase.is !== "open",
      `${task.id} landed on a red target`,
    );
  }

  #landing(event: EventOf<"batch.landed">): void {
    for (const { task } of event.members) {
      if (isSettled(taskOf(this.state, task))) continue;
      must(!this.#landed.has(task), `${task} landed twice`);
      this.#landed.add(task);
    }
    must(
      this.#repository.landings.some((l) => l.commit === event.commit),
      `${event.commit} is said to have landed and is not in the repository`,
    );
    if (event.proof === "red-to-red") this.#landingOnRed(event.commit);
  }

  /** By the real failures, seen or not: nothing is worse, or what kept the tests from running is gone. */
  #landingOnRed(commit: string): void {
    const { onto } = this.#repository.landings.find((landing) => landing.commit === commit)!;
    const [before, now] = [this.#repository.failuresAt(onto), this.#repository.failuresAt(commit)];
    const hidden = this.#repository.keepsFromRunning(before);
    must(
      hidden.every((name) => !now.has(name)),
      `${commit} landed on a red target, and nobody could judge it: no test ran`,
    );
    if (hidden.length > 0) return; // Tests did not run before, so their failures could not be seen.
    const fresh = [...now].filter((name) => !before.has(name));
    must(fresh.length === 0, `${commit} landed on a red target with a new failure: ${fresh.join(", ")}`);
  }

  #fenced(event: EventOf<"task.handed-off" | "task.retried">): void {
    const { tries } = taskOf(this.state, event.task);
    must(
      event.attempt === tries.attempts,
      `attempt ${event.attempt} of ${event.task} was used after attempt ${tries.attempts} had started`,
    );
  }

  /** A task that was refused for a red gate must be red alone on the target, without flaky tests. */
  #notInnocent({ task: id, handoff }: EventOf<"task.retried">): void {
    const { target } = this.state;
    if (this.#isGateFickle) return; // Such a gate may fail twice on a good tree, and pass on the target.
    if (this.#repository.tip !== target.tip) return; // A landing whose answer was lost has moved the target meanwhile.
    const task = taskOf(this.state, id);
    const { failures } = this.#repository.candidate([handoff!.commit!]);
    const accept: Accept =
      target.health === "red" && target.checkedTip === target.tip
        ? { is: "no-worse", baseline: target.report, mustHeal: task.spec.repairs ?? [] }
        : { is: "green" };
    must(
      !judgeGate(this.#repository.report(failures, []), accept).ok,
      `${id} was refused for a red gate that is not its fault`,
    );
  }

  #hearing(event: EventOf<"plan.accepted" | "plan.ended">): void {
    const planner = this.state.planners.get(event.task);
    const said = event.said?.heard ?? 0;
    const heard = (this.#heard.get(event.task) ?? 0) + said;
    this.#heard.set(event.task, heard);
    if (event.type !== "plan.ended" || event.over !== "finished") return;
    must(planner!.active.size === 0, `${event.task} was called finished with tasks active`);
    must(
      heard === planner!.children,
      `the planner of ${event.task} finished without hearing of all its tasks`,
    );
  }

  #repairing(event: EventOf<"repair.planned">): void {
    const { repair } = this.#policy;
    must(event.into.length <= repair.maxTasks, `${event.into.length} fix tasks in one sweep`);
    for (const { id, spec } of event.into) {
      must(spec.scope.length <= repair.maxFiles, `${id} is a fix of ${spec.scope.length} files`);
      must((spec.repairs ?? []).length > 0, `${id} is a fix of nothing`);
      for (const other of this.state.repair.pending) {
        const pending = new Set(taskOf(this.state, other).spec.repairs);
        must(!spec.repairs!.some((name) => pending.has(name)), `${id} repairs what ${other} is repairing`);
      }
    }
  }

  #closing(event: EventOf<"run.closed">): void {
    const { state } = this;
    must(state.count.land === 0, "the run was closed while something was landing");
    if (event.how === "cancelled") return;
    must(event.how === "done" || event.left.length > 0, `a run that is ${event.how} says what is left`);
    if (event.how !== "done") return;
    must(event.left.length === 0, "a run that is done leaves nothing");
    must(state.unsettled === 0, "a run that is done has settled everything");
    must(state.target.health === "green", "a run that is done has a green target");
    must(
      [...this.#repository.failures].every((name) => this.#repository.decayed.has(name)),
      "a run that is done is green in the repository",
    );
    must(
      this.#repository.landings.every((l) => state.tips.has(l.commit) || !this.#repository.has(l.commit)),
      "a run that is done knows of everything that landed",
    );
    for (const { id, state: end } of state.tasks.values()) {
      const commit = end.is === "done" ? end.commit : undefined;
      const isThere = commit === undefined || this.#repository.has(commit) || state.lost.has(commit);
      must(isThere, `${id} is done by ${commit}, which is not in the target, and nobody knows`);
    }
    const root = taskOf(state, ROOT);
    must(root.state.is === "done", "a run that is done has done its goal");
    must(
      root.tries.answers > 0 || this.#landed.has(ROOT),
      "nobody planned or did anything, and it is called done",
    );
  }

  #after(event: Event): void {
    const { state } = this;
    const { capacity, retry } = this.#policy;
    must(state.count.plan <= capacity.plan, "more plan jobs than allowed");
    must(state.count.work <= capacity.work, "more work jobs than allowed");
    must(state.count.check <= 1, "checking is one at a time");
    this.#trains.after(event, state);
    this.#gateRuns.after(state);
    if (event.type === "plan.accepted" || event.type === "repair.planned") {
      for (const { id, spec } of event.into) this.#inScope(id, spec.scope, event.type);
    }
    if (!("task" in event) || event.task === undefined) return;
    const task = taskOf(state, event.task);
    const { failed, refused, lost, unreachable, planErrors, answers } = task.tries;
    must(
      failed < (task.spec.terms?.criterion === undefined ? retry.maxFailed : retry.maxCriterion) &&
        refused <= retry.maxRefused &&
        lost <= retry.maxLost,
      `${task.id} is tried for ever`,
    );
    must(unreachable <= retry.maxUnreachable, `${task.id} is tried for ever without an agent`);
    const planner = task.id === ROOT ? this.#policy.root : this.#policy.subplanner;
    must(
      planErrors < planner.maxErrorsInARow && answers <= planner.maxAnswers,
      `the planner of ${task.id} is asked for ever`,
    );
    this.#endsOnce(task);
    if (event.type === "plan.ended" && event.over === "finished") {
      must(
        isPlannedOut(this.#team, task),
        `${task.id} is called finished, but its planner has more to ask for`,
      );
    }
    if (event.type === "plan.kept-whole" && task.id === ROOT) {
      // A planner whose plan was declined may have no other one.
      const isSo = this.#team.sprints === 0 || this.#hasDeclined;
      must(isSo, "the goal is called atomic, but its planner has tasks to ask for");
    }
  }

  #inScope(id: TaskId, scope: readonly string[], type: string): void {
    const parent = taskOf(this.state, parentId(id)!);
    must(
      scope.every((path) => contains(parent.spec.scope, path)),
      `${id} reaches outside of ${parent.id} (${type})`,
    );
  }

  #endsOnce(task: Task): void {
    const before = this.#ended.get(task.id);
    must(
      before === undefined || before === task.state.is,
      `${task.id} was ${before} and became ${task.state.is}`,
    );
    if (!isSettled(task)) return;
    this.#ended.set(task.id, task.state.is);
    this.#proposed.delete(task.id);
  }
}
