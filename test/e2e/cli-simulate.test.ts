/** Tests `skein simulate`: forecasts of plans that learn from recorded runs, as text and as JSON. */
import assert from "node:assert/strict";
import { mkdtemp, mkdtempDisposable, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { main } from "../../src/surfaces/cli/main.ts";
import { plainEnvironment } from "../support/repositories.ts";
import { FIXTURES, restoreRun } from "./recorded-place.ts";

type Asked = { readonly code: number; readonly out: string; readonly err: string };

async function ask(args: readonly string[], folder: string, env: NodeJS.ProcessEnv): Promise<Asked> {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    hasColours: false,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const code = await main(args, { out: sink("out"), err: sink("err") }, { env, folder });
  return { code, ...written };
}

const taskOf = (id: string, more: object = {}) => ({
  id,
  subject: `Make ${id}`,
  description: `Make ${id}`,
  scope: [`src/${id}.js`],
  ...more,
});

const PLAN = {
  skein_plan: 1,
  goal: "Build <it> & more",
  tasks: [taskOf("one"), taskOf("two"), taskOf("three", { blockedBy: ["one"], estimate: { minutes: 3 } })],
};

test("a forecast learns durations and failures from a recorded run", async () => {
  await using place = await restoreRun(path.join(FIXTURES, "2026-11-18", "demo"));
  await using outer = await mkdtempDisposable(path.join(tmpdir(), "skein-simulate-"));
  const plan = path.join(outer.path, "plan.json");
  await writeFile(plan, JSON.stringify(PLAN));
  const learnt = await place.ask("simulate", plan);
  assert.equal(learnt.code, 0, learnt.err);
  assert.match(learnt.out, /work: [\d.]+ s an attempt, the median of 2\d attempts in 1 earlier run of this/);
  assert.match(learnt.out, /failures: none, though 1\d % of attempts failed/);
});

test("a plan is foreseen in words and as JSON, and nothing is written", async () => {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-simulate-"));
  try {
    const env = { ...plainEnvironment(), HOME: outer };
    const plan = path.join(outer, "plan.json");
    await writeFile(plan, JSON.stringify(PLAN));
    const told = await ask(["simulate", plan], outer, env);
    assert.equal(told.code, 0, told.err);
    assert.match(told.out, /^Build <it> & more: 3 tasks$/m);
    assert.match(
      told.out,
      /^ {2}1 +█+ +2\d min 00 s +1\.0 × +100 % +0 +\d+ +600,000 tokens, price unknown$/m,
    );
    assert.match(told.out, /runs: there is no repository here/);

    const asJson = await ask(["simulate", plan, "--json", "--max-workers", "2"], outer, env);
    const { workers, useful, forecast, criticalPath } = JSON.parse(asJson.out);
    assert.deepEqual(
      workers.map((row: { workers: number; dollars: unknown }) => [row.workers, row.dollars]),
      [
        [1, null],
        [2, null],
      ],
    );
    assert.deepEqual(
      [useful, forecast.order, criticalPath.tasks],
      [2, ["one", "two", "three", "t"], ["one", "three"]],
    );
    assert.deepEqual(await readdir(outer), ["plan.json"]);
  } finally {
    await rm(outer, { recursive: true, force: true });
  }
});

test("what cannot be foreseen is refused with its reason", async () => {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-simulate-"));
  try {
    const env = { ...plainEnvironment(), HOME: outer };
    const refused = async (args: readonly string[], code: number, why: RegExp) => {
      const asked = await ask(["simulate", ...args], outer, env);
      assert.equal(asked.code, code, `${args}: ${asked.err}`);
      assert.match(asked.err, why);
    };
    const write = async (name: string, text: string) => {
      await writeFile(path.join(outer, name), text);
      return name;
    };
    const plan = await write("plan.json", JSON.stringify(PLAN));
    const circle = [taskOf("a", { blockedBy: ["b"] }), taskOf("b", { blockedBy: ["a"] })];
    await refused([await write("broken.json", '{"tasks": [')], 3, /broken\.json:1/);
    await refused(
      [await write("circle.json", JSON.stringify({ ...PLAN, tasks: circle }))],
      3,
      /circle\.json:\d/,
    );
    await refused([await write("other.json", '{"name": "package"}')], 3, /is not a plan/);
    await refused([await write("empty.json", JSON.stringify({ ...PLAN, tasks: [] }))], 3, /tasks/);
    await refused(["missing.json"], 3, /cannot be read/);
    await refused([], 2, /name a plan/);
    for (const nonsense of ["0", "-1", "1.5", "many", "1e3", "100000"])
      await refused([plan, "--max-workers", nonsense], 2, /--max-workers must be/);
    for (const nonsense of ["1", "-0.1", "often", "NaN"])
      await refused([plan, "--fail-rate", nonsense], 2, /--fail-rate must be/);
    await refused([plan, "--seed", "x"], 2, /--seed must be/);
  } finally {
    await rm(outer, { recursive: true, force: true });
  }
});
