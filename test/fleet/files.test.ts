/** Tests that a run's files travel from a worker to all that look at the run, over a real Postgres. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { before, describe, it } from "node:test";
import { Database } from "../../src/adapters/fleet/database.ts";
import { FleetRuns, fleetLinkOf } from "../../src/adapters/fleet/fleet-runs.ts";
import { pullFiles } from "../../src/adapters/fleet/pulled-files.ts";
import { readRunFile, writeRunFile } from "../../src/adapters/fleet/run-file-rows.ts";
import { WorkerFiles } from "../../src/adapters/fleet/worker-files.ts";
import { initFleet } from "../../src/compose/fleet.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { OfferedJob } from "../../src/ports/fleet-jobs.ts";
import { record } from "../contracts/runs.ts";
import { newFolder } from "../support/folders.ts";
import { configOf } from "../support/live-runs.ts";
import { newDatabase } from "../support/postgres.ts";

describe("files of a fleet's run", { timeout: 60_000 }, () => {
  let database: Database;

  before(async () => {
    const url = await newDatabase();
    database = new Database({ url, schema: "skein" });
    const made = await initFleet({ SKEIN_FLEET_URL: url }, configOf({}).fleet);
    assert.ok(!hasFailed(made), JSON.stringify(made));
  });

  async function openRun(name: string) {
    const home = await new FleetRuns({ database, repository: "x", folder: newFolder() }).create(record(name));
    assert.ok(!hasFailed(home));
    const { runId } = fleetLinkOf(home)!;
    const put = async (file: string, text: string) =>
      assert.equal(await writeRunFile(database, runId, file, Buffer.from(text)), undefined);
    const textOf = (file: string) => readFileSync(path.join(home.folder, file), "utf8");
    return { home, runId, put, textOf };
  }

  it("reach others also when the worker has sent hundreds before", async () => {
    const { runId } = await openRun("r1");
    const permit = "00000000-0000-4000-8000-000000000001";
    const job = "work:t.1#1" as JobId;
    const tree = { job, commit: "0".repeat(40), rules: "0".repeat(40) };
    const offered: OfferedJob = { run: "r1", runId, job, needs: [], permit, what: { is: "gate", tree } };
    await database.ask("INSERT INTO $S.job (run, job, permit) VALUES ($1, 'work:t.1#1', $2)", [
      runId,
      permit,
    ]);
    const folder = newFolder();
    const write = (name: string) => writeFileSync(path.join(folder, name), name);
    for (const name of ["turns", "artefacts"]) mkdirSync(path.join(folder, name));
    mkdirSync(path.join(folder, "turns/work-t.1-1"));
    for (let i = 0; i < 200; i += 1) write(`turns/work-t.1-1/${i}`);
    const files = new WorkerFiles(database, folder);
    await files.send(offered);
    const last = "artefacts/0123456789abcdef.txt";
    write(last);
    await files.send(offered);
    const read = await readRunFile(database, runId, last);
    assert.equal(hasFailed(read) || Buffer.from(read).toString(), last);
  });

  it("are as the coordinator last wrote them, also if that is shorter", async () => {
    const { runId, put } = await openRun("r4");
    const long = "x".repeat(600_000);
    for (const text of [long, "short", ""]) {
      await put("kit.json", text);
      const read = await readRunFile(database, runId, "kit.json");
      assert.equal(hasFailed(read) || Buffer.from(read).toString(), text);
    }
  });

  it("are pulled each for itself: one whose name is a folder's keeps no other back", async () => {
    const { home, put, textOf } = await openRun("r2");
    await put("turns/a", "a file");
    await put("turns/a/b", "would need a folder there");
    await put("turns/c", "after it");
    await pullFiles(home);
    assert.equal(textOf("turns/a"), "a file");
    assert.equal(textOf("turns/c"), "after it");
    assert.ok(existsSync(path.join(home.folder, "pulled.json")));
    await put("turns/c", "later");
    await pullFiles(home);
    assert.equal(textOf("turns/c"), "later");
  });

  it("are written through no link", async () => {
    const { home, put } = await openRun("r3");
    const outside = newFolder();
    writeFileSync(path.join(outside, "mine"), "mine");
    mkdirSync(path.join(home.folder, "turns"), { recursive: true });
    symlinkSync(outside, path.join(home.folder, "scratchpad"));
    symlinkSync(path.join(outside, "mine"), path.join(home.folder, "turns/link"));
    await put("scratchpad/result.md", "theirs");
    await put("scratchpad/mine", "theirs");
    await put("turns/link", "theirs");
    await pullFiles(home);
    assert.deepEqual(readdirSync(outside), ["mine"]);
    assert.equal(readFileSync(path.join(outside, "mine"), "utf8"), "mine");
  });
});
