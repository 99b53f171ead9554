/** Tests how a fleet's worker ends, and what others see of its work. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newDatabase } from "../support/postgres.ts";
import { plans, task, waits, writes } from "../support/scripts.ts";
import { makeFleetPlace } from "./fleet-place.ts";

const LIMIT = { timeout: 180_000 };

describe("a worker of a fleet", LIMIT, () => {
  it("ends after one job, or after what it has when it is told to; tasks go to who has their labels", async () => {
    const script = {
      plans: { t: [plans(task("a", { needs: ["gpu"] }), task("b")), plans()] },
      work: {
        a: [writes("a.txt", "good\n", { do: "run", command: ["sh", "-c", "echo told by a"] })],
        b: [writes("b.txt", "good\n", waits(3_000))],
      },
    };
    const url = await newDatabase();
    await using place = await makeFleetPlace({ url, files: { "README.md": "here\n" }, script });
    const machine = await place.machine();
    const args = ["--script", `${machine.folder}/script.json`, "--gate", "none", "--json"];
    const coordinator = machine.skein("run", "be worked on", ...args);

    const once = place.worker("--once");
    const { code, out } = await once.ended;
    assert.equal(code, 0, out);
    assert.match(out, /: (?:gated|planned) after/);
    assert.equal(out.match(/: taken$/gm)?.length, 1);

    const plain = place.worker();
    await plain.says("work:t.2#1: taken");
    plain.kill("SIGTERM");
    const drained = await plain.ended;
    assert.equal(drained.code, 0, drained.err);
    assert.match(drained.out, /taking no more jobs[\s\S]*work:t\.2#1: worked after/);
    assert.doesNotMatch(drained.out, /work:t\.1#1/, "it has no gpu");

    const rich = place.worker("--labels", "gpu,linux", "--capacity", "2");
    await rich.says("work:t.1#1: worked after");
    const ran = await coordinator.ended;
    assert.equal(ran.code, 0, ran.err);

    const other = await place.machine();
    const { run } = (await other.home()).record;
    const shown = await other.skein("show", run, "a", "--json").ended;
    assert.equal(shown.code, 0, shown.err);
    const { transcripts } = JSON.parse(shown.out) as { readonly transcripts: readonly string[] };
    assert.equal(transcripts.length, 1, "another machine has what it wrote");
  });
});
