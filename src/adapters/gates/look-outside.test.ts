/** Tests when a base that fails in the sandbox is tried outside of it, and what the user is told. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failure } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { Gate, GatedTree, GateRun } from "../../ports/gate.ts";
import { lookingOutside } from "./look-outside.ts";

const NEVER = new AbortController().signal;
const BASE: GatedTree = { job: "check#1" as JobId, commit: "c", rules: "c", isBase: true };

const run = (...failures: readonly string[]): GateRun => ({
  report: { commands: [{ name: "test", green: failures.length === 0, failures }] },
  problems: [],
  tail: failures.length === 0 ? "" : "connect ECONNREFUSED",
});

/** Makes gates that answer in order, the last answer repeatedly; `asked` lists which gate was asked. */
function gates(inside: readonly (GateRun | Failed)[], outside: GateRun | Failed, isConfined = true) {
  const asked: string[] = [];
  const left = [...inside];
  const gate: Gate = {
    run: async () => {
      asked.push("inside");
      return left.length > 1 ? left.shift()! : left[0]!;
    },
    prepare: () => {},
    probe: async () => ({ is: "proved" }),
    changes: async () => [],
  };
  const free = {
    run: async () => {
      asked.push("outside");
      return outside;
    },
  };
  return {
    asked,
    gate: lookingOutside({ inside: gate, outside: free, isConfined: async () => isConfined, network: false }),
  };
}

it("a base that fails in the sandbox alone, twice, does not run there: never red, with the lines to choose", async () => {
  const { gate, asked } = gates([run("a", "b")], run());
  const steps: (string | undefined)[] = [];
  for (const _ of [1, 2]) {
    const ran = await gate.run({ ...BASE, onStep: (step) => steps.push(step) }, NEVER);
    assert.ok(!hasFailed(ran) && ran.setup);
    assert.equal(ran.setup.kind, "setup");
    assert.match(
      ran.setup.message,
      /base, `test: a`, `test: b` fail in the sandbox and pass outside of it: connect ECONNREFUSED$/,
    );
    assert.match(ran.setup.next ?? "", /`gateSandbox: off`.*`network: true`.*`workspace: \{ share: /);
  }
  assert.deepEqual(asked, ["inside", "outside", "inside", "inside"], "looked outside once");
  assert.deepEqual(
    steps.map((step) => step?.split(",")[0]),
    ["a workspace outside of the sandbox", "a fresh workspace in the sandbox"],
  );
});

it("what fails on both sides is red; what fails only inside is not, whatever else is red", async () => {
  const both = gates([run("a")], run("a"));
  assert.deepEqual(await both.gate.run(BASE, NEVER), run("a"));
  assert.deepEqual(both.asked, ["inside", "outside"]);
  const more = await gates([run("a", "b")], run("a")).gate.run(BASE, NEVER);
  assert.match(
    (!hasFailed(more) && more.setup?.message) || "",
    /base, `test: b` fails in the sandbox and passes outside of it: /,
  );
});

it("a flaky test that happens to pass outside stays the engine's to look at again", async () => {
  assert.deepEqual(await gates([run("a"), run()], run()).gate.run(BASE, NEVER), run("a"));
});

it("a set-up command that fails only inside is said the same way; one that fails on both sides as it is", async () => {
  const broken = { failure: failure("repository", "the set-up command (npm ci) ended with 1") };
  const ran = await gates([broken], run()).gate.run(BASE, NEVER);
  assert.match(
    (!hasFailed(ran) && ran.setup?.message) || "",
    /`workspace\.setup` fails in the sandbox and passes .*npm ci/,
  );
  assert.deepEqual(await gates([broken], broken).gate.run(BASE, NEVER), broken);
});

it("a package that each workspace could install is proposed to be, before any gate without a sandbox", async () => {
  const what = "the tree's own package shop is not installed";
  const mended = "let each workspace be set up, in skein.yaml:\nworkspace:\n  setup: pip install -e .";
  const lacking = (next: string): GateRun => ({
    report: { commands: [{ name: "pytest", green: false, failures: [`cannot be run: ${what}`] }] },
    problems: [],
    tail: "pytest:\nModuleNotFoundError: No module named 'shop'",
    setup: failure("setup", `the gate's command "pytest" cannot be run: ${what}`, next),
  });
  const ran = await gates([lacking(mended)], run()).gate.run(BASE, NEVER);
  assert.ok(!hasFailed(ran) && ran.setup);
  const sentence = `base, \`pytest\` fails in the sandbox and passes outside of it: ${what}`;
  assert.ok(ran.setup.message.endsWith(sentence), ran.setup.message);
  assert.ok(ran.setup.next?.startsWith(`${mended}\nor, `), ran.setup.next);
  assert.match(ran.setup.next ?? "", /`gateSandbox: off`/);
  const other = await gates([lacking("start it before the run")], run()).gate.run(BASE, NEVER);
  assert.match((!hasFailed(other) && other.setup?.next) || "", /^choose one line .*`gateSandbox: off`/);
});

it("what is quoted begins with a whole line, or a whole word", async () => {
  const said = async (tail: string) => {
    const ran = await gates([{ ...run("a"), tail }], run()).gate.run(BASE, NEVER);
    return (!hasFailed(ran) && ran.setup?.message.split("outside of it:")[1]) || "";
  };
  assert.match(await said("first word ".repeat(100)), /^ … (?:word )?(?:first word ?)+$/);
  assert.match(
    await said("one whole line\n".repeat(100)),
    /^\n… one whole line\n(?:one whole line\n)+one whole line$/,
  );
});

it("nothing but the base is ever run outside, and nothing where there is no sandbox", async () => {
  const { isBase: _, ...candidate } = BASE;
  for (const [tree, isConfined] of [
    [candidate, true],
    [BASE, false],
  ] as const) {
    const { gate, asked } = gates([run("a")], run(), isConfined);
    assert.deepEqual(await gate.run(tree, NEVER), run("a"));
    assert.deepEqual(asked, ["inside"]);
  }
  const green = gates([run()], run());
  await green.gate.run(BASE, NEVER);
  assert.deepEqual(green.asked, ["inside"]);
});

it("a look outside that is stopped says nothing about the base", async () => {
  const stop = new AbortController();
  const { gate } = gates([run("a")], run());
  const looked = gate.run(BASE, stop.signal);
  stop.abort();
  const ran = await looked;
  assert.deepEqual(hasFailed(ran) && ran.failure.kind, "cancelled");
});
