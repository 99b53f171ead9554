/** Tests which source files are added to the failure of a test, by what the test imports. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { withTestedFiles } from "./tested-files.ts";
import type { ToolProblem } from "./tool-output/found.ts";

const FILES = {
  "src/add.js": "",
  "src/types.ts": "",
  "src/extra.js": "",
  "pkg/__init__.py": "",
  "pkg/sums.py": "",
  "test/support/world.js": "",
  "test/maths.test.js": `import assert from "node:assert";\nimport { add } from "../src/add.js";\nimport "./helpers.test.js";\n`,
  "test/typed.test.ts": `import { T } from "../src/types.js"; // The source is a .ts file.\n`,
  "test/many.test.js": `require("../src/add"); import("../src/extra.js"); import x from '../src/types.ts';\n`,
  "test/alone.test.js": `import assert from "node:assert";\n`,
  "test/helpers.test.js": "",
  "test/helped.test.js": `import "./support/world.js";\nimport "../src/add.js";\nimport "../src/extra.js";\n`,
  "test/only-helped.test.js": `import "./support/world.js";\n`,
  "tests/test_maths.py": "import os\nfrom pkg.sums import add\n",
  "tests/test_module.py": "from pkg import version, sums as s\n",
  "tests/test_package.py": "from pkg import version\n",
} as const;

const found = (...files: readonly string[]): ToolProblem => ({
  class: "tests",
  name: "adds",
  files,
  message: "3 is not 4",
});

async function filesOf(one: ToolProblem): Promise<readonly string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), "skein-tested-"));
  try {
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    return (await withTestedFiles([one], folder, (file) => existsSync(path.join(folder, file))))[0]!.files;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

test("a fix of a failing test may touch what the test imports", async () => {
  assert.deepEqual(await filesOf(found("test/maths.test.js")), ["test/maths.test.js", "src/add.js"]);
  assert.deepEqual(await filesOf(found("test/typed.test.ts")), ["test/typed.test.ts", "src/types.ts"]);
  assert.deepEqual(await filesOf(found("tests/test_maths.py")), ["tests/test_maths.py", "pkg/sums.py"]);
});

test("what only helps tests is not what is tested", async () => {
  const helped = "test/helped.test.js";
  assert.deepEqual(await filesOf(found(helped)), [helped, "src/add.js", "src/extra.js"]);
  assert.deepEqual(await filesOf(found("test/only-helped.test.js")), []);
});

test("a module that is imported from a package of Python is the module, not the package", async () => {
  assert.deepEqual(await filesOf(found("tests/test_module.py")), ["tests/test_module.py", "pkg/sums.py"]);
  const whole = "tests/test_package.py";
  assert.deepEqual(await filesOf(found(whole)), [whole, "pkg/__init__.py"]);
});

test("of many imports the first two count", async () => {
  assert.deepEqual(await filesOf(found("test/many.test.js")), [
    "test/many.test.js",
    "src/add.js",
    "src/extra.js",
  ]);
});

test("where nothing but tests is known, no file is named: the fix task looks for the place", async () => {
  assert.deepEqual(await filesOf(found("test/alone.test.js")), []);
  assert.deepEqual(await filesOf(found("test/gone.test.js")), []);
});

test("what names its source already, or is no test, stays as it was", async () => {
  const named = found("test/maths.test.js", "src/extra.js");
  assert.deepEqual(await filesOf(named), named.files);
  const types: ToolProblem = { ...found("test/maths.test.js"), class: "types" };
  assert.deepEqual(await filesOf(types), types.files);
});

test("a test that a worker made a link or a pipe of is no file, and is not waited for", async () => {
  const folder = newFolder();
  const at = (name: string) => path.join(folder, name);
  for (const name of ["test", "src", "outside"]) await mkdir(at(name));
  await writeFile(at("src/add.js"), "");
  await writeFile(at("outside/secret.test.js"), 'import "../../src/add.js";\n');
  await symlink("/proc/self/pagemap", at("test/endless.test.js")); // It has gigabytes, and gives its size as 0.
  await symlink("/dev/zero", at("test/zero.test.js"));
  await symlink(at("outside"), at("test/behind")); // A link on the way counts as well.
  execFileSync("mkfifo", [at("test/pipe.test.js")]);
  const names = ["endless.test.js", "zero.test.js", "behind/secret.test.js", "pipe.test.js"];
  const placed = await withTestedFiles(
    names.map((name) => found(`test/${name}`)),
    folder,
    () => true,
  );
  assert.deepEqual(
    placed.map(({ files }) => files),
    names.map(() => []),
  );
});
