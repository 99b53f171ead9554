/** Is a task that is too large told apart from one that is not, with the reasons? */
import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOf, publishedData } from "../../../test/plans/parts.ts";
import { atomicityOf } from "./atomic.ts";

const { limits } = publishedData();
const files = (count: number) => Array.from({ length: count }, (_, i) => `src/${i}.ts`);
const judge = (
  given: Parameters<typeof draftOf>[0],
  minDepth = 1,
  bytes: ReadonlyMap<string, number> = new Map(),
) => atomicityOf({ ...draftOf(given), operations: 1 }, { minDepth, limits, bytes });

test("three files to change and five to read are one task", () => {
  assert.deepEqual(judge({ key: "1", scope: files(3), reads: files(5) }), { is: "atomic" });
});

test("each limit that is passed is a reason", () => {
  assert.deepEqual(judge({ key: "1", scope: files(4), reads: files(6), description: " " }), {
    is: "too-large",
    reasons: ["it changes 4 files", "it reads 6 files", "it does not say what to do"],
  });
  assert.deepEqual(judge({ key: "1", reads: ["src/"] }), {
    is: "too-large",
    reasons: ["it reads a whole folder"],
  });
  const several = atomicityOf(
    { ...draftOf({ key: "1" }), operations: 2 },
    { minDepth: 1, limits, bytes: new Map() },
  );
  assert.deepEqual(several, { is: "too-large", reasons: ["it has 2 operations"] });
});

test("lines are counted from bytes: 400,000 are 10,000 lines", () => {
  const reads = ["a.ts"];
  assert.equal(judge({ key: "1", reads }, 1, new Map([["a.ts", 400_000]])).is, "atomic");
  assert.deepEqual(judge({ key: "1", reads }, 1, new Map([["a.ts", 400_001]])), {
    is: "too-large",
    reasons: ["it reads about 10001 lines"],
  });
});

test("what is not split often enough is not asked anything else", () => {
  assert.deepEqual(judge({ key: "1", scope: files(9) }, 2), {
    is: "too-large",
    reasons: ["it was split 1 times of 2"],
  });
});
