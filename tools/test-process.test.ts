/** Tests that a process with a hanging test is ended, and that the test is named. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../test/support/folders.ts";
import { makePipe } from "../test/support/pipes.ts";
import { runTests } from "./test-process.ts";

const runText = async (
  text: string,
  limits: { readonly maxTestMs: number; readonly maxSilentMs: number },
) => {
  const file = path.join(newFolder(), "one.test.ts");
  writeFileSync(
    file,
    `import { readFileSync } from "node:fs";\nimport { readFile } from "node:fs/promises";\n${text}`,
  );
  let said = "";
  // Without this variable, which would make the process a part of these tests.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const write = (output: Buffer | string) => {
    said += output;
  };
  return { ...(await runTests([file], { ...limits, env, write })), said };
};

const TESTS = (hangs: string) => `import { it } from "node:test";
it("passes first", () => new Promise(setImmediate));\nit("hangs", ${hangs});\nit("passes later", () => {});\n`;

describe("a process of tests", () => {
  it("is ended after a test that hangs in a pipe, once the others have passed, and the test is named", async () => {
    const hangs = `() => readFile(${JSON.stringify(makePipe(newFolder()))})`;
    const { code, said, failures } = await runText(TESTS(hangs), { maxTestMs: 200, maxSilentMs: 3_000 });
    assert.notEqual(code, 0);
    assert.match(said, /✔ passes later/);
    assert.match(failures, /✖ hangs[\s\S]*timed out after 200ms/);
    assert.match(failures, /stopped after 3 s without a word/);
  });

  it("is ended if a test holds it whole: what passed before is said", async () => {
    const hangs = `() => readFileSync(${JSON.stringify(makePipe(newFolder()))})`;
    const { code, said, failures } = await runText(TESTS(hangs), { maxTestMs: 200, maxSilentMs: 3_000 });
    assert.notEqual(code, 0);
    assert.match(said, /✔ passes first/);
    assert.match(failures, /stopped after 3 s without a word.*one\.test\.ts/);
  });

  it("ends with what its tests say", async () => {
    const limits = { maxTestMs: 60_000, maxSilentMs: 60_000 };
    assert.deepEqual((await runText(TESTS("() => {}"), limits)).code, 0);
    const { code, failures } = await runText(TESTS('() => { throw new Error("torn"); }'), limits);
    assert.equal(code, 1);
    assert.match(failures, /torn/);
  });
});
