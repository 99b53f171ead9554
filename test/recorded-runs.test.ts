/** Tests that recorded runs of earlier versions can be read and resumed; test/fixtures/runs/record.ts made them. */
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { jobOf } from "./e2e/model-accounting.ts";
import {
  endOf,
  eventsIn,
  FIXTURES,
  type RestoredRun,
  readRecorded,
  recordedRuns,
  restoreRun,
  resumeRun,
} from "./e2e/recorded-place.ts";

const LIMIT = { timeout: 120_000 };
const FIRST_DAY = "2026-11-17";
const runs = recordedRuns().map(({ day, kind }) => {
  const fixture = path.join(FIXTURES, day, kind);
  return { name: `${kind} of ${day}`, fixture, recorded: readRecorded(fixture) };
});

type Row = { readonly task: string; readonly key: string; readonly word: string };
const jsonOf = async <T>({ ask }: RestoredRun, ...args: readonly string[]): Promise<T> => {
  const { code, out, err } = await ask(...args, "--json");
  assert.equal(code, 0, `skein ${args.join(" ")}: ${err}`);
  return JSON.parse(out) as T;
};

/** Another attempt at a task asks the same question; the next turn of a planner asks another one. */
const questionOf = (job: string) => (job.startsWith("work:") ? job.replace(/#\d+$/, "") : job);

it("the recorded runs are all there", () => {
  const kinds = recordedRuns().flatMap(({ day, kind }) => (day === FIRST_DAY ? [kind] : []));
  assert.deepEqual(kinds.sort(), [
    ...["demo", "incomplete", "killed", "model", "parked", "plan", "plan-stopped", "proposed", "stopped"],
  ]);
});

describe("a recorded run", { concurrency: 4 }, () => {
  for (const { name, fixture, recorded } of runs)
    it(`is read and shown as it was left: ${name}`, LIMIT, async () => {
      const { run, end, state } = recorded;
      await using place = await restoreRun(fixture);
      const events = await eventsIn(place, run);
      assert.deepEqual(endOf(events), end);

      const all = await jsonOf<{ readonly runs: readonly object[] }>(place, "status");
      assert.partialDeepStrictEqual(all.runs, [{ run, state }]);
      const ends = Object.entries(end.tasks);
      const settled = (word: string) => ends.filter(([task, is]) => task !== "t t" && is === word).length;
      const { tokens, microdollars } = end;
      assert.partialDeepStrictEqual(await jsonOf(place, "status", run), {
        run,
        state,
        counts: { total: ends.length - 1, done: settled("done"), failed: settled("failed") },
        target: { tip: end.tip },
        spent: { tokens, microdollars },
      });

      const shown = await jsonOf<{ readonly tasks: readonly Row[] }>(place, "show", run);
      const words = new Map(shown.tasks.map(({ task, word }) => [task, word]));
      assert.equal(words.size, ends.length);
      for (const [task, is] of ends)
        if (is !== "open") assert.equal(words.get(task.split(" ")[0]!), is, task);

      assert.equal(await place.repository.git("rev-parse", `skein/${run}/target`), end.tip);
      if (end.how === "open") return;
      const { code } = await place.ask("resume", run);
      assert.equal(code, end.how === "done" ? 0 : 1, "there is nothing to go on with");
      assert.deepEqual(await eventsIn(place, run), events);
    });

  for (const { name, fixture, recorded } of runs.filter(({ recorded: { resumed } }) => resumed))
    it(`is resumed to its end if it is open, and no answer is asked for again: ${name}`, LIMIT, async () => {
      const { run, end, resumed, answered } = recorded;
      const { events, asked, calls, paid, words, ...is } = await resumeRun(fixture, async (place) => {
        const { git } = place.repository;
        await git("merge-base", "--is-ancestor", end.tip, `skein/${run}/target`);
        assert.equal(await git("status", "--porcelain"), "", "the checkout is the user's");
        const workspaces = path.join(await place.state(), "runs", run, "workspaces");
        assert.deepEqual(existsSync(workspaces) ? readdirSync(workspaces) : [], []);
      });
      assert.deepEqual(is, resumed, words);
      const known = new Set(answered.map(questionOf));
      const repeated = asked.filter((job) => known.has(questionOf(job)));
      assert.deepEqual(repeated, [], `of what was asked for: ${asked.join(", ")}`);
      assert.ok(asked.length > 0);
      const replanned = calls.find((call) => jobOf(call).startsWith("plan:t#"))?.messages ?? [];
      const isRemembered = replanned.some(({ role }) => role === "assistant");
      assert.equal(isRemembered, calls.length > 0, "a model that plans is sent what it said before");
      const { how, left, tokens, tasks } = endOf(events);
      assert.deepEqual([how, left], [resumed!.how, []]);
      assert.equal(tokens, (recorded.recorded.paid ?? 0) + paid, "each token is counted, once");
      for (const [task, word] of Object.entries(end.tasks))
        if (word !== "open") assert.equal(tasks[task], word);
    });
});
