/** Tests that a library run whose key is refused ends with the reason, instead of waiting for a person. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createOrchestrator, type OrchestratorOptions } from "../../src/index.ts";
import { startModelServer } from "../support/model-server/model-server.ts";
import { playsScript } from "../support/model-server/plays-script.ts";
import { quotaExhausted } from "../support/model-server/provider-errors.ts";
import { good, LIMIT, makePlace } from "../support/orchestrators.ts";
import { scriptOf } from "./faulty-runs.ts";

describe("a run in a program", () => {
  it("stops when its key is refused, says so, and goes on with a right one", LIMIT, async () => {
    await using place = await makePlace();
    const answer = playsScript(scriptOf("one"));
    await using server = await startModelServer({ answer, keys: ["the-right-key"] });
    const baseUrl = `${server.url}/v1`;
    const model = { provider: "tests", model: "m", baseUrl, speaks: "openai", key: "A_KEY" } as const;
    const options = (key: string): OrchestratorOptions => ({
      repository: place.repository.folder,
      env: { ...place.env, A_KEY: key },
      config: { agent: { kind: "model", ...model }, gate: "none", sandbox: "off" },
    });
    await using first = createOrchestrator(options("a-wrong-key"));
    const begun = good(await first.run({ goal: "write a file" }));
    const end = await begun.ended;
    assert.ok(end.is === "stopped");
    assert.equal(end.failure?.kind, "authentication");
    assert.match(end.failure?.message ?? "", /refused the key \(HTTP 401\)/);
    assert.equal(server.calls.length, 1, "at once");

    await using second = createOrchestrator(options("the-right-key"));
    const resumed = good(await second.resume(begun.run));
    const done = await resumed.ended;
    assert.ok(done.is === "closed");
    assert.equal(done.how, "done");
  });

  it(
    "stops when its account is rate limited for longer than quota.wait, and says until when",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const resetAt = Date.now() + 3_600_000;
      await using server = await startModelServer({
        answer: ({ wire }) => quotaExhausted(wire, { resetAt }),
      });
      const baseUrl = `${server.url}/v1`;
      const model = { provider: "tests", model: "m", baseUrl, speaks: "openai", key: "A_KEY" } as const;
      await using skein = createOrchestrator({
        repository: place.repository.folder,
        env: { ...place.env, A_KEY: "k" },
        config: { agent: { kind: "model", ...model }, gate: "none", sandbox: "off", quota: { wait: "1m" } },
      });
      const end = await good(await skein.run({ goal: "write a file" })).ended;
      assert.ok(end.is === "stopped");
      assert.equal(end.failure?.kind, "quota");
      assert.ok(Math.abs((end.failure?.until ?? 0) - resetAt) < 60_000, `${end.failure?.until}`);
      assert.equal(server.calls.length, 1, "nothing more is called");
    },
  );
});
