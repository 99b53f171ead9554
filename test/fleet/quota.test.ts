/** Tests that one rate limit stops every machine of a fleet: 40 calls in flight on 4 workers, counted at the server. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { failing, whereOf } from "../e2e/faulty-runs.ts";
import { agentOf, KEY } from "../e2e/model-place.ts";
import { eventsOf } from "../support/live-runs.ts";
import { rateLimited, startModelServer } from "../support/model-server/model-server.ts";
import { newDatabase } from "../support/postgres.ts";
import { plans, task, writes } from "../support/scripts.ts";
import { makeFleetPlace } from "./fleet-place.ts";

const TASKS = 40;
const RESET_SECONDS = 8;

it("one 429 stops all 40 on 4 machines until the reset, and every task is done after it", {
  timeout: 400_000,
}, async () => {
  const names = Array.from({ length: TASKS }, (_, i) => `task-${i + 1}`);
  // Each worker makes three calls: workers in the middle of their second call want to make a third.
  const more = (name: string) => ({ do: "write", path: `${name}.txt`, text: "whole\n" }) as const;
  const script = {
    plans: { t: [plans(...names.map((name) => task(name)))] },
    work: Object.fromEntries(names.map((name) => [name, [writes(`${name}.txt`, "half\n", more(name))]])),
  };
  const [all, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let [inFlight, before, refusedAt] = [0, 0, 0];
  const answer = failing(async ({ kind, steps, time }, { wire }) => {
    if (kind !== "work" || steps !== 1 || time > 1) return undefined;
    inFlight += 1;
    const isFirst = inFlight === 1;
    if (inFlight === TASKS) all.resolve();
    await all.promise;
    if (!isFirst) {
      await goOn.promise;
      return undefined;
    }
    [before, refusedAt] = [server.calls.length, Date.now()];
    return rateLimited(wire, { retryAfterSeconds: RESET_SECONDS });
  }, script);
  await using server = await startModelServer({ answer, keys: [KEY] });
  const env = { MODEL_KEY: KEY, SKEIN_AGENT: JSON.stringify(agentOf(server.url, "anthropic")) };
  const files = { "README.md": "# here\n" };
  await using place = await makeFleetPlace({ url: await newDatabase(), files, env });
  const coordinator = await place.machine();
  const workers = [1, 2, 3, 4].map(() => place.worker("--capacity", "10"));
  const sets = ["workers=40", "gate=none", "retry.first=20ms"].flatMap((one) => ["--set", one]);
  const live = coordinator.skein("run", "write 40 files", ...sets, "--json");
  await live.says('"account.parked"');
  const refusedFor = Date.now() - refusedAt;
  goOn.resolve();
  const ended = await live.ended;
  assert.equal(ended.code, 0, ended.err.slice(-2_000));
  assert.equal(before, 1 + TASKS * 2, "the planner's, and two of each: all of them had come before");
  assert.ok(
    refusedFor < RESET_SECONDS * 1_000,
    `the others went on while it was parked, ${refusedFor} ms after`,
  );
  const meanwhile = server.calls.slice(before).filter(({ at }) => at < refusedAt + RESET_SECONDS * 1_000);
  assert.equal(meanwhile.length, 0, "between the refusal and the reset, on any machine");
  assert.equal(server.calls.filter(({ usage }) => usage === undefined).length, 1, "one refusal was enough");
  const ofWorkers = server.calls.filter((call) => whereOf(call).kind === "work");
  assert.equal(ofWorkers.length, TASKS * 3 + 1, "the refused one is made again, and nothing else");
  const log = await eventsOf(await coordinator.home());
  assert.equal(log.filter(({ type }) => type === "account.parked").length, 1, "the log says so, once");
  assert.equal(log.filter(({ type }) => type === "account.worked").length, 1, "and that it works again");
  for (const { kill } of workers) kill("SIGTERM");
  for (const { out } of await Promise.all(workers.map((one) => one.ended)))
    assert.match(out, /: worked after/, "every machine had some of them");
});
