/** Tests `skein watch` on a real terminal: it shows a run, obeys keys, and gives the terminal back. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { transcriptName } from "../../src/adapters/transcripts.ts";
import { NO_METRICS } from "../../src/core/handoff.ts";
import type { TaskId } from "../../src/core/task.ts";
import { ROOT } from "../../tools/source-files.ts";
import { openTerminal } from "../support/terminal.ts";
import { makeRun, onFleet, planned, specOf } from "../web/place.ts";
import { DOWN, GOAL, heard, LIMIT, T, watch } from "./watching.ts";

describe("skein watch", () => {
  it("shows the run, its tasks and one of them, as they change", LIMIT, async () => {
    await using run = await makeRun("Add a greeting");
    await run.append(
      planned(GOAL, [
        { id: T(1), spec: specOf("words", "Write the words") },
        { id: T(2), spec: specOf("greet", "Say the words", "work", [T(1)]) },
      ]),
    );
    await using terminal = watch(run);
    await terminal.shows(
      /Add a greeting[\s\S]*running[\s\S]*0 done of 2 tasks so far[\s\S]*words[\s\S]*greet/,
    );
    await run.append({
      type: "job.started",
      job: { kind: "work", task: T(1), attempt: 1 },
      until: Date.now() + 60_000,
    });
    await terminal.shows(/words +working/);
    terminal.press(DOWN);
    terminal.press("\r");
    await terminal.shows(/words {2}t\.1[\s\S]*Write the words[\s\S]*work:t\.1#1/);
    terminal.press("\u001b");
    await terminal.shows(/greet/);
    terminal.resize(120, 40);
    await terminal.shows(/q leave/);
    assert.ok(
      terminal
        .screen()
        .split("\n")
        .every((line) => line.length <= 120),
    );
    await run.append({ type: "run.closed", how: "cancelled", left: [] });
    await terminal.shows(/cancelled/);
    terminal.press("q");
    assert.equal(await terminal.exited, 0);
    assert.ok(terminal.isOrdinary(), "the ordinary screen is back");
  });

  it("shows the machines of a fleet, who does what, and that none is there", LIMIT, async () => {
    await using run = await makeRun("Add a greeting");
    const tasks = ["words", "greet"].map((key, i) => ({ id: T(i + 1), spec: specOf(key, `Write ${key}`) }));
    await run.append(planned(GOAL, tasks), onFleet.offered(1), onFleet.offered(2));
    await using terminal = watch(run);
    await terminal.shows(
      /NEEDS YOU: no machine is in the fleet now: jobs wait[\s\S]*Waiting for a machine \(2\)\n○ +words, waiting for a machine/,
    );
    await run.append(onFleet.machine("build-1", "ready"), onFleet.machine("build-3", "silent"));
    await run.append(onFleet.taken(1, "build-1"));
    await terminal.shows(
      /machines: 1 ready \(1 of 2 slots busy with this run\), 1 silent: build-3[\s\S]*words on build-1[\s\S]*words +working on build-1[\s\S]*greet +waiting for a machine/,
    );
    await terminal.shows(
      /At work \(1\), waiting for a machine \(1\)\n● .*words on build-1.*\n○ +greet, waiting/,
    );
    await terminal.shows(/○ +greet +waiting for a machine/);
    await terminal.shows(/Nothing needs you/);
    await terminal.shows(/q leave/);
    terminal.press(DOWN);
    terminal.press("\r");
    await terminal.shows(/words {2}t\.1/);
    terminal.press("5");
    await terminal.shows(/worker, attempt 1 on build-1: running/);
    terminal.press("q");
    assert.equal(await terminal.exited, 0);
  });

  it("pauses, steers, approves and answers by keys", LIMIT, async () => {
    await using run = await makeRun();
    await using terminal = watch(run);
    await terminal.shows(/q leave/);
    terminal.press("p");
    assert.deepEqual(await heard(run), { type: "pause" });
    terminal.press("s");
    await terminal.shows(/Tell the planner:/);
    terminal.press("Keep the old name");
    await terminal.shows(/Keep the old name/);
    terminal.press("\r");
    assert.deepEqual(await heard(run), { type: "steer", message: "Keep the old name" });
    await run.append(planned(GOAL, [{ id: T(1), spec: specOf("words", "Write the words") }]), {
      type: "plan.proposed",
      tasks: [T(1)],
    });
    await terminal.shows(/NEEDS YOU: the plan waits/);
    terminal.press("a");
    assert.deepEqual(await heard(run), { type: "approve" });
    await run.append({ type: "plan.approved" });
    const session = "work:t.1#1" as never;
    await run.append(
      { type: "job.started", job: { kind: "work", task: T(1), attempt: 1 }, until: Date.now() + 60_000 },
      { type: "job.ended", job: session, how: "answered" },
      {
        type: "question.asked",
        task: T(1),
        attempt: 1,
        start: run.base,
        session,
        question: {
          id: "q1",
          task: T(1),
          text: "Which greeting?",
          until: Date.now() + 600_000,
          to: "person",
          tries: 0,
        },
      },
    );
    await terminal.shows(/^NEEDS YOU: words asks: Which greeting\? \(press r; no default; .* left\)/);
    terminal.press("r");
    await terminal.shows(/Answer to words:/);
    terminal.press("good morning");
    await terminal.shows(/good morning/);
    terminal.press("\r");
    assert.deepEqual(await heard(run), { type: "answer", question: "q1", text: "good morning" });
  });

  it("gives the terminal back when it is told to end, and when it is put aside", LIMIT, async () => {
    await using run = await makeRun();
    await using terminal = watch(run);
    await terminal.shows(/q leave/);
    assert.ok(!terminal.isOrdinary());
    // No shell could continue the program here, so it resumes by itself; test/tui/run.test.ts has a test with a shell.
    terminal.press("\u001a");
    await terminal.becomes(() => {
      const written = terminal.raw();
      const left = written.indexOf("\u001b[?1049l");
      return left > 0 && written.indexOf("\u001b[?1049h", left) > 0;
    });
    await terminal.shows(/q leave/);
    terminal.pty.kill("SIGTERM");
    await terminal.exited;
    assert.ok(terminal.isOrdinary());
  });

  it("gives the terminal back when what has launched it is killed", LIMIT, async () => {
    await using run = await makeRun();
    await using terminal = openTerminal(["bash", "--norc", "--noprofile", "-i"], {
      folder: run.project.located.top,
      env: { ...process.env, SKEIN_STATE_DIR: run.stateDir, PS1: "ready> " },
    });
    await terminal.shows(/ready>/);
    const file = path.join(run.stateDir, "launcher");
    const skein = `"${process.execPath}" "${path.join(ROOT, "bin/skein")}" watch`;
    terminal.press(`sh -c 'echo $$ > "${file}"; ${skein}; exit 3'\r`);
    await terminal.shows(/q leave/);
    process.kill(Number(readFileSync(file, "utf8")), "SIGKILL");
    await terminal.becomes(() => terminal.isOrdinary());
    terminal.press("echo still $((40 + 2))\r");
    await terminal.shows(/^still 42$/m);
    assert.ok(terminal.isOrdinary());
  });

  it("has its launcher give the terminal back when it is killed itself", LIMIT, async () => {
    await using run = await makeRun();
    // Pretends that the machine's own Node is too old, so that the launcher starts another one.
    const old = `if (!process.env.SKEIN_NODE_CHOSEN) Object.defineProperty(process.versions, "node", { value: "20.0.0" });`;
    await using terminal = watch(run, {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(old)}`,
    });
    await terminal.shows(/q leave/);
    const view = execFileSync("pgrep", ["-P", String(terminal.pty.pid)], { encoding: "utf8" });
    process.kill(Number(view), "SIGKILL");
    await terminal.becomes(() => terminal.isOrdinary());
    await terminal.exited;
  });

  it("survives a terminal that is far too small, and fills it once it is larger", LIMIT, async () => {
    await using run = await makeRun();
    await run.append(planned(GOAL, [{ id: T(1), spec: specOf("words", "Write the words") }]));
    await using terminal = openTerminal([process.execPath, path.join(ROOT, "bin/skein"), "watch"], {
      folder: run.project.located.top,
      env: { ...process.env, SKEIN_STATE_DIR: run.stateDir },
      columns: 20,
      rows: 5,
    });
    await terminal.shows(/running/);
    for (const key of [DOWN, "\r", "\t", "s", "x", "\u001b", "\u001b", "?", "?"]) terminal.press(key);
    for (const [columns, rows] of [
      [1, 1],
      [10, 2],
      [200, 3],
      [3, 50],
    ] as const)
      terminal.resize(columns, rows);
    terminal.resize(80, 24);
    await terminal.shows(/0 done of 1 task so far[\s\S]*words[\s\S]*q leave/);
    terminal.press("q");
    assert.equal(await terminal.exited, 0);
    assert.ok(terminal.isOrdinary());
  });

  it("has one thing at a time on a terminal of a few lines, each line its own", LIMIT, async () => {
    await using run = await makeRun();
    await run.append(planned(GOAL, [{ id: T(1), spec: specOf("words", "Write the words") }]));
    await using terminal = openTerminal([process.execPath, path.join(ROOT, "bin/skein"), "watch"], {
      folder: run.project.located.top,
      env: { ...process.env, SKEIN_STATE_DIR: run.stateDir },
      columns: 20,
      rows: 5,
    });
    await terminal.shows(/^running · 0 done of…\n· +the goal.*\n· +words.*\n\np pause/);
    terminal.press("s");
    await terminal.shows(/\nTell th…: ▏$/);
    terminal.press("keep it");
    await terminal.shows(/\nTell th…: keep it▏$/);
    terminal.press("\u001b");
    await run.append({ type: "setup.failed", failure: { kind: "setup", message: "npm ci failed" } });
    await terminal.shows(/^NEEDS YOU: /);
    terminal.press("n");
    await terminal.shows(/^Needs you.*\nnpm ci failed\n/);
  });

  it("says that nothing needs a person, and what its words mean", LIMIT, async () => {
    await using run = await makeRun();
    await using terminal = watch(run);
    await terminal.shows(/Nothing needs you/);
    terminal.press("?");
    await terminal.shows(/What the words mean[\s\S]*gate: the commands/);
    terminal.press("?");
    await terminal.shows(/Tasks[\s\S]*the goal/);
    await run.append({ type: "setup.failed", failure: { kind: "setup", message: "npm ci failed" } });
    assert.doesNotMatch(await terminal.shows(/NEEDS YOU/), /Nothing needs you/);
  });

  it("shows what models wrote as text, without colours where they are not wanted", LIMIT, async () => {
    const evil = "\u001b[2J\u001b]0;owned\u0007\u202eevil";
    await using run = await makeRun(evil);
    await run.append(planned(GOAL, [{ id: T(1), spec: specOf(evil, `${evil}${"x".repeat(100_000)}`) }]));
    await using terminal = watch(run, { NO_COLOR: "1" });
    const screen = await terminal.shows(/q leave/);
    assert.match(screen, /evil/);
    assert.ok(!terminal.raw().includes("owned\u0007") && !terminal.raw().includes("\u202e"));
    assert.doesNotMatch(terminal.raw(), /\[3[0-7]m/);
  });

  it("shows hostile transcripts, diffs, file names and reports as plain text", LIMIT, async () => {
    const bad = "<script>alert(1)</script>\u001b[2J\u001b]0;owned\u0007\u202e\u009b31m";
    await using run = await makeRun();
    const { top } = run.project.located;
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-C", top, "-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        encoding: "utf8",
      }).trim();
    await writeFile(
      path.join(top, `seen ${bad.replaceAll("/", "")}.txt`),
      `seen ${bad}\n${"y".repeat(1_000_000)}\n`,
    );
    git("add", ".");
    git("commit", "-qm", "evil");
    const job = "work:t.1#1";
    const transcripts = path.join(run.home.folder, "transcripts");
    await mkdir(transcripts, { recursive: true });
    const said = `seen ${bad} in the transcript\n${"z".repeat(1_000_000)}\nand ${bad} at its end\n`;
    await writeFile(path.join(transcripts, transcriptName(job)), said);
    await run.append(
      planned(GOAL, [{ id: T(1), spec: specOf("words", "Write the words") }]),
      { type: "job.started", job: { kind: "work", task: T(1), attempt: 1 }, until: Date.now() + 60_000 },
      { type: "job.ended", job: job as never, how: "answered" },
      {
        type: "task.handed-off",
        task: T(1),
        attempt: 1,
        handoff: {
          ...{ taskId: "t.1", status: "complete", diff: "", suggestions: [], metrics: NO_METRICS },
          ...{ summary: `seen ${bad} in the handoff`, concerns: [`seen ${bad} as a concern`] },
          filesChanged: [`seen ${bad}.txt`],
          commit: git("rev-parse", "HEAD"),
        },
      },
    );
    await using terminal = watch(run);
    await terminal.shows(/words +ready to land/);
    terminal.press("\r");
    await terminal.shows(/Write the words[\s\S]*and <script>alert\(1\)<\/script>.* at its end/);
    terminal.press("2");
    await terminal.shows(/\[2 Transcript\][\s\S]*zzzz…\nand <script>/);
    terminal.press("3");
    await terminal.shows(/\+\+\+ .*seen [\s\S]*\+seen <script>alert\(1\)<\/script>[\s\S]*\+y{70,}…/);
    terminal.press("4");
    await terminal.shows(/seen <script>.* in the handoff[\s\S]*concern: seen <script>/);
    terminal.press("\t");
    await terminal.shows(/\[5 Evidence\][\s\S]*1 file changed[\s\S]*seen <script>/);
    const written = terminal.raw();
    for (const steering of ["\u001b[2J\u001b]", "owned\u0007", "\u202e", "\u009b"])
      assert.ok(!written.includes(steering), JSON.stringify(steering));
  });

  it("folds subplans, says how far they are, and unfolds them", LIMIT, async () => {
    await using run = await makeRun();
    await run.append(
      planned(GOAL, [
        { id: T(1), spec: specOf("parser", "Split the parser", "plan") },
        { id: T(2), spec: specOf("words", "Write the words") },
      ]),
      planned(T(1), [
        { id: "t.1.1" as TaskId, spec: specOf("lexer", "Write the lexer") },
        { id: "t.1.2" as TaskId, spec: specOf("grammar", "Write the grammar") },
      ]),
      {
        type: "job.started",
        job: { kind: "work", task: "t.1.1" as TaskId, attempt: 1 },
        until: Date.now() + 60_000,
      },
    );
    await using terminal = watch(run);
    const folded = await terminal.shows(/▸ parser +split \(0 of 2 done, 1 at work\)/);
    assert.match(folded, /At work \(1\)\n.*parser\/lexer/);
    assert.doesNotMatch(folded, /grammar/);
    terminal.press(" ");
    await terminal.shows(/▾ parser +split {2}Split[^\n]*\n●.* lexer +working[^\n]*\n.* grammar +ready/);
    terminal.press(" ");
    await terminal.shows(/▸ parser/);
  });

  it("refuses where there is no terminal, and names what to use instead", LIMIT, async () => {
    const { main } = await import("../../src/surfaces/cli/main.ts");
    let said = "";
    const write = (text: string) => {
      said += text;
    };
    const stream = { write, hasColours: false };
    assert.equal(await main(["watch"], { out: stream, err: stream } as never), 2);
    assert.match(said, /needs a terminal[\s\S]*skein logs -f/);
  });
});
