/** Tests gates that fail over files of their earlier runs, or by turns: good changes land, or the run says why not. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { knownFlaky } from "../../src/app/flaky-history.ts";
import { flakyTestsOf } from "../../src/compose/project.ts";
import type { Event, EventOf } from "../../src/core/log/event.ts";
import { narrate } from "../../src/core/view/narrate.ts";
import { closing, makeSetting, runGoal } from "../support/live-runs.ts";
import { plans, task, writes } from "../support/scripts.ts";

/** `ln -s` fails where an earlier version has left the link. Git ignores everything that the rules make. */
const MAKEFILE = `V := $(shell cat version)

test: build/one.so
	@grep -qx "version $(V)" build/one.so

build/one.so: build/one.$(V)
	ln -s one.$(V) build/one.so

build/one.$(V): version
	@mkdir -p build
	@echo "version $(V)" > build/one.$(V)
`;
const FILES = { Makefile: MAKEFILE, ".gitignore": "build/\n", version: "1\n", "README.md": "x\n" };
const DONE = { answer: { scratchpad: "", tasks: [], done: true } };
const RAISES = task("raise", { scope: ["version"] });

const gateRuns = (events: readonly Event[]) =>
  events.filter(
    (event) =>
      event.type === "job.started" &&
      ((event.job.kind === "check" && !event.job.probe) ||
        (event.job.kind === "land" && event.job.moves === undefined)),
  ).length;
const all = <T extends Event["type"]>(events: readonly Event[], type: T) =>
  events.filter((event): event is EventOf<T> => event.type === type);

describe("a gate that fails over what its own runs leave", () => {
  it("refuses no good change, blames no test, names what is in its way, and costs one run more", async () => {
    await using place = await makeSetting({
      files: FILES,
      script: {
        plans: { t: [plans(task("a"), { ...RAISES, after: ["a"] }), DONE] },
        work: { a: [writes("a.txt")], raise: [writes("version", "2\n")] },
      },
    });
    const run = await runGoal(place, place.config({ gate: [{ name: "test", run: "make test" }] }));
    assert.equal(closing(run.end), "done");
    assert.equal(gateRuns(run.events), 1 + 2 + 1 + 1, "the base, two tasks, the end, and one that was fresh");
    const [found, ...more] = all(run.events, "leftovers.found");
    assert.equal(more.length, 0);
    assert.equal(found?.leftovers.files[0], "build/one.so", "what the gate speaks of comes first");
    assert.ok(run.end.is === "closed");
    assert.match(
      narrate(found!, run.end.state)?.text ?? "",
      /^Your gate fails over its own leftovers: build\/one\.so, .*gateWorkspace: fresh/,
    );
    assert.deepEqual(all(run.events, "task.retried"), []);
    assert.deepEqual(await knownFlaky(flakyTestsOf(place.project)), []);
  });

  it("calls no test flaky that fails because an earlier run removed what set-up had made, and names that", async () => {
    await using place = await makeSetting({
      files: { ".gitignore": "made/\n", "README.md": "x\n" },
      script: { plans: { t: [plans(task("a")), DONE] }, work: { a: [writes("a.txt")] } },
    });
    const test = "test -f made/seed && rm made/seed || { echo 'not ok 1 - has its seed'; exit 1; }";
    const settings = { gate: [{ name: "test", run: test }], gateProbe: "off" };
    const setup = { "workspace.setup": "mkdir -p made && touch made/seed made/other" };
    const run = await runGoal(place, place.config({ ...settings, ...setup }));
    assert.equal(closing(run.end), "done");
    const found = all(run.events, "leftovers.found");
    assert.deepEqual(
      [...new Set(found.flatMap(({ leftovers }) => leftovers.files))],
      ["made/seed (removed)"],
    );
    assert.deepEqual(await knownFlaky(flakyTestsOf(place.project)), []);
  });

  it("never meets leftovers where each run gets a fresh workspace", async () => {
    await using place = await makeSetting({
      files: FILES,
      script: {
        plans: { t: [plans(RAISES), DONE] },
        work: { raise: [writes("version", "2\n")] },
      },
    });
    const gate = [{ name: "test", run: "make test" }];
    const run = await runGoal(place, place.config({ gate, gateWorkspace: "fresh" }));
    assert.equal(closing(run.end), "done");
    assert.deepEqual([gateRuns(run.events), all(run.events, "leftovers.found").length], [3, 0]);
  });
});

/** Fails where the socket exists already, and leaves it. */
const LEAVES_SOCKET = `const folder = process.argv[2];
require("node:fs").mkdirSync(folder, { recursive: true });
require("node:net").createServer().listen(folder + "/app.sock", () => process.exit(0));
`;

describe("a gate whose tests leave a socket", () => {
  for (const folder of ["build", "node_modules/.cache", "open", "build/inner/.git"])
    it(`never meets it again in ${folder}: each run begins without`, async () => {
      await using place = await makeSetting({
        files: { ".gitignore": "build/\nnode_modules/\n", "test.js": LEAVES_SOCKET, "README.md": "x\n" },
        script: { plans: { t: [plans(task("a")), DONE] }, work: { a: [writes("a.txt")] } },
      });
      const run = await runGoal(
        place,
        place.config({ gate: [{ name: "test", run: `node test.js ${folder}` }] }),
      );
      assert.equal(closing(run.end), "done");
      assert.equal(gateRuns(run.events), 1 + 1 + 1, "the base, the task, and the end");
      assert.deepEqual(all(run.events, "leftovers.found"), []);
    });

  it("is red, not lacking in set-up, where it fails over a socket of its own run, and names the socket", async () => {
    await using place = await makeSetting({
      files: { ".gitignore": "build/\n", "test.js": LEAVES_SOCKET, "README.md": "x\n" },
      script: { plans: { t: [plans(task("a")), DONE] }, work: { a: [writes("a.txt")] } },
    });
    const gate = [1, 2].map((number) => ({ name: `test ${number}`, run: "node test.js build" }));
    const run = await runGoal(place, place.config({ gate, onRedBase: "stop" }));
    const said = JSON.stringify(all(run.events, "base.failed"));
    assert.match(said, /the socket build\/app\.sock is in its way, which this run of the gate left there/);
    assert.doesNotMatch(
      JSON.stringify(run.events),
      /port that it needs is taken|does not run in the sandbox/,
    );
  });
});

describe("a gate that fails by turns", () => {
  it("ends, and good changes land, where it is red at every second run", async () => {
    await using place = await makeSetting({
      files: { "README.md": "x\n" },
      script: {
        plans: { t: [plans(task("a"), task("b")), DONE, DONE] },
        work: { a: [writes("a.txt")], b: [writes("b.txt")] },
      },
    });
    const count = path.join(place.folder, "count");
    const gate = `mkdir -p '${count}'; n=$(ls '${count}' | wc -l); touch "${count}/$n"; test $((n % 2)) = 0`;
    const settings = { gate: [{ name: "build", run: gate }], gateSandbox: "off", gateProbe: "off" };
    const run = await runGoal(place, place.config(settings));
    assert.equal(closing(run.end), "done");
    const { length } = readdirSync(count);
    assert.ok(length <= 2 + 3 * 2, `${length} gate runs`);
  });
});
