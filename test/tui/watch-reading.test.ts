/** Tests what a person reads and answers in `skein watch`: needs, gate output, and one of a thousand tasks. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { transcriptName } from "../../src/adapters/transcripts.ts";
import { type Handoff, NO_METRICS } from "../../src/core/handoff.ts";
import type { Fact } from "../../src/core/log/event.ts";
import { makeRun, planned, specOf } from "../web/place.ts";
import { asked, GOAL, heard, LIMIT, T, watch } from "./watching.ts";

const HANDOFF: Handoff = {
  ...{ taskId: "t.1", summary: "", diff: "", filesChanged: [], concerns: [], suggestions: [] },
  ...{ status: "complete", metrics: NO_METRICS },
};

describe("skein watch, as it is read", () => {
  it(
    "shows each need on one line, opens it in full, and answers it with what was typed at once",
    LIMIT,
    async () => {
      await using run = await makeRun();
      const long = `${"The whole of it matters. ".repeat(20)}Which of them is the LAST word?`;
      const numbers = [1, 2, 3, 4, 5, 6, 7, 8, 9];
      await run.append(
        planned(
          GOAL,
          numbers.map((n) => ({ id: T(n), spec: specOf(`part-${n}`, `Write part ${n}`) })),
        ),
        ...numbers.flatMap((n) => asked(run, n, n === 1 ? long : `Question ${n}?`)),
      );
      await using terminal = watch(run);
      const needs = (screen: string) => screen.split("\n").filter((text) => text.startsWith("NEEDS YOU"));
      const first = await terminal.shows(/NEEDS YOU: 5 more things \(press n to read\)/);
      assert.equal(needs(first).length, 5);
      assert.doesNotMatch(first, /LAST word/, "one line each");
      assert.match(
        first,
        /^NEEDS YOU: part-1 asks: The whole of it matters.*… \(press r; \S+ min \S+ s left\)$/m,
      );
      terminal.resize(100, 24);
      await terminal.shows(
        /^NEEDS YOU: part-2 asks: Question 2\? \(press r; default: default 2; .* left\)$/m,
      );
      terminal.resize(44, 12);
      await terminal.shows(/^NEEDS YOU: 9 things \(press n to read\)\n[\s\S]*Tasks/);
      terminal.resize(80, 24);
      await terminal.becomes(() => needs(terminal.screen()).length === 5);
      terminal.press("n");
      await terminal.shows(
        /Needs you, 1 of 9[\s\S]*part-1 asks:[\s\S]*LAST\s+word[\s\S]*Default, taken in .* default 1/,
      );
      terminal.press("n");
      await terminal.shows(/Needs you, 2 of 9[\s\S]*Question 2\?/);
      terminal.press("r");
      await terminal.shows(/part-2 asks:[\s\S]*Answer to part-2: ▏default: default 2/);
      terminal.press("wrong words");
      await terminal.shows(/Answer to part-2: wrong words▏/);
      terminal.press("\u0017");
      await terminal.shows(/Answer to part-2: wrong ▏/);
      terminal.press("\u0015");
      await terminal.shows(/Answer to part-2: ▏default/);
      terminal.press("right\r");
      assert.deepEqual(await heard(run), { type: "answer", question: "q2", text: "right" });
      terminal.press("\u001b");
      await terminal.shows(/Tasks/);
      terminal.press("r");
      await terminal.shows(/part-1 asks:[\s\S]*LAST\s+word\?[\s\S]*Answer to part-1: ▏default/);
      terminal.press("\r");
      assert.deepEqual(await heard(run), { type: "answer", question: "q1", text: "default 1" });
      // An open need stays open while another is answered, and a text longer than the screen can be scrolled.
      for (let i = 0; i < 3; i += 1) terminal.press("n");
      await terminal.shows(/Needs you, 3 of 9[\s\S]*Question 3\?/);
      await run.append({ type: "question.answered", question: "q2", text: "right", by: "person" });
      await terminal.shows(/Needs you, 2 of 8[\s\S]*Question 3\?/);
      terminal.press("\u001b");
      await terminal.shows(/Tasks/);
      terminal.resize(60, 14);
      terminal.press("r");
      await terminal.shows(/… \(Up and Down scroll\)[\s\S]*Answer to part-1/);
      for (let i = 0; i < 12; i += 1) terminal.press("\u001b[A");
      await terminal.shows(/part-1 asks:\n {2}The whole of it matters/);
    },
  );

  it(
    "shows what the gate wrote, what failed first, and what a failed attempt had changed",
    LIMIT,
    async () => {
      await using run = await makeRun();
      const { top } = run.project.located;
      const git = (...args: readonly string[]) =>
        execFileSync("git", ["-C", top, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
          encoding: "utf8",
        }).trim();
      const { run: name } = run.home.record;
      git("switch", "-qc", `skein/${name}/task/t.1.1-words`);
      await writeFile(path.join(top, "words.txt"), "what attempt one wrote\n");
      git("add", ".");
      git("commit", "-qm", "words");
      git("switch", "-q", "-");
      const transcripts = path.join(run.home.folder, "transcripts");
      await mkdir(transcripts, { recursive: true });
      const passed = Array.from({ length: 40 }, (_, i) => `ok ${i + 1} - passes`).join("\n");
      const evil = "\u001b]0;owned\u0007\u202e";
      await writeFile(
        path.join(transcripts, transcriptName("land#1.2")),
        `$ npm test\n${passed}\nnot ok 41 - counts words ${evil}\n  error: 2 !== 3\n[exit code 1]\n`,
      );
      const until = Date.now() + 60_000;
      const member = { task: T(1), attempt: 1 };
      await run.append(
        planned(GOAL, [{ id: T(1), spec: specOf("words", "Write the words") }]),
        { type: "job.started", job: { kind: "work", ...member }, until },
        { type: "job.ended", job: "work:t.1#1" as never, how: "answered" },
        { type: "job.started", job: { kind: "land", turn: 1, members: [member] }, until },
        {
          ...{ type: "job.ended", job: "land#1" as never, how: "answered" },
          gates: [
            { output: "land#1", ms: 700, green: false },
            { output: "land#1.2", ms: 900, green: false },
          ],
        },
        {
          ...{ type: "task.retried", ...member, charge: "refused", retryAt: until },
          failure: { kind: "gate-red", message: "breaks the gate" },
        },
      );
      await using terminal = watch(run);
      await terminal.shows(/words/);
      terminal.press("g");
      const failing = await terminal.shows(
        /failed in 0\.9 s: gate for words, land#1\ngate run 2 of 2[\s\S]*not ok 41 - counts words/,
      );
      assert.doesNotMatch(failing, /ok 12 - passes/);
      terminal.press("w");
      await terminal.shows(/lines 1 to \d+ of 44[\s\S]*ok 12 - passes/);
      terminal.press("[");
      await terminal.shows(/gate run 1 of 2[\s\S]*Its output is not kept/);
      terminal.press("\u001b");
      await terminal.shows(/Tasks/);
      terminal.press("\r");
      await terminal.shows(/words {2}t\.1/);
      terminal.press("6");
      await terminal.shows(/\[6 Gate\][\s\S]*not ok 41 - counts words[\s\S]*2 !== 3/);
      terminal.press("3");
      await terminal.shows(/\[3 Diff\]/);
      terminal.press("[");
      await terminal.shows(/attempt 1 failed: breaks the gate[\s\S]*\+what attempt one wrote/);
      assert.ok(!terminal.raw().includes("owned\u0007") && !terminal.raw().includes("\u202e"));
    },
  );

  it(
    "leaves a small screen to the output that is open, and lines of megabytes harm nothing",
    LIMIT,
    async () => {
      await using run = await makeRun();
      const transcripts = path.join(run.home.folder, "transcripts");
      await mkdir(transcripts, { recursive: true });
      const evil = "<script>alert(1)</script>\u001b[2J\u001b]0;owned\u0007\u202e\u009b31m";
      const huge = (text: string) => `${text} ${evil} ${"x".repeat(5_000_000)}`;
      await writeFile(
        path.join(transcripts, transcriptName("land#1")),
        `$ npm test\nok 1 - fine\n${huge("not ok 2 - counts")}\n${huge("Error: late")}\n[exit code 1]\n`,
      );
      await run.append(
        planned(
          GOAL,
          [1, 2, 3, 4].map((n) => ({ id: T(n), spec: specOf(`part-${n}`, "x") })),
        ),
        ...[1, 2, 3].flatMap((n) => asked(run, n, `Question ${n}?`)),
        { type: "job.started", job: { kind: "work", task: T(4), attempt: 1 }, until: Date.now() + 60_000 },
        { type: "job.ended", job: "work:t.4#1" as never, how: "answered" },
        {
          type: "job.started",
          job: { kind: "land", turn: 1, members: [{ task: T(4), attempt: 1 }] },
          until: Date.now() + 60_000,
        },
        {
          ...{ type: "job.ended", job: "land#1" as never, how: "answered" },
          gates: [{ output: "land#1", ms: 700, green: false }],
        },
      );
      await using terminal = watch(run, {}, { columns: 40, rows: 15 });
      await terminal.shows(/^(?:NEEDS YOU: part-\d asks.*\n){3}/);
      terminal.press("g");
      await terminal.shows(
        /^NEEDS YOU: 3 things \(press n to read\)\n[\s\S]*gate run 1 of 1[\s\S]*not ok 2 - counts <script>alert/,
      );
      terminal.press("w");
      await terminal.shows(/lines 1 to \d of \d[\s\S]*ok 1 - fine\nnot ok 2 - counts/);
      for (const steering of ["\u001b[2J\u001b]", "owned\u0007", "\u202e", "\u009b"])
        assert.ok(!terminal.raw().includes(steering), JSON.stringify(steering));
    },
  );

  it("keeps up with a thousand tasks", LIMIT, async () => {
    await using run = await makeRun();
    const tasks = Array.from({ length: 1_000 }, (_, i) => ({
      id: T(i + 1),
      spec: specOf(`part-${i + 1}`, "x"),
    }));
    await run.append({ ...planned(GOAL, tasks), replanAfter: 1_000 } as Fact);
    await using terminal = watch(run);
    await terminal.shows(/0 done of 1000 tasks so far/);
    for (let i = 0; i < 50; i += 1) terminal.press("\u001b[6~");
    await terminal.shows(/part-5\d\d/);
    terminal.press("/PART-77");
    await terminal.shows(/Tasks: 11 of 1001, with "PART-77"[\s\S]*part-77 [\s\S]*part-770 [\s\S]*part-779 /);
    terminal.press("\u001b");
    await terminal.shows(/^Tasks$/m);
    const done = tasks.slice(0, 900).flatMap(({ id: task }): readonly Fact[] => [
      { type: "job.started", job: { kind: "work", task, attempt: 1 }, until: Date.now() + 60_000 },
      { type: "job.ended", job: `work:${task}#1` as never, how: "answered" },
      { type: "task.done", task, handoff: HANDOFF },
    ]);
    await run.append(...done);
    await terminal.shows(/Tasks: 101 of 1001, done ones hidden \(h: show\)[\s\S]*part-901 /);
    terminal.press("h");
    await terminal.shows(/^Tasks$/m);
  });
});
