/** Tests `skein report`: the end of a run with its numbers, an open run, and two runs compared. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeBarrier, makePlace } from "./cli-place.ts";

const GATE = ["--gate", "test -f README.md"];

test("the end of a run is said again with its numbers, by name or without one", async () => {
  await using place = await makePlace();
  const ran = await place.skein("run", "write two files", "--agent", place.agent, ...GATE);
  assert.equal(ran.code, 0, ran.err);
  const [, run = ""] = /^run {5}(\S+)$/m.exec(ran.out)!;
  const end = ran.out.slice(ran.out.indexOf(`\nRun ${run} is done`));
  const [{ out: again }, named] = [await place.skein("report"), await place.skein("report", run)];
  assert.deepEqual(named, { code: 0, out: again, err: "" });
  const [headline = ""] = end.split("\n\nLanded");
  assert.ok(again.startsWith(headline), "it begins as it was said then");
  for (const title of ["Landed (2)", "Numbers", "Where the time went", "To be faster next time", "Next"])
    assert.ok(again.includes(`\n\n${title}`), title);
  assert.equal(again.slice(again.indexOf("\nNext")), end.slice(end.indexOf("\nNext")));
  const json = JSON.parse((await place.skein("report", "--json")).out);
  assert.deepEqual(
    [json.run, json.is, json.state, json.isOver, json.branch],
    [run, "done", "done", true, `skein/${run}/target`],
  );
  assert.equal(json.landings.length, 2);
  const markdown = await place.skein("report", "--markdown");
  assert.match(
    markdown.out,
    new RegExp(
      `^# Run ${run} is done: .*\\n\\n> write two files\\n\\n- The work is on branch .*Next: .*deliver.*\\n- cost: .*\\n\\n## Landed`,
    ),
  );
  const page = await place.skein("report", "--html");
  assert.match(page.out, /^<!doctype html>\n[\s\S]*<svg [\s\S]*<\/html>\n$/);
  assert.equal((await place.skein("report", "--html", "--markdown")).code, 2);
  const unknown = await place.skein("report", "nope");
  assert.deepEqual([unknown.code, /there is no run/.test(unknown.err)], [2, true]);
});

test("of a run that is not over, the report has what is there so far, and says so", async () => {
  await using place = await makePlace();
  assert.equal((await place.skein("report")).code, 2, "there is no run yet");
  const barrier = await makeBarrier(place.folder);
  await using slow = await makePlace({ work: `[ "$SKEIN_TASK" = t.1 ] || { ${barrier.wait}; }` });
  const live = slow.start("run", "write two files", "--agent", slow.agent, ...GATE);
  await live.says("Worker started on two");
  const going = await slow.skein("report");
  assert.match(
    going.out,
    /^\nRun (\S+) is still running\. So far: 1 of 2 tasks done, in .*\n {2}Nothing needs you\n {2}cost: .*\n\nLanded \(1\)\n/,
  );
  assert.match(going.out, /logs \S+ -f {2}# what happens\n$/);
  live.kill("SIGKILL");
  await live.ended;
  const stopped = await slow.skein("report");
  assert.match(stopped.out, /^\nRun \S+ is stopped\. So far: 1 of 2 tasks done/);
  assert.match(stopped.out, /resume \S+ {2}# continue the run\n$/);
  const json = JSON.parse((await slow.skein("report", "--json")).out);
  assert.deepEqual([json.isOver, json.state], [false, "stopped"]);
  await barrier.open();
});

test("two runs are compared, figure by figure and task by task", async () => {
  await using place = await makePlace();
  const runs: string[] = [];
  for (const planner of [[], ["--planner", "none"]]) {
    const { out } = await place.skein("run", "write two files", "--agent", place.agent, ...planner, ...GATE);
    runs.push(/^run {5}(\S+)$/m.exec(out)![1]!);
  }
  const { code, out } = await place.skein("diff", ...runs);
  assert.equal(code, 0);
  assert.match(out, new RegExp(`^Figures that differ .*\\n +${runs[0]} +${runs[1]} +change$`, "m"));
  assert.match(out, /^ {2}tasks landed +2 +1 +−1$/m);
  assert.match(out, /^ {2}two +done +not there$/m);
  const json = JSON.parse((await place.skein("diff", ...runs, "--json")).out);
  assert.deepEqual([json.before, json.after, json.isEqual], [...runs, false]);
  assert.equal((await place.skein("diff", runs[0]!, "nope")).code, 2);
});
