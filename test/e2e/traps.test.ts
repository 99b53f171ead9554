/** Tests mistakes known from other systems: each by its name, on real runs. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import type { Event } from "../../src/core/log/event.ts";
import type { Script } from "../../src/ports/agent-script.ts";
import type { Setting } from "../support/live-runs.ts";
import { closing, configOf, endings, type Finished, makeSetting, runGoal } from "../support/live-runs.ts";
import { handoff, plans, task, waits, writes } from "../support/scripts.ts";

const FILES = { "check.sh": "! grep -l bad *.txt\n", "seed.txt": "good\n" };
const QUICK = { gate: ["sh check.sh"], "retry.first": "10ms", "retry.max": "20ms" };

async function told(script: Script, flags = {}, env: Readonly<Record<string, string>> = {}) {
  const setting = await makeSetting({ files: FILES, script });
  const settled: Setting = { ...setting, env: { ...setting.env, ...env } };
  const finished = await runGoal(settled, setting.config({ ...QUICK, ...flags }));
  return { setting, ...finished, [Symbol.asyncDispose]: () => setting[Symbol.asyncDispose]() };
}

const of = <T extends Event["type"]>({ events }: Finished, type: T) =>
  events.filter((event): event is Extract<Event, { type: T }> => event.type === type);

/** A planner's answer as a text, which it gives in one turn only, whether Skein accepts it or not. */
const said = (...tasks: readonly object[]) => ({ text: JSON.stringify({ scratchpad: "", tasks }) });

const started = (run: Finished) => of(run, "job.started").map(({ job }) => job);

const stateOf = ({ end }: Finished) => {
  assert.ok(end.is === "closed", closing(end));
  return end.state;
};

describe("a trap that others fell into", { concurrency: 2 }, () => {
  it("an outage or an unreadable plan is never success", async () => {
    await using run = await told(
      {
        plans: { t: Array.from({ length: 12 }, () => ({ text: "I am sorry, I cannot do that." })) },
        work: {},
      },
      {},
    );
    assert.match(closing(run.end), /^failed; .*planner/);
    assert.equal(of(run, "plan.rejected").length, 9); // The tenth invalid plan in a row fails the planner.
    await using out = await told({
      plans: { t: [{ end: "outage" }, { end: "outage" }, plans(task("a"))] },
      work: { a: [writes("a.txt")] },
    });
    assert.equal(closing(out.end), "done");
    assert.deepEqual(
      of(out, "plan.rejected").map((e) => e.charge),
      ["unreachable", "unreachable"],
    );
  });

  it("the most urgent task is dispatched first, not only marked so", async () => {
    const tasks = [task("late", { priority: 9 }), task("usual"), task("urgent", { priority: 1 })];
    const work = { late: [writes("late.txt")], usual: [writes("usual.txt")], urgent: [writes("urgent.txt")] };
    await using run = await told({ plans: { t: [plans(...tasks)] }, work }, { workers: 1 });
    const order = started(run).flatMap((job) => (job.kind === "work" ? [job.task] : []));
    assert.deepEqual(order, ["t.3", "t.2", "t.1"]);
  });

  it("a parent that was split is not waited for as if it had a branch, nor does it hold the slot that its parts need", async () => {
    const scope = ["w.txt", "x.txt", "y.txt", "z.txt"];
    const script: Script = {
      plans: {
        t: [plans(task("split", { scope }), task("after", { after: ["split"] }))],
        split: [plans(task("w", { scope: ["w.txt", "x.txt"] }), task("y", { scope: ["y.txt", "z.txt"] }))],
      },
      work: {
        w: [writes("w.txt", "good\n", { do: "write", path: "x.txt", text: "x\n" })],
        y: [writes("y.txt", "good\n", { do: "write", path: "z.txt", text: "z\n" })],
        after: [writes("after.txt")],
      },
    };
    await using run = await told(script, { workers: 1, planners: 1, keepBranches: true });
    assert.equal(closing(run.end), "done");
    const branches = await run.setting.repository.git(
      "branch",
      "--list",
      "skein/*",
      "--format=%(refname:short)",
    );
    assert.doesNotMatch(branches, /task\/t\.1\.\d+-split/);
    assert.match(branches, /task\/t\.1\.1\.1-do-w/);
  });

  it("a conflict is worked out again on a new branch from the current target, as the same task, and lands once", async () => {
    const add = (word: string, ms: number) => ({
      steps: [
        waits(ms),
        { do: "append", path: "list.txt", text: `${word}\n` },
        { do: "run", command: ["sort", "-o", "list.txt", "list.txt"] },
      ] as const,
      end: handoff("complete"),
    });
    const scope = ["list.txt"];
    await using run = await told(
      {
        plans: { t: [plans(task("a", { scope }), task("b", { scope }))] },
        work: { a: [add("a", 0)], b: [add("b", 400), add("b", 0)] },
      },
      { overlap: "allow", keepBranches: true },
    );
    assert.equal(closing(run.end), "done");
    const { git } = run.setting.repository;
    assert.equal(await git("show", `${run.target}:list.txt`), "a\nb");
    const retried = of(run, "task.retried");
    if (retried.length > 0) {
      assert.equal(retried[0]!.failure.kind, "conflict");
      assert.match(retried[0]!.failure.message, /list\.txt/);
      const [first, second] = [1, 2].map(
        (n) => `skein/${run.home.record.run}/task/${retried[0]!.task}.${n}-`,
      );
      const branches = await git("branch", "--list", "skein/*", "--format=%(refname:short)");
      assert.ok(branches.includes(first!) && branches.includes(second!));
    }
    assert.equal(retried.length, 1);
    assert.deepEqual(Object.keys(endings(stateOf(run))).sort(), ["a", "b", "t"]);
    assert.equal(of(run, "batch.landed").length, 2);
  });

  it("a failed build is red; only a missing one is not configured", async () => {
    const scripts = (build: string) => JSON.stringify({ scripts: { build, test: "true" } });
    const script: Script = { plans: { t: [plans(task("a"))] }, work: { a: [writes("a.txt")] } };
    await using broken = await makeSetting({ files: { "package.json": scripts("exit 7") }, script });
    const stopAt = (event: Event) => event.type === "target.checked";
    const red = await runGoal(broken, broken.config({ ...QUICK, gate: "auto" }), { stopAt });
    const [check] = of(red, "target.checked");
    assert.deepEqual(
      check!.report.commands.map((c) => [c.name, c.green]),
      [
        ["build", false],
        ["test", true],
      ],
    );
    await using bare = await makeSetting({ files: { "a.md": "x\n" }, script });
    const none = await runGoal(bare, bare.config({ ...QUICK, gate: "auto" }));
    assert.deepEqual(of(none, "target.checked")[0]!.report.commands, []);
    assert.equal(of(none, "batch.landed")[0]!.proof, "ungated");
  });

  it("a planner hears every handoff, the last ones too", async () => {
    await using run = await told({
      plans: { t: [plans(task("a"), task("b"), task("c"), task("d"))] },
      work: Object.fromEntries(["a", "b", "c", "d"].map((id) => [id, [writes(`${id}.txt`)]])),
    });
    const heard = new Set<string>();
    for (const job of started(run)) {
      if (job.kind !== "plan") continue;
      const file = path.join(run.home.folder, "jobs", `plan-t-${job.turn}`, "job.json");
      const { brief } = JSON.parse(await readFile(file, "utf8"));
      for (const { key } of brief.news) heard.add(key);
    }
    assert.deepEqual([...heard].sort(), ["a", "b", "c", "d"]);
  });

  it("an id that a model repeats is refused with the reason, not dropped", async () => {
    await using run = await told({
      plans: { t: [plans(task("a")), plans(task("a")), plans(task("b"))] },
      work: { a: [writes("a.txt")], b: [writes("b.txt")] },
    });
    const rejected = of(run, "plan.rejected").filter((e) => e.charge === "error");
    assert.match(rejected[0]!.reasons.join(), /"?a"?/);
    assert.deepEqual(Object.keys(endings(stateOf(run))).includes("a"), true);
    assert.equal(Object.values(endings(stateOf(run))).filter((is) => is === "done").length >= 2, true);
  });

  it("tokens are counted once, however deep the tree", async () => {
    const spent = { spent: { tokens: 100 } };
    const parts = ["w", "x", "y", "z"];
    const attempt = (id: string) => ({ ...writes(`${id}.txt`), end: handoff("complete", spent) });
    await using run = await told({
      plans: {
        t: [plans(task("split", { scope: parts.map((id) => `${id}.txt`) }))],
        split: [plans(...parts.map((id) => task(id)))],
      },
      work: Object.fromEntries(parts.map((id) => [id, [attempt(id)]])),
    });
    assert.equal(stateOf(run).spent.tokens, 400);
  });

  it("what a model calls a branch or a task cannot be read as an option", async () => {
    const evil = "--upload-pack=touch pwned";
    const script: Script = {
      plans: {
        t: [
          said(task("a;touch pwned")),
          said(task("a", { branch: evil, scope: ["../pwned"] })),
          plans(task("a", { branch: evil })),
        ],
      },
      work: { a: [writes("a.txt")] },
    };
    await using run = await told(script, { keepBranches: true });
    assert.equal(closing(run.end), "done");
    const { repository } = run.setting;
    assert.ok(!(await readdir(repository.folder)).includes("pwned"));
    const branches = await repository.git("branch", "--list", "skein/*", "--format=%(refname:short)");
    assert.match(branches, /task\/t\.1\.1-upload-pack-touch-pwned$/m);
  });

  it("no secret reaches a command line, the log, a transcript or a worker's files", async () => {
    const secret = "s3cr3t-value-of-a-key";
    const shows = {
      steps: [
        { do: "run", command: ["sh", "-c", "env > a.txt; env; ps -ef"] },
        { do: "say", text: `my key is ${secret}` },
      ] as const,
      end: handoff("complete", { summary: `the key is ${secret}` }),
    };
    await using run = await told(
      { plans: { t: [plans(task("a"))] }, work: { a: [shows] } },
      {},
      { MODEL_API_KEY: secret },
    );
    assert.equal(closing(run.end), "done");
    assert.doesNotMatch(
      await run.setting.repository.git("show", `${run.target}:a.txt`),
      /s3cr3t|MODEL_API_KEY/,
    );
    assert.ok(!JSON.stringify(run.events).includes(secret));
    const folder = path.join(run.home.folder, "transcripts");
    const transcripts = await Promise.all(
      (await readdir(folder)).map((name) => readFile(path.join(folder, name), "utf8")),
    );
    assert.match(transcripts.join(), /my key is /);
    assert.ok(!transcripts.join().includes(secret));
  });

  it("no secret of the gate's own line, of a variable that was handed on, or at the start of a line is kept", async () => {
    const [inGate, handedOn, key] = ["q7x9", "k3-of-the-registry", `ghp_${"aB3dE5gH7j".repeat(4)}`];
    const shows = {
      steps: [
        { do: "run", command: ["sh", "-c", 'echo "$REGISTRY_ACCESS" | base64 -w0; echo good > a.txt'] },
        { do: "say", text: `{"type":"text","text":"first\\n${key}"}` },
      ] as const,
      end: handoff("complete", { summary: `it printed\n${key}\nand\n\u001b[32m${handedOn}` }),
    };
    await using run = await told(
      { plans: { t: [plans(task("a"))] }, work: { a: [shows] } },
      { gate: [`DEPLOY_TOKEN=${inGate} sh check.sh`], "workspace.pass": ["REGISTRY_ACCESS"] },
      { REGISTRY_ACCESS: handedOn },
    );
    assert.equal(closing(run.end), "done");
    const { folder } = run.home;
    const kept = (await readdir(folder, { recursive: true, withFileTypes: true }))
      // run.json keeps the configuration for a resume, and the answer file is the agent's own.
      .filter((entry) => entry.isFile() && !["run.json", "handoff.json"].includes(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name));
    const texts = [
      JSON.stringify(run.events),
      await run.setting.repository.git("log", "-p", `refs/notes/skein/${run.home.record.run}`),
      ...(await Promise.all(kept.map((file) => readFile(file, "latin1")))),
    ];
    assert.match(texts.join(), /DEPLOY_TOKEN=\[redacted\] sh check\.sh/);
    for (const secret of [inGate, handedOn, key, Buffer.from(handedOn).toString("base64").slice(0, 20)])
      assert.deepEqual(
        texts.flatMap((text, at) => (text.includes(secret) ? [[secret, kept[at - 2]]] : [])),
        [],
      );
  });

  it("a healthy but slow worker is not killed at its time limit, and its late result counts", async () => {
    const slow = { ...writes("a.txt"), steps: [waits(2_500), ...writes("a.txt").steps!] };
    await using run = await told(
      { plans: { t: [plans(task("a"))] }, work: { a: [slow] } },
      { "timeout.work": "1s" },
    );
    assert.equal(closing(run.end), "done");
    assert.deepEqual(
      of(run, "job.ended").flatMap(({ job, how }) => (job.startsWith("work") ? [how] : [])),
      ["expired", "answered-late"],
    );
  });

  it("zero is zero: it is taken where it makes sense, and refused by name where it does not", () => {
    assert.equal(configOf({ "retry.maxRefused": 0 }).retry.maxRefused, 0);
    assert.throws(() => configOf({ workers: 0 }), /workers/);
  });
});
