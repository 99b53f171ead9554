/** Measures how long another machine needs to take over after a worker or the coordinator was killed with SIGKILL. */
import { setTimeout as pause } from "node:timers/promises";
import { makeFleetPlace } from "../test/fleet/fleet-place.ts";
import { TestPostgres } from "../test/support/postgres.ts";
import { plans, task, waits, writes } from "../test/support/scripts.ts";

export async function measureTakeovers(): Promise<{
  readonly workerMs: number;
  readonly coordinatorMs: number;
}> {
  await using postgres = await TestPostgres.start();
  const script = {
    plans: { t: [plans(task("a"), task("b")), plans()] },
    work: { a: [writes("a.txt", "x\n", waits(8_000))], b: [writes("b.txt", "x\n", waits(8_000))] },
  };
  await using place = await makeFleetPlace({
    url: await postgres.newDatabase(),
    files: { "a.md": "a\n" },
    script,
  });
  const machine = await place.machine();
  const first = place.worker("--capacity", "2");
  const args = ["run", "g", "--script", `${machine.folder}/script.json`, "--gate", "none", "--json"];
  const coordinator = machine.skein(...args);
  await first.says("work:t.2#1: taken");
  const second = place.worker("--capacity", "2");
  await second.says("has joined");
  const killedAt = performance.now();
  first.kill("SIGKILL");
  await second.says(/work:t\.[12]#1: taken/);
  const workerMs = performance.now() - killedAt;
  const events = async () => (await Array.fromAsync((await machine.home()).log.read(0))).length;
  const before = await events();
  const other = await place.machine();
  const deadAt = performance.now();
  coordinator.kill("SIGKILL");
  await coordinator.ended;
  const { run } = (await other.home()).record;
  const resumed = other.skein("resume", run, "--json");
  while ((await events()) === before) await pause(20);
  const coordinatorMs = performance.now() - deadAt;
  await resumed.ended;
  return { workerMs, coordinatorMs };
}
