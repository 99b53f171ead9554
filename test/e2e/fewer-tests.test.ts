/** Tests that a test run with fewer cases is noticed by the runner's own count, where no test file has changed. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { makePlace } from "./cli-place.ts";

const CASES_TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import cases from "./cases.json" with { type: "json" };
import { sum } from "./sums.mjs";
for (const [a, b] of cases) test(\`adds \${a} and \${b}\`, () => assert.equal(sum(a, b), a + b));
`;
const FLAG = "2 fewer tests ran than on the target: node --test 3 → 1; gone: adds 2 and 2, adds 3 and 5";

const TASKS = [
  {
    ...{ id: "sums", description: "Correct the sums.", acceptance: "They are right." },
    scope: ["sums.mjs", "cases.json"],
  },
  {
    ...{ id: "notes", description: "Write notes.", acceptance: "They are there." },
    ...{ scope: ["notes.txt"], after: ["sums"] },
  },
];

const AGENT = `#!/bin/sh
if [ "$SKEIN_KIND" = plan ]; then
  grep -q '"first":true' && echo '${JSON.stringify({ scratchpad: "", tasks: TASKS })}' || echo '{"scratchpad":"","tasks":[]}'
  exit 0
fi
case "$SKEIN_TASK" in
  t.1) echo 'export const sum = () => 2;' > sums.mjs; echo '[[1, 1]]' > cases.json;;
  *) echo notes > notes.txt;;
esac
echo '{"status":"complete","summary":"wrote it","concerns":[]}'
`;

const placeOf = async () => {
  const files = {
    "cases.test.mjs": CASES_TEST,
    "cases.json": "[[1, 1], [2, 2], [3, 5]]\n",
    "sums.mjs": "export const sum = (a, b) => a + b;\n",
  };
  const place = await makePlace({ files });
  await writeFile(place.agent, AGENT, { mode: 0o755 });
  return place;
};

test("a parametrised test that loses cases lands and is flagged, wherever a person looks", async () => {
  await using place = await placeOf();
  const ran = await place.skein("run", "correct the sums", "--agent", place.agent, "--gate", "node --test");
  assert.equal(ran.code, 0, ran.out + ran.err);
  const [{ run }] = JSON.parse((await place.skein("status", "--json")).out).runs;
  const { landings } = JSON.parse((await place.skein("status", run, "--json")).out);
  assert.deepEqual(
    landings.map(({ flags }: { readonly flags?: readonly string[] }) => flags),
    [[FLAG], undefined],
    "sums has fewer than the base, and notes as many as sums",
  );

  assert.ok(ran.out.includes(`, but ${FLAG}`), ran.out);
  const shown = await place.skein("show", run, "sums");
  assert.ok(shown.out.includes(FLAG), shown.out);
  const report = await place.skein("report", run);
  assert.ok(report.out.includes(FLAG), report.out);
  const notes = await place.repository.git(
    ...["log", "--first-parent", `--notes=skein/${run}`, "--format=%N", `skein/${run}/target`],
  );
  const proofs = notes.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  assert.deepEqual(
    proofs.flatMap(({ flags }) => flags),
    [FLAG],
  );
  assert.doesNotMatch(notes, /"names"/);
});
