import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { broken, GREEN, jobPorts, MEMBER, RED, type Replies, SPEC } from "../../test/support/job-ports.ts";
import type { CheckBrief, LandBrief } from "../core/brief.ts";
import type { TaskId } from "../core/task.ts";
import { check } from "./check.ts";
import { land } from "./land.ts";

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
      ["gate", { job: "land#7", commit: "merged", rules: "onto" }],
      ["changes", "onto", "merged"],
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
      detail: "***: 1 is not 2",
    });
    assert.deepEqual(names, ["look", "candidate", "gate"]);
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
    assert.deepEqual(await flags(["package.json: the script test"]), ["package.json: the script test"]);
    assert.deepEqual(await flags(broken("no such tree")), ["unknown: no such tree"]);
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
      ["look"],
    );
    assert.deepEqual(outcome, { is: "checked", tip: "onto", report: GREEN.report, problems: [] });
  });

  it("passes on the failures of its ports", async () => {
    for (const port of ["gate", "look"] as const)
      assert.deepEqual((await checked({ [port]: broken(`no ${port}`) })).outcome, {
        is: "failed",
        ...broken(`no ${port}`),
      });
  });
});
