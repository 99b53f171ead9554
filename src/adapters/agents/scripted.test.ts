/** Tests the scripted agent: which entry of a script answers a turn, its steps, and its crashes. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { failureOf, planAsk, textOf, workAsk } from "../../../test/contracts/agent.ts";
import { agentParts, type Heard, hearing } from "../../../test/support/agent-parts.ts";
import type { Script, ScriptStep } from "../../ports/agent-script.ts";
import { scripted } from "./scripted.ts";
import { awaited } from "./scripted-await.ts";
import { takeStep } from "./scripted-steps.ts";

type Await = Extract<ScriptStep, { readonly do: "await" }>;

describe("the scripted agent", () => {
  let home: string;
  let folder: string;
  let heard: Heard;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-scripted-"));
    folder = path.join(home, "workspace");
    mkdirSync(folder);
    heard = hearing();
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const agentFor = (script: Partial<Script> | string) => {
    const file = path.join(home, "script.json");
    writeFileSync(file, typeof script === "string" ? script : JSON.stringify(script));
    return scripted(file, agentParts(path.join(home, "jobs"), heard));
  };
  const never = new AbortController().signal;
  const plan = async (script: Partial<Script>, turn: number, scratchpad = "") =>
    agentFor(script).turn(planAsk(folder, { turn, scratchpad }), never);
  const answered = async (script: Partial<Script>, turn: number, scratchpad = "") =>
    JSON.parse(textOf(await plan(script, turn, scratchpad))) as {
      readonly scratchpad: string;
      readonly tasks: readonly string[];
    };

  const answer = (id: string) => ({ answer: { scratchpad: `made ${id}`, tasks: [id] } });
  const plans = { t: [answer("a"), { end: "outage" } as const, answer("b")] };

  it("gives a planner's answers one after the other, by what was accepted", async () => {
    const first = await answered({ plans }, 1);
    assert.deepEqual(first.tasks, ["a"]);
    assert.deepEqual((await answered({ plans }, 3, first.scratchpad)).tasks, ["b"]);
  });

  it("gives an answer again that was not accepted, and skips none when a turn was lost", async () => {
    assert.deepEqual((await answered({ plans }, 3)).tasks, ["a"]);
    assert.deepEqual((await answered({ plans }, 9)).tasks, ["a"]);
  });

  it("has an accident in its own turn alone", async () => {
    assert.equal(failureOf(await plan({ plans }, 2)).kind, "agent-unreachable");
    assert.equal((await plan({ plans }, 3)).is, "said");
  });

  it("has no more tasks after its last answer, and none where it has no script", async () => {
    const last = { scratchpad: "made b\n[script: answer 2]", tasks: [] };
    assert.deepEqual(await answered({ plans }, 4, last.scratchpad), last);
    assert.deepEqual((await answered({}, 1)).tasks, []);
  });

  it("says a text as it is", async () => {
    assert.equal(textOf(await plan({ plans: { t: [{ text: "I { am not sure" }] } }, 1)), "I { am not sure");
  });

  const work = (script: Partial<Script>, attempt = 1) =>
    agentFor(script).turn(workAsk(folder, { attempt }), never);
  const reporting = (summary: string) => ({ end: { handoff: { status: "complete", summary } } });

  it("chooses by attempt, and repeats the last", async () => {
    const script = { work: { a: [{ end: { exit: 9 } }, reporting("second")] } };
    assert.match(failureOf(await work(script, 1)).message, /exit code 9/);
    for (const attempt of [2, 7]) assert.match(textOf(await work(script, attempt)), /second/);
  });

  it("knows a task by its id before its name", async () => {
    assert.match(textOf(await work({ work: { a: [reporting("name")], "t.1": [reporting("id")] } })), /id/);
  });

  it("records what it was asked, the same each time", async () => {
    await work({ work: { a: [reporting("done")] } }, 3);
    const record = readFileSync(path.join(home, "jobs", "work-t.1-1", "asked.json"), "utf8");
    const { chosen, asked } = JSON.parse(record);
    assert.equal(chosen, "attempt 3, entry 1 of 1");
    assert.deepEqual([asked.skein, asked.attempt, asked.spec.key], [1, 3, "a"]);
  });

  it("says what is wrong with its script, or missing in it", async () => {
    const message = async (script: Partial<Script> | string) =>
      failureOf(await agentFor(script).turn(workAsk(folder), never)).message;
    assert.match(await message('{"work": {"a": [{"end": "boom"}]}}'), /work\.a\[1\]\.end must be/);
    assert.match(await message("{"), /not JSON/);
    assert.match(await message({ work: {} }), /no work for t\.1 \("a"\)/);
  });

  it("fails where a step does not fit what is there, and leaves the rest undone", async () => {
    const steps: ScriptStep[] = [
      { do: "replace", path: "a.js", find: "x", with: "y" },
      { do: "write", path: "b.js", text: "" },
    ];
    writeFileSync(path.join(folder, "a.js"), "z");
    const { message } = failureOf(await work({ work: { a: [{ ...reporting("done"), steps }] } }));
    assert.match(message, /step 1 of attempt 1 at a: a\.js has no "x"/);
    assert.equal(existsSync(path.join(folder, "b.js")), false);
  });

  describe("waiting for another task", () => {
    const record = (job: string, brief: object, outcome?: object) => {
      const place = path.join(home, "jobs", job);
      mkdirSync(place, { recursive: true });
      writeFileSync(path.join(place, "job.json"), JSON.stringify({ brief }));
      if (outcome) writeFileSync(path.join(place, "answer.json"), JSON.stringify({ answer: { outcome } }));
    };
    const waitFor = (step: Pick<Await, "task" | "until"> & Partial<Await>, onLook = (_: number) => {}) => {
      let looks = 0;
      return awaited({ do: "await", ms: step.ms ?? 60_000, ...step }, path.join(home, "jobs"), () => {
        looks += 1;
        onLook(looks);
      });
    };

    it("ends with an attempt that was handed in, and is not taken in by an earlier one or by one that failed", () => {
      const attempt = (n: number) => ({ kind: "work", spec: { key: "b" }, attempt: n });
      record("work-t.2-1", attempt(1), { is: "worked" });
      record("work-t.2-2", attempt(2), { is: "failed" });
      record("work-t.2-3", attempt(3));
      record("work-t.3-9", { ...attempt(9), spec: { key: "c" } }, { is: "worked" });
      assert.equal(waitFor({ task: "b", until: "ready" }), undefined);
      const late = { task: "b", until: "ready", attempt: 2 } as const;
      assert.equal(waitFor({ ...late, ms: 0 }), "b (attempt 2) was not ready within 0 ms");
      assert.equal(
        waitFor(late, (n) => n === 3 && record("work-t.2-3", attempt(3), { is: "worked" })),
        undefined,
      );
    });

    it("ends with a landing of that task, and not with a candidate that it was only asked to be in", () => {
      const brief = { members: ["b", "c"].map((key, i) => ({ task: `t.${i + 2}`, spec: { key } })) };
      record("land-1", brief, { is: "red", members: [{ task: "t.2" }] });
      record("land-2", brief, { is: "landed", members: [{ task: "t.3" }] });
      assert.match(waitFor({ task: "b", until: "landed", ms: 0 }) ?? "", /b .*was not landed/);
      assert.equal(waitFor({ task: "c", until: "landed" }), undefined);
      const landed = { is: "landed", members: [{ task: "t.2" }] };
      assert.equal(
        waitFor({ task: "b", until: "landed" }, () => record("land-3", brief, landed)),
        undefined,
      );
    });

    it("looks where the run keeps its jobs, beside the folder of its turns", async () => {
      const turns = path.join(home, "turns");
      const file = path.join(home, "script.json");
      const steps: ScriptStep[] = [{ do: "await", task: "b", until: "ready", ms: 60_000 }];
      writeFileSync(file, JSON.stringify({ work: { a: [{ ...reporting("saw it"), steps }] } }));
      record("work-t.2-1", { spec: { key: "b" }, attempt: 1 }, { is: "worked" });
      assert.match(
        textOf(await scripted(file, agentParts(turns, heard)).turn(workAsk(folder), never)),
        /saw it/,
      );
    });
  });

  describe("its steps", () => {
    const read = (name: string) => readFileSync(path.join(folder, name), "utf8");
    const take = (...steps: readonly ScriptStep[]) =>
      steps.map((step) => takeStep(step, folder, () => {})).find(Boolean);

    it("write, append, replace, insert, rename and delete", () => {
      assert.equal(
        take(
          { do: "write", path: "a/b.js", text: "one\nmark\nmark\nend\n" },
          { do: "append", path: "a/b.js", text: "more\n" },
          { do: "append", path: "new.js", text: "new\n" },
          { do: "replace", path: "a/b.js", find: "one", with: "$& $1" },
          { do: "insert", path: "a/b.js", after: "mark", text: "inserted" },
          { do: "rename", path: "a/b.js", to: "c/d.js" },
          { do: "delete", path: "new.js" },
        ),
        undefined,
      );
      assert.equal(read("c/d.js"), "$& $1\nmark\nmark\ninserted\nend\nmore\n");
      assert.equal(existsSync(path.join(folder, "new.js")), false);
      assert.equal(existsSync(path.join(folder, "a/b.js")), false);
    });

    it("run a program, and say how it ended", () => {
      assert.equal(take({ do: "run", command: ["touch", "made $HOME"] }), undefined);
      assert.ok(existsSync(path.join(folder, "made $HOME")));
      assert.match(take({ do: "run", command: ["false"] }) ?? "", /false ended with 1/);
      assert.match(take({ do: "run", command: ["no-such-program"] }) ?? "", /could not be started/);
    });

    it("commit what there is", () => {
      const git = (...args: readonly string[]) =>
        execFileSync("git", args, { cwd: folder, encoding: "utf8" });
      git("init", "--quiet");
      assert.equal(
        take({ do: "write", path: "a.js", text: "" }, { do: "commit", message: "-m is no option" }),
        undefined,
      );
      assert.equal(git("log", "--format=%s %an", "--name-only").trim(), "-m is no option scripted\n\na.js");
    });

    it("stay in the workspace, also where a link leads out of it", () => {
      symlinkSync(home, path.join(folder, "out"));
      for (const step of [
        { do: "write", path: "out/a.js", text: "" },
        { do: "write", path: "out/new/a.js", text: "" },
        { do: "delete", path: "out" },
        { do: "rename", path: "b.js", to: "out/b.js" },
      ] as const)
        assert.match(
          take({ do: "write", path: "b.js", text: "" }, step) ?? "taken",
          /leads out of the workspace/,
        );
      assert.equal(existsSync(path.join(home, "a.js")), false);
    });
  });
});
