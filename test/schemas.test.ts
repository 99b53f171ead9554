/** Tests that the published JSON schemas fit what Skein writes and reads today. */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { type Schema, Validator } from "@cfworker/json-schema";
import { parse } from "yaml";
import { SqliteEventLog } from "../src/adapters/event-logs/sqlite.ts";
import type { Event } from "../src/core/log/event.ts";
import { planRequest } from "../src/surfaces/library/planning.ts";
import { SCHEMA_FOLDER, schemas } from "../tools/schemas.ts";
import { ROOT } from "../tools/source-files.ts";
import { FIXTURES, recordedRuns } from "./e2e/recorded-place.ts";
import { tell } from "./simulation/story.ts";

const written = schemas();
const schemaFor = (name: string) => {
  const [file = ""] = Object.keys(written).filter((it) => it.startsWith(`${name}.v`));
  return JSON.parse(written[file] ?? "") as Schema;
};

const faultsOf = (name: string, draft: "7" | "2020-12" = "7") => {
  const validator = new Validator(schemaFor(name), draft);
  return (value: unknown) => {
    const { valid, errors } = validator.validate(JSON.parse(JSON.stringify(value)));
    return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  };
};

for (const [name, text] of Object.entries(written))
  test(`schema/${name} is what npm run schemas writes`, () => {
    assert.ok(readFileSync(path.join(SCHEMA_FOLDER, name), "utf8") === text, "run npm run schemas");
  });

const faultsOfEvent = faultsOf("event");

function assertAllValid(events: readonly Event[]) {
  assert.ok(events.length > 1);
  for (const event of events) assert.deepEqual(faultsOfEvent(event), [], JSON.stringify(event));
}

test("every event of the recorded runs is as the schema says", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "skein-schemas-"));
  try {
    for (const { day, kind } of recordedRuns()) {
      const file = path.join(folder, `${day}-${kind}.db`);
      copyFileSync(path.join(FIXTURES, day, kind, "events.db"), file);
      assertAllValid(await Array.fromAsync(new SqliteEventLog(file).read(0)));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("every event of simulated runs with faults is as the schema says", async () => {
  for (let seed = 1; seed <= 20; seed += 1) assertAllValid((await tell(seed)).events);
});

test("an event without its fields, and one that does not exist, are refused", () => {
  assert.notDeepEqual(faultsOfEvent({ type: "task.done", at: 1 }), []);
  assert.notDeepEqual(faultsOfEvent({ type: "task.lost-in-thought", at: 1 }), []);
});

test("a plan that Skein makes is as the schema says; one without tasks is not", async () => {
  const faults = faultsOf("plan");
  const made = await planRequest("Add search with filters, sorting and paging", { repository: ROOT });
  assert.ok("tasks" in made);
  assert.deepEqual(faults(made), []);
  assert.deepEqual(faults({ tasks: [{ id: "a", subject: "Write a" }] }), []);
  assert.notDeepEqual(faults({ goal: "Write a" }), []);
  assert.notDeepEqual(faults({ tasks: [{ id: "a", blockedBy: 3 }] }), []);
});

test("the settings that the readme shows are as the schema says; a misspelt key is not", () => {
  const faults = faultsOf("skein-yaml", "2020-12");
  const readme = readFileSync(path.join(ROOT, "README.md"), "utf8");
  const [, shown = ""] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  assert.deepEqual(faults(parse(shown)), []);
  assert.notDeepEqual(faults({ worker: 4 }), []);
});
