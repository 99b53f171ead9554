/** Are the published limits read, and a team's own checked with places? */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { readPlanningData } from "./data.ts";
import { readLimits } from "./limits.ts";

const published = (name: string) =>
  readFileSync(path.join(import.meta.dirname, "../../planning", name), "utf8");
const limits = () => JSON.parse(published("limits.json")) as Record<string, unknown>;

test("the published limits are those that are promised", () => {
  const read = readLimits(limits());
  assert.ok(!("problems" in read));
  const { maxFilesModified, maxFilesRead, maxLinesRead, tier2From, tier3Above, maxConcurrent } = read;
  assert.deepEqual(
    { maxFilesModified, maxFilesRead, maxLinesRead, tier2From, tier3Above, maxConcurrent },
    {
      maxFilesModified: 3,
      maxFilesRead: 5,
      maxLinesRead: 10_000,
      tier2From: 5,
      tier3Above: 15,
      maxConcurrent: 8,
    },
  );
  for (const [name, entry] of Object.entries(limits()))
    if (name !== "version") assert.match((entry as { why: string }).why, /\w+ \w+/, name);
});

test("each wrong limit is named with what it may be", () => {
  const broken = {
    ...limits(),
    maxFilesRead: { value: 0 },
    maxWaves: { value: "6" },
    maxTask: { value: 3 },
    version: 2,
  };
  assert.deepEqual(readLimits(broken), {
    problems: [
      "version: must be 1, the only one that is known",
      "maxFilesRead.value: must be a whole number from 1 to 1000000000",
      "maxWaves.value: must be a whole number from 1 to 1000000000",
      "maxTask: is no limit of this version",
    ],
  });
  assert.ok("problems" in readLimits(null) && "problems" in readLimits([]) && "problems" in readLimits({}));
});

test("problems of both files are told at once, each with its file", () => {
  const read = readPlanningData({
    words: { file: "w.json", text: "{" },
    limits: { file: "l.json", text: "[]" },
  });
  assert.ok("problems" in read);
  assert.equal(read.problems.length, 2);
  assert.match(read.problems[0]!, /^w\.json: is no JSON/);
  assert.match(read.problems[1]!, /^l\.json: /);
});
