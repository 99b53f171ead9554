/** Tests that the simulator notices violations of accounts and budgets, and that a quota changes only a run's times. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "../../src/core/failure.ts";
import type { Event, Fact } from "../../src/core/log/event.ts";
import { accountsOf } from "../../src/core/rules/governor.ts";
import { defaultPolicy, type Policy } from "../../src/core/rules/policy.ts";
import { Invariants } from "./invariants.ts";
import { courseOf, freeProvider, type Shortage } from "./provider.ts";
import { scriptedTeam, type Team } from "./scripted-team.ts";
import { ShakyRepository } from "./shaky-repository.ts";
import { simulate } from "./simulate.ts";
import { Violation } from "./violation.ts";

const HOUR = 3_600_000;
const TEAM: Team = {
  seed: 1,
  width: 20,
  sprints: 1,
  large: 0.2,
  linked: 0,
  reports: 0,
  shared: 0,
  breaks: 0,
  clashes: 0,
  painted: 0.3,
};
const ACCOUNTS: Policy["accounts"] = { plan: ["a"], work: ["a"], byAgent: { painter: ["b"] } };
const quota = (account: string, from: number, until: number, says = true): Shortage => ({
  account,
  from,
  until,
  kind: "quota",
  says,
});

describe("a run of 20 parallel tasks", () => {
  const play = async (shortages: readonly Shortage[], waits: boolean, resumedAt?: number) => {
    const policy = { ...defaultPolicy, capacity: { plan: 4, work: 20 }, accounts: ACCOUNTS };
    const repository = new ShakyRepository();
    const invariants = new Invariants(policy, repository, TEAM);
    const { end, events } = await simulate({
      goal: "make the project",
      policy,
      repository,
      script: scriptedTeam(TEAM),
      provider: {
        ...freeProvider,
        shortages,
        chainOf: (brief) => accountsOf(policy, brief.kind, brief.spec),
        waits: () => waits,
      },
      said: resumedAt === undefined ? [] : [{ at: resumedAt, message: { type: "resume" } }],
      observe: (event) => invariants.observe(event),
    });
    assert.ok(end.is === "closed");
    return { state: end.state, events };
  };
  const endsOf = ({ state }: Awaited<ReturnType<typeof play>>) => ({
    how: state.closed?.how,
    tasks: [...state.tasks.values()].map(({ id, state: { is } }) => `${id} ${is}`).toSorted(),
  });

  for (const [what, shortages, waits] of [
    ["that says when it is over", [quota("a", 60_000, 6 * HOUR)], false],
    ["that does not say so", [quota("a", 60_000, 6 * HOUR, false)], false],
    ["for whose end the jobs wait", [quota("a", 60_000, 30 * HOUR)], true],
    ["of both accounts, again and again", [quota("a", 1, HOUR), quota("b", HOUR, 9 * HOUR, false)], true],
  ] as const) {
    it(`ends after a quota ${what} as it would without`, async () => {
      const calm = await play([], false);
      const short = await play(shortages, waits);
      assert.deepEqual(endsOf(short), endsOf(calm));
      assert.equal(short.state.closed?.how, "done");
      const charged = [...short.state.tasks.values()].filter(
        ({ tries: { failed, lost, unreachable, planErrors } }) =>
          failed + lost + unreachable + planErrors > 0,
      );
      assert.deepEqual(charged, []);
    });
  }

  it("starts nobody on an account from the moment that it is parked to its reset, and others go on", async () => {
    const { events } = await play([quota("a", 60_000, 6 * HOUR)], false);
    const parkedAt = events.find(({ type }) => type === "account.parked")!.at;
    const meanwhile = events.filter(
      ({ type, at }) => type === "job.started" && at > parkedAt && at < 6 * HOUR,
    );
    const isPainter = new Set(
      events.flatMap((event) =>
        event.type === "plan.accepted"
          ? event.into.flatMap(({ id, spec }) => (spec.agent === "painter" ? [id] : []))
          : [],
      ),
    );
    const agents = meanwhile.flatMap((event) =>
      event.type === "job.started" && (event.job.kind === "plan" || event.job.kind === "work")
        ? [event.job]
        : [],
    );
    assert.ok(agents.every((job) => job.kind === "work" && isPainter.has(job.task)));
    assert.ok(
      meanwhile.some((event) => event.type === "job.started" && event.job.kind === "land"),
      "finished work lands meanwhile",
    );
  });

  it("waits with a refused key until somebody has mended it and says so", async () => {
    const shortage = {
      account: "a",
      from: 60_000,
      until: HOUR,
      kind: "authentication",
      says: false,
    } as const;
    const { state, events } = await play([shortage], false, 2 * HOUR);
    assert.equal(state.closed?.how, "done");
    assert.equal(events.filter(({ type }) => type === "account.refused").length, 1);
    assert.equal(events.find(({ type }) => type === "account.woken")?.at, 2 * HOUR);
  });
});

describe("what a job hears of its accounts", () => {
  const course = (shortages: readonly Shortage[], waits: boolean) =>
    courseOf(shortages, ["a", "b"], { now: 0, ms: 100, waits });

  it("is nothing where there is enough", () => {
    assert.deepEqual(course([], true), { heard: [], end: 100 });
  });

  it("ends it, or sends it to the next account, or lets it wait for the first that is back", () => {
    const a = quota("a", 40, 1_000);
    assert.equal(course([a], false).end, 540);
    assert.equal(course([a], false).failure?.account, "a");
    assert.deepEqual([course([a], true).end, course([a], true).heard.length], [100, 1]);
    const both = course([a, quota("b", 60, 500)], true);
    assert.deepEqual(
      [both.end, both.heard.map(({ at, account }) => `${account} ${at}`)],
      [540, ["a 40", "b 60"]],
    );
  });
});

describe("the invariants of accounts and budgets", () => {
  const spec = (n: number) => ({
    key: `k${n}`,
    description: "",
    acceptance: "",
    scope: n === 0 ? ["./"] : [`${n}.ts`],
    after: [],
    priority: 5,
    delivers: "change",
    shape: n === 0 ? "plan" : "work",
    slug: "k",
  });
  const opened = { type: "run.opened", request: { run: "r1", goal: "g", base: "c0" }, spec: spec(0) };
  const plan = { type: "job.started", job: { kind: "plan", task: "t", turn: 1 }, until: 1_000 };
  const planned = {
    type: "plan.accepted",
    task: "t",
    into: [{ id: "t.1", rank: 5, spec: spec(1) }],
    replanAfter: 3,
    said: { scratchpad: "sprint 1", addressed: [], heard: 0, steers: 0 },
    notes: [],
  };
  const work = (attempt: number) => ({
    type: "job.started",
    job: { kind: "work", task: "t.1", attempt },
    until: 1_000,
  });
  const ended = (job: string, spent?: object, how = "answered") => ({
    type: "job.ended",
    job,
    how,
    ...(spent && { spent }),
  });
  const why = { ...failure("quota", "no more"), account: "agent" };
  const parked = { type: "account.parked", account: "agent", until: 5_000, failure: why };
  const retried = {
    type: "task.retried",
    task: "t.1",
    attempt: 1,
    failure: why,
    retryAt: 0,
    charge: "nothing",
  };
  const begin = [opened, plan, planned];

  const observe = (facts: readonly object[], budget: Partial<Policy["budget"]> = {}) => {
    const policy = { ...defaultPolicy, budget: { ...defaultPolicy.budget, ...budget } };
    const invariants = new Invariants(policy, new ShakyRepository(), { ...TEAM, width: 1 });
    for (const fact of facts) invariants.observe({ at: 0, ...(fact as Fact) } as Event);
  };
  const breaks = (rule: RegExp, facts: readonly object[], budget?: Partial<Policy["budget"]>) =>
    assert.throws(
      () => observe(facts, budget),
      (error) => error instanceof Violation && rule.test(error.message),
    );

  it("notice a start on a parked account, and a quota that is charged", () => {
    breaks(/cannot be called/, [...begin, parked, work(1)]);
    breaks(/was charged/, [...begin, work(1), ended("work:t.1#1"), { ...retried, charge: "lost" }]);
    observe([...begin, work(1), ended("work:t.1#1"), retried]);
  });

  it("notice a job that is given up for the time that it had to wait", () => {
    const late = { ...ended("work:t.1#1", undefined, "expired"), at: 3_600_000 };
    const long = { ...parked, until: 7_200_000 };
    breaks(/was given up/, [...begin, work(1), long, late]);
    observe([...begin, work(1), late]);
  });

  it("notice a start that a task, a subtree or the run cannot pay for, unaccounted calls included", () => {
    const cut = { tokens: 0, unaccounted: { calls: 1, tokens: 900 } };
    const again = [...begin, work(1), ended("work:t.1#1", cut), retried, work(2)];
    const small = { reserveTokens: 200, landingShare: 0 };
    breaks(/not in the budget/, again, { ...small, task: { maxTokens: 1_000 } });
    breaks(/not in the budget/, again, { ...small, subtree: { maxTokens: 1_000 } });
    breaks(/not in the budget/, again, { ...small, maxTokens: 1_000 });
    observe(again, { ...small, task: { maxTokens: 1_100 } });
  });

  it("notice an account that is woken too early, or parked for a shorter time", () => {
    breaks(/too early/, [...begin, parked, { type: "account.woken", account: "agent" }]);
    breaks(/shorter/, [...begin, parked, { ...parked, until: 4_000 }]);
    breaks(/without being in trouble/, [...begin, { type: "account.woken", account: "agent" }]);
  });
});
