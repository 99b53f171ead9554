/** Tests commands after a `kill -9` of the engine: finished work counts, and unfinished work is kept. */
import assert from "node:assert/strict";
import { glob, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { makePlace, type Place } from "./cli-place.ts";

/** A shell script that kills the process that drives the run, once, and counts the attempts at the second task. */
const killsTheEngine = (then: string) => `
if [ "$SKEIN_TASK" = t.2 ]; then
  echo x >> "$PLACE/attempts"
  if [ ! -e "$PLACE/killed" ]; then
    touch "$PLACE/killed"
    echo "made by $SKEIN_TASK" > "$SKEIN_TASK.txt"
    pid=$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' "$PLACE"/state/*/runs/*/owner.json)
    ${then}
  fi
fi
`;

const HANDOFF = `echo '{"status":"complete","summary":"wrote it"}' > "$SKEIN_HANDOFF"`;

async function killed(place: Place): Promise<void> {
  const run = place.with({ env: { PLACE: place.folder } });
  const args = ["--agent", place.agent, "--gate", "none", "--set", "workspace.pass=[PLACE]"];
  const { code } = await run.start("run", "two files", ...args).ended;
  assert.equal(code, null, "it was killed");
}

const attempts = async ({ folder }: Place) =>
  (await readFile(path.join(folder, "attempts"), "utf8")).split("\n").length - 1;

const resumed = (place: Place) => place.with({ env: { PLACE: place.folder } }).skein("resume");

describe("after a kill -9", { concurrency: 2 }, () => {
  it("a worker that had finished by itself is not asked again, and what it made lands", async () => {
    await using place = await makePlace({ work: killsTheEngine(`${HANDOFF}; kill -9 $pid; exit 0`) });
    await killed(place);
    const { code, out } = await resumed(place);
    assert.equal(code, 0, out);
    assert.equal(await attempts(place), 1);
    assert.match(out, /2 of 2 tasks done/);
  });

  it("a worker that had finished is asked again if the machine was started since: its files may be empty", async () => {
    await using place = await makePlace({ work: killsTheEngine(`${HANDOFF}; kill -9 $pid; exit 0`) });
    await killed(place);
    for await (const name of glob("*/runs/*/jobs/work-t.2-1/job.json", { cwd: place.state })) {
      const file = path.join(place.state, name);
      const { boot: _, ...job } = JSON.parse(await readFile(file, "utf8")) as { readonly boot: string };
      await writeFile(file, JSON.stringify({ ...job, boot: "another" }));
    }
    const { code, out } = await resumed(place);
    assert.equal(code, 0, out);
    assert.equal(await attempts(place), 2);
    assert.equal(
      await place.repository.git("for-each-ref", "refs/skein/salvage", "--format=%(refname:lstrip=4)"),
      "t.2.1",
    );
  });

  it("a worker that ended badly is not believed, whatever it had written before", async () => {
    await using place = await makePlace({ work: killsTheEngine(`${HANDOFF}; kill -9 $pid; exit 1`) });
    await killed(place);
    const { code, out } = await resumed(place);
    assert.equal(code, 0, out);
    assert.equal(await attempts(place), 2);
  });

  it("a worker that is still at it is ended, its work is kept, and the task is done again", async () => {
    await using place = await makePlace({ work: killsTheEngine(`${HANDOFF}; kill -9 $pid; sleep 600`) });
    await killed(place);
    const { code, out } = await resumed(place);
    assert.equal(code, 0, out);
    assert.equal(await attempts(place), 2);
    const { repository } = place;
    const [kept = ""] = (
      await repository.git("for-each-ref", "--format=%(refname)", "refs/skein/salvage")
    ).split("\n");
    assert.match(kept, /\/t\.2\.1$/);
    assert.equal(await repository.git("show", `${kept}:t.2.txt`), "made by t.2");
  });

  it("a worker whose brief is lost is ended as well, its work is kept, and its workspace given back", async () => {
    await using place = await makePlace({ work: killsTheEngine("kill -9 $pid; sleep 600") });
    await killed(place);
    for await (const name of glob("*/runs/*/jobs/work-t.2-1/job.json", { cwd: place.state }))
      await writeFile(path.join(place.state, name), "");
    const { code, out } = await resumed(place);
    assert.equal(code, 0, out);
    assert.match(out, /^restored: 1 empty record of the run removed$/m);
    assert.doesNotMatch(out, /could not be given back/);
    const kept = await place.repository.git("for-each-ref", "--format=%(refname)", "refs/skein/salvage");
    assert.match(kept, /\/t\.2\.1$/);
    assert.equal(await place.repository.git("show", `${kept}:t.2.txt`), "made by t.2");
  });

  it("delivering a part leaves the work of those who were at it where it can be kept", async () => {
    await using place = await makePlace({ work: killsTheEngine("kill -9 $pid; sleep 600") });
    await killed(place);
    const { repository } = place;
    await repository.git("checkout", "-q", "--detach");
    const delivered = await place.skein("deliver", "--partial", ...(await runOf(place)));
    assert.equal(delivered.code, 0, delivered.err);
    assert.equal(await repository.git("show", "main:t.1.txt"), "made by t.1");
    assert.equal((await resumed(place)).code, 0);
    const refs = await repository.git("for-each-ref", "--format=%(refname)", "refs/skein/salvage");
    assert.match(refs, /\/t\.2\.1$/m);
  });

  it("no secret of a planner or of a set-up command is in anything that is kept", async () => {
    const secret = "s3cr3t-of-a-planner-42";
    await using place = await makePlace();
    const env = { MY_API_KEY: secret };
    const run = place.with({ env });
    const planner = ["--planner", `sh -c 'echo it is ${"$"}MY_API_KEY >&2; exit 1'`];
    const pass = ["--set", "workspace.pass=[MY_API_KEY]", "--gate", "none"];
    const failed = await run.skein("run", "x", "--agent", place.agent, ...planner, ...pass);
    assert.equal(failed.code, 1);
    assert.ok(!`${failed.out}${failed.err}`.includes(secret));
    const setup = ["--set", 'workspace.setup=sh -c "echo $MY_API_KEY; exit 1"', "--planner", "none"];
    const unready = await run.skein("run", "x", "--agent", place.agent, ...setup, ...pass);
    assert.equal(unready.code, 3);
    assert.ok(!`${unready.out}${unready.err}`.includes(secret));
    const { stdout } = await grep(secret, place.state);
    assert.equal(stdout, "", "it is in no file");
  });
});

async function runOf(place: Place): Promise<readonly string[]> {
  const { out } = await place.skein("status", "--json");
  return [/"run":"([^"]+)"/.exec(out)?.[1] ?? ""];
}

async function grep(text: string, folder: string): Promise<{ readonly stdout: string }> {
  const { execFile } = await import("node:child_process");
  const { promise, resolve } = Promise.withResolvers<{ readonly stdout: string }>();
  execFile("grep", ["-rla", text, folder], (_error, stdout) => resolve({ stdout }));
  return promise;
}
