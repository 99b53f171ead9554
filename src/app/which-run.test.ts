/** Tests which run is chosen to be shown, told, stopped or resumed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import { failure } from "../core/failure.ts";
import type { Event } from "../core/log/event.ts";
import { hasFailed } from "../core/result.ts";
import type { Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import { runToResume, runToShow, runToStop, runToTell } from "./which-run.ts";

type Made = { readonly run: string; readonly pid?: number; readonly isClosed?: true };

const EVENTS = CoreRun.planned([task("a")]).log;

/** The runs, newest first. */
function projectWith(...made: readonly Made[]): Project {
  const homes = made.map(({ run, pid, isClosed }) => {
    const closed: Event = { type: "run.closed", how: "cancelled", at: 1, left: [] } as never;
    const events = isClosed ? [...EVENTS, closed] : EVENTS;
    return {
      record: { run, goal: "g", base: "b", createdAt: 0, settings: {} },
      log: {
        async *read() {
          yield* events;
        },
      },
      hasJobs: async () => true,
      owner: async () => (pid === undefined ? undefined : { pid, since: 0 }),
    } as unknown as RunHome;
  });
  const open = async (run: string) =>
    homes.find(({ record }) => record.run === run) ?? { failure: failure("repository", `no run ${run}`) };
  const runs = { list: async () => homes.map(({ record }) => record), open };
  return { runs, movedRuns: async () => [], stateFolder: "/state" } as unknown as Project;
}

const name = (found: object | undefined) =>
  found === undefined
    ? "none"
    : hasFailed(found)
      ? found.failure.message
      : ("home" in found ? (found.home as RunHome) : (found as RunHome)).record.run;

describe("the run that is meant", () => {
  it("is the one that is named, and a name that nobody has is a slip", async () => {
    const project = projectWith({ run: "a" });
    assert.equal(name(await runToShow("a", project)), "a");
    const end = await runToShow("b", project);
    assert.ok(hasFailed(end) && end.because === "unknown-run");
  });

  it("is, to be shown, the open one, else the newest", async () => {
    assert.equal(
      name(await runToShow(undefined, projectWith({ run: "b", isClosed: true }, { run: "a" }))),
      "a",
    );
    assert.equal(name(await runToShow(undefined, projectWith({ run: "b" }, { run: "a" }))), "b");
  });

  it("is, to be told something, the only open one", async () => {
    assert.equal(
      name(await runToTell(undefined, projectWith({ run: "b", isClosed: true }, { run: "a" }))),
      "a",
    );
    assert.equal(
      name(await runToTell(undefined, projectWith({ run: "b" }, { run: "a" }))),
      "several runs are open: b, a",
    );
    assert.equal(name(await runToTell(undefined, projectWith())), "there is no open run");
  });

  it("is, to be stopped, the only one that is going on", async () => {
    assert.equal(name(await runToStop(undefined, projectWith({ run: "b" }, { run: "a", pid: 7 }))), "a");
    assert.equal(name(await runToStop(undefined, projectWith({ run: "b" }))), "none");
  });

  it("is, to be resumed, the newest that nobody drives; the others are named", async () => {
    const found = await runToResume(undefined, projectWith({ run: "c", pid: 7 }, { run: "b" }, { run: "a" }));
    assert.equal(name(found), "b");
    assert.deepEqual("others" in found && found.others, ["a"]);
    const going = await runToResume(undefined, projectWith({ run: "c", pid: 7 }));
    assert.ok(hasFailed(going) && going.because === "run");
    assert.match(going.failure.message, /running in process 7/);
  });
});
