/** Tests the steps of a land job, and what it prepares while its gate runs. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { broken, GREEN, jobPorts, MEMBER, RED, type Replies, SPEC } from "../../test/support/job-ports.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import type { CheckBrief, LandBrief } from "../core/brief.ts";
import { failure } from "../core/failure.ts";
import type { TaskId } from "../core/task.ts";
import { check } from "./check.ts";
import { land } from "./land.ts";

const UNREADY = failure("setup", "npm test: mocha: not found", "workspace.setup: npm ci");
const quiet = new AbortController().signal;

const BRIEF: LandBrief = {
  kind: "land",
  run: "r",
  turn: 7,
  target: "skein/r/target",
  onto: "onto",
  strategy: "merge-commit",
  members: [{ ...MEMBER, branch: "skein/r/task/t.1.1-write-a", commit: "judged", spec: SPEC }],
  accept: { is: "green" },
};

async function landed(replies: Partial<Replies> = {}, brief = BRIEF) {
  const { parts, calls } = jobPorts(replies);
  const { outcome } = await land(brief, parts, quiet);
  return { outcome, calls, names: calls.map(([name]) => name) };
}

const CHANGES = [
  { of: "gate", file: "package.json", what: "package.json: the script test" },
  { of: "agents", file: ".mcp.json", what: ".mcp.json" },
] as const;

const conflicts = [{ task: "t.2" as TaskId, files: ["b.txt"], against: "target" }] as const;

describe("a landing", () => {
  it("looks, merges, gates what it merged by the target's own rules, and only then moves the target", async () => {
    const { outcome, calls } = await landed();
    const { report } = GREEN;
    assert.deepEqual(calls, [
      ["look", "skein/r/target", "onto"],
      [
        "candidate",
        {
          run: "r",
          target: "skein/r/target",
          onto: "onto",
          strategy: "merge-commit",
          members: [
            { ...MEMBER, branch: "skein/r/task/t.1.1-write-a", commit: "judged", subject: "a: write a" },
          ],
        },
      ],
      ["changes", "onto", "merged"],
      ["gate", { job: "land#7", commit: "merged", rules: "onto", from: "onto" }],
      [
        "land",
        {
          target: "skein/r/target",
          from: "onto",
          to: "merged",
          proof: { run: "r", members: [MEMBER], proof: "green", report, flags: [] },
        },
      ],
    ]);
    assert.deepEqual(outcome, {
      is: "landed",
      commit: "merged",
      members: [MEMBER],
      conflicts: [],
      proof: "green",
    });
  });

  describe("while its gate runs", () => {
    const next = [
      { ...MEMBER, task: "t.2" as TaskId, branch: "skein/r/task/t.2.1-b", commit: "c2", spec: SPEC },
    ];

    it("merges the next candidate onto this one, and has its place made ready, by the rules that hold then", async () => {
      const { calls, outcome } = await landed({}, { ...BRIEF, next });
      const about = calls.filter(([name]) => name === "candidate" || name === "prepare").slice(1);
      assert.deepEqual(about, [
        [
          "candidate",
          {
            run: "r",
            target: "skein/r/target",
            onto: "merged",
            strategy: "merge-commit",
            members: [
              {
                task: "t.2",
                attempt: 1,
                branch: "skein/r/task/t.2.1-b",
                commit: "c2",
                subject: "a: write a",
              },
            ],
          },
        ],
        ["prepare", { job: "land#7", commit: "merged", rules: "merged" }],
      ]);
      assert.equal(outcome.is, "landed");
    });

    it("prepares nothing where nobody waits", async () => {
      assert.doesNotMatch((await landed({}, { ...BRIEF, next: [] })).names.join(), /prepare/);
    });

    it("stops merging when the gate has ended, and does not mind if it goes wrong", async () => {
      const { parts } = jobPorts();
      const gated = Promise.withResolvers<void>();
      let stopped = false;
      const gate = { ...parts.gate, run: () => gated.promise.then(() => GREEN) };
      const candidate: typeof parts.repository.candidate = (wanted, signal) => {
        if (wanted.onto === "onto") return parts.repository.candidate(wanted, signal);
        const { promise, reject } = Promise.withResolvers<never>();
        signal.addEventListener("abort", () => {
          stopped = true;
          reject(new Error("stopped in the middle"));
        });
        gated.resolve();
        return promise;
      };
      const repository = { ...parts.repository, candidate };
      const { outcome } = await land({ ...BRIEF, next }, { ...parts, gate, repository }, quiet);
      assert.deepEqual([outcome.is, stopped], ["landed", true]);
    });
  });

  it("does nothing where the target is elsewhere, and says where, and what it found and lost there", async () => {
    const look = { tip: "elsewhere", landings: [], lost: ["onto"] } as const;
    const { outcome, names } = await landed({ look });
    assert.deepEqual(outcome, { is: "moved", ...look });
    assert.deepEqual(names, ["look"]);
  });

  it("gates nothing where nobody can be merged", async () => {
    const { outcome, names } = await landed({ candidate: { commit: undefined, members: [], conflicts } });
    assert.deepEqual(outcome, { is: "unmergeable", conflicts });
    assert.deepEqual(names, ["look", "candidate"]);
  });

  it("names those whose work is gone, before the gate or after it, and moves nothing", async () => {
    const gone = { is: "gone", members: [MEMBER] } as const;
    const before = await landed({ candidate: gone });
    assert.deepEqual([before.outcome, before.names], [gone, ["look", "candidate"]]);
    assert.deepEqual((await landed({ land: gone })).outcome, gone);
  });

  it("speaks of those in conflict, whether the rest is green or red", async () => {
    const candidate = { commit: "merged", members: [MEMBER], conflicts };
    for (const gate of [GREEN, RED]) {
      const { outcome } = await landed({ candidate, gate });
      assert.ok(outcome.is === "landed" || outcome.is === "red");
      assert.deepEqual(outcome.conflicts, conflicts);
      assert.deepEqual(outcome.members, [MEMBER]);
    }
  });

  it("leaves the target where it is when the gate is red, and tells what the gate wrote, without secrets", async () => {
    const { outcome, names } = await landed({ gate: RED });
    assert.deepEqual(outcome, {
      is: "red",
      members: [MEMBER],
      conflicts: [],
      failures: ["test: adds"],
      files: ["a.txt"],
      detail: "***: 1 is not 2",
    });
    assert.deepEqual(names, ["look", "candidate", "changes", "gate"]);
  });

  it("names the files of what is red, and of nothing else", async () => {
    const problem = (name: string, ...files: string[]) =>
      ({ class: "tests", name, files, message: "" }) as const;
    const problems = [
      problem("test: adds", "a.ts", "b.ts"),
      problem("test: adds", "a.ts"),
      problem("x", "c.ts"),
    ];
    const { outcome } = await landed({ gate: { ...RED, problems } });
    assert.deepEqual(outcome.is === "red" && outcome.files, ["a.ts", "b.ts"]);
  });

  it("on a red target lands what makes nothing worse, with a proof that says so", async () => {
    const accept = { is: "no-worse", baseline: RED.report, mustHeal: [] } as const;
    const { outcome, calls } = await landed({ gate: RED }, { ...BRIEF, accept });
    assert.equal(outcome.is === "landed" && outcome.proof, "red-to-red");
    assert.match(JSON.stringify(calls.at(-1)), /"proof":"red-to-red"/);
  });

  it("writes into the proof what of the gate itself was changed, or that nobody knows", async () => {
    const flags = async (changes: Replies["changes"]) => {
      const { calls } = await landed({ changes });
      const [, landing] = calls.at(-1)!;
      return (landing as { readonly proof: { readonly flags: unknown } }).proof.flags;
    };
    assert.deepEqual(await flags(CHANGES), ["package.json: the script test", ".mcp.json: it steers agents"]);
    assert.deepEqual(await flags(broken("no such tree")), ["unknown: no such tree"]);
  });

  it("writes into the proof what its members do to tests and marks, and not what those do that were left out", async () => {
    const [member] = BRIEF.members;
    const left = { ...member!, task: "t.9" as TaskId, flags: ["left b.ts:1 TODO, as is usual here"] };
    const members = [{ ...member!, flags: ["skips tests under a condition: a"] }, left];
    const { calls } = await landed({}, { ...BRIEF, members });
    assert.match(JSON.stringify(calls.at(-1)), /"flags":\["a: skips tests under a condition: a"\]/);
  });

  it("gates a candidate that changes the gate by its own commands, unless the run was begun without that", async () => {
    const rulesOf = async (replies: Partial<Replies>, brief: LandBrief) => {
      const { calls } = await landed(replies, brief);
      return calls.flatMap(([name, tree]) => (name === "gate" ? [(tree as { rules: string }).rules] : []));
    };
    const own = { ...BRIEF, ownRules: true } as const;
    assert.deepEqual(await rulesOf({ changes: CHANGES }, own), ["merged"]);
    assert.deepEqual(await rulesOf({ changes: CHANGES.slice(1) }, own), ["onto"]);
    assert.deepEqual(await rulesOf({ changes: CHANGES }, BRIEF), ["onto"]);
  });

  it("gates a candidate that has lost its gate by that of the target", async () => {
    const none = { ...GREEN, report: { commands: [] } };
    const { calls } = await landed({ changes: CHANGES, gate: none }, { ...BRIEF, ownRules: true });
    const rules = calls.flatMap(([name, tree]) =>
      name === "gate" ? [(tree as { rules: string }).rules] : [],
    );
    assert.deepEqual(rules, ["merged", "onto"]);
  });

  it("tells of a gate that takes long, by its command: after two minutes, after five, and then more rarely", async () => {
    const clock = new ManualClock();
    const told: unknown[] = [];
    const { parts } = jobPorts();
    const { promise, resolve } = Promise.withResolvers<typeof GREEN>();
    const gate: typeof parts.gate = {
      ...parts.gate,
      run: ({ onCommand }) => {
        onCommand?.("npm test");
        return promise;
      },
    };
    const signs = { ...parts.signs, clock, tell: (quiet: unknown) => told.push(quiet) };
    const ended = land(BRIEF, { ...parts, gate, signs }, quiet);
    for (let i = 0; i < 20; i += 1) await Promise.resolve();
    for (let i = 0; i < 4; i += 1) clock.step();
    resolve(GREEN);
    assert.equal((await ended).outcome.is, "landed");
    assert.deepEqual(
      told,
      [2, 5, 10, 20].map((minutes) => ({
        job: "land#7",
        ms: minutes * 60_000,
        doing: "the gate runs npm test",
      })),
    );
    assert.equal(clock.next(), undefined, "nothing is waited for any more");
  });

  it("says where the target is that moved while the gate ran", async () => {
    const moved = { is: "moved", tip: "elsewhere", landings: [] } as const;
    assert.deepEqual((await landed({ land: moved })).outcome, moved);
  });

  it("passes on the failure of every port, and asks no further", async () => {
    for (const [port, last] of [
      ["look", "look"],
      ["candidate", "candidate"],
      ["gate", "gate"],
      ["land", "land"],
    ] as const) {
      const { outcome, names } = await landed({ [port]: broken(`no ${port}`) });
      assert.deepEqual(outcome, { is: "failed", ...broken(`no ${port}`) });
      assert.equal(names.at(-1), last);
    }
  });
});

describe("a candidate whose gate cannot be run", () => {
  const before: LandBrief = { ...BRIEF, accept: { is: "no-worse", baseline: RED.report, mustHeal: [] } };

  it("is red, and never no worse than a red target", async () => {
    assert.equal((await landed({ gate: RED }, before)).outcome.is, "landed");
    const { outcome } = await landed({ gate: { ...RED, setup: UNREADY } }, before);
    assert.ok(outcome.is === "red");
    assert.deepEqual(outcome.failures, ["its gate could not be run"]);
  });

  it("is red where its workspace cannot be set up: it may be what has broken that", async () => {
    const { outcome, names } = await landed({ gate: { failure: UNREADY } });
    assert.deepEqual(outcome, {
      is: "red",
      members: [MEMBER],
      conflicts: [],
      failures: ["its gate could not be run"],
      detail: UNREADY.message,
    });
    assert.ok(!names.includes("land"));
  });
});

it("the proof of a landing says whether the gate was probed", async () => {
  const { calls } = await landed({}, { ...BRIEF, probe: "proved" });
  const [, landing] = calls.at(-1)!;
  assert.equal((landing as { readonly proof: { readonly probe?: string } }).proof.probe, "proved");
  const ungated = { ...GREEN, report: { commands: [] } };
  const [, bare] = (await landed({ gate: ungated }, { ...BRIEF, probe: "off" })).calls.at(-1)!;
  assert.ok(!("probe" in (bare as { readonly proof: object }).proof));
});

describe("a check", () => {
  const brief: CheckBrief = { kind: "check", run: "r", turn: 2, target: "skein/r/target", tip: "onto" };
  async function checked(replies: Partial<Replies> = {}, more: Partial<CheckBrief> = {}) {
    const { parts, calls } = jobPorts(replies);
    const { outcome } = await check({ ...brief, ...more }, parts, quiet);
    return { outcome, calls };
  }

  it("gates the tip by its own rules, then looks whether the target is still there", async () => {
    const { outcome, calls } = await checked({ gate: RED });
    assert.deepEqual(calls, [
      ["gate", { job: "check#2", commit: "onto", rules: "onto" }],
      ["look", "skein/r/target", "onto"],
      ["whole", "skein/r/target"],
    ]);
    const problems = [{ ...RED.problems[0], message: "***: 1 is not 2" }];
    assert.deepEqual(outcome, { is: "checked", tip: "onto", report: RED.report, problems });
  });

  it("says where the target is by then", async () => {
    const look = { tip: "elsewhere", landings: [], lost: ["onto"] } as const;
    const { outcome } = await checked({ look });
    assert.ok(outcome.is === "checked");
    assert.deepEqual([outcome.tip, outcome.moved], ["onto", look]);
  });

  it("only looks, where the tip is known to be green", async () => {
    const { outcome, calls } = await checked({}, { seen: GREEN.report });
    assert.deepEqual(
      calls.map(([name]) => name),
      ["look", "whole"],
    );
    assert.deepEqual(outcome, {
      is: "checked",
      tip: "onto",
      report: GREEN.report,
      problems: [],
      isKnown: true,
    });
  });

  it("that finds a gate which cannot be run says so, and nothing about the target", async () => {
    const { outcome } = await checked({ gate: { ...RED, setup: UNREADY } });
    assert.deepEqual(outcome, { is: "failed", failure: UNREADY });
  });

  it("that is a probe asks the gate whether it looks at the tip, and tells no secrets", async () => {
    const probe = { probe: true, seen: RED.report } as const;
    const { outcome, calls } = await checked({}, probe);
    assert.deepEqual(calls, [["probe", { job: "check#2", commit: "onto", rules: "onto" }, RED.report]]);
    assert.deepEqual(outcome, { is: "probed", probed: { is: "proved" } });
    const secret = { is: "not-probed", why: "no secret here" } as const;
    const told = { is: "not-probed", why: "no *** here" };
    assert.deepEqual((await checked({ probe: secret }, probe)).outcome, { is: "probed", probed: told });
    const failed = { is: "unproven", failure: { ...UNREADY, message: "secret" } } as const;
    const blotted = { is: "unproven", failure: { ...UNREADY, message: "***" } };
    assert.deepEqual((await checked({ probe: failed }, probe)).outcome, { is: "probed", probed: blotted });
    assert.deepEqual((await checked({ probe: broken("no disk") }, probe)).outcome, {
      is: "failed",
      ...broken("no disk"),
    });
  });

  it("passes on the failures of its ports", async () => {
    for (const port of ["gate", "look", "whole"] as const)
      assert.deepEqual((await checked({ [port]: broken(`no ${port}`) })).outcome, {
        is: "failed",
        ...broken(`no ${port}`),
      });
  });
});
