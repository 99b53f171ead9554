import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openRepository, plainEnvironment } from "../support/repositories.ts";

const call = promisify(execFile);
const SKEIN = fileURLToPath(new URL("../../bin/skein", import.meta.url));

test("the demo takes its project from SPEC.md to commits that each pass the project's own tests", async () => {
  const outer = await mkdtemp(path.join(tmpdir(), "skein-demo-test-"));
  try {
    const folder = path.join(outer, "a demo");
    const env = { ...plainEnvironment(), HOME: outer };
    const { stdout } = await call(process.execPath, [SKEIN, "demo", "--folder", folder], { env });
    assert.match(
      stdout,
      /^Everything but the model is real: git, workspaces, processes, the gate, the log\.$/m,
    );
    assert.match(stdout, /one breaks a test;/);
    const intro = stdout.slice(0, stdout.indexOf("\nrun "));
    assert.ok(
      intro.split("\n").every((line) => line.length <= 80),
      intro,
    );
    await pasteHints(stdout, env);
    assert.match(stdout, /is done: 17 of 17 tasks done/);
    for (const accident of [
      /ordinal, attempt 1: .*killed by SIGKILL.* → done/,
      /zodiac, attempt 1: the worker said complete but changed no file → done/,
      /season, attempt 1: changed files outside its scope: README\.md → done/,
      /week, attempt 1: the gate is red with it, and not without/,
      /(?:sky|calendar)-facts, attempt 1: conflicts with the target in src\/index\.js → done/,
      /the planner of calendar: the agent could not reach its model/,
    ])
      assert.match(stdout, accident);
    assert.match(stdout, /^Proved: each of the 16 commits that the target ever pointed at/m);
    assert.deepEqual((await readdir(folder)).sort(), ["almanac", "script.json", "state"]);
    assert.deepEqual(await readdir(outer), ["a demo"], "nothing is left elsewhere");
    await testEveryLanding(path.join(folder, "almanac"), outer);
  } finally {
    await rm(outer, { recursive: true, force: true, maxRetries: 3 });
  }
});

/** All but the last, which removes the folder: each line is given to a shell as it stands. */
async function pasteHints(stdout: string, env: NodeJS.ProcessEnv): Promise<void> {
  const [, text = ""] = stdout.split("\nEverything is in one folder; go there to look around\n");
  const hints = text.trimEnd().split("\n");
  assert.deepEqual(
    hints.map((line) => /^(?:'([^']*)'|(\S+))/.exec(line.trim())?.slice(1).join("")),
    ["cd", "export", SKEIN, SKEIN, "rm"],
  );
  assert.match(hints.at(-1)!, /^ {2}rm -rf '.*\/a demo' {2}# when you have seen enough$/);
  const script = ["set -e", ...hints.slice(0, 3)].join("\n");
  const { stdout: shown } = await call("sh", ["-c", script], {
    env: { ...env, PATH: `${path.dirname(process.execPath)}:${env["PATH"]}` },
  });
  assert.match(shown, /the goal +done/);
}

/** Not by what Skein says of them: each tree is taken out of git and its tests are run again. */
async function testEveryLanding(project: string, outer: string): Promise<void> {
  const { git } = openRepository(project);
  assert.equal(await git("status", "--porcelain"), "");
  const target = await git("for-each-ref", "--format=%(refname)", "refs/heads/skein/*/target");
  const commits = (await git("rev-list", "--first-parent", target)).split("\n");
  assert.equal(commits.length, 17);
  for (const commit of commits) {
    const tree = path.join(outer, commit);
    await mkdir(tree);
    await git(`--work-tree=${tree}`, "read-tree", commit);
    await git(`--work-tree=${tree}`, "checkout-index", "--all");
    await call(process.execPath, ["test/all.js"], { cwd: tree, env: plainEnvironment() });
  }
}
