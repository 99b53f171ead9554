/** Tests what a model's shell command can do, see and leave behind, without a sandbox. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { napOf, napping } from "../../../../test/support/naps.ts";
import { plainPlace } from "../../../../test/support/tool-places.ts";
import { runCommand } from "./bash.ts";
import type { ToolPlace } from "./place.ts";

const bash = (place: ToolPlace, command: string, timeout_seconds?: number) =>
  runCommand(place, { command, timeout_seconds }, place.signal);

it("gives both outputs in the order they came, and the exit code", async () => {
  const place = plainPlace();
  assert.equal(await bash(place, "echo one; echo two >&2; echo three"), "one\ntwo\nthree\n");
  assert.equal(await bash(place, "printf one; exit 3"), "one\n[exit code 3]");
  assert.equal(await bash(place, ":"), "(no output)");
  assert.equal(await bash(place, "kill -KILL $$"), "[killed by SIGKILL]");
});

it("takes no word of the command for an option of the shell", async () => {
  assert.match(
    await bash(plainPlace(), "--version"),
    /--version: (?:command )?not found[\s\S]*\[exit code 127\]$/,
  );
});

it("gives it nothing to read, and no variable but its own", async () => {
  const place = plainPlace({ environment: { PATH: process.env["PATH"] ?? "", GREETING: "hello" } });
  assert.equal(await bash(place, "cat; echo $GREETING"), "hello\n");
  const names = (await bash(place, "env")).split("\n").map((line) => line.split("=")[0]);
  const own = ["GREETING", "PATH", "PWD", "OLDPWD", "SHLVL", "SKEIN_JOB", "SKEIN_SHELL", "_", ""];
  assert.deepEqual(
    names.filter((name) => !own.includes(name ?? "")),
    [],
  );
});

it("leaves the middle of a long output out, and says so", async () => {
  const place = plainPlace();
  const heard = await bash({ ...place, limits: { ...place.limits, maxOutputBytes: 1_000 } }, "seq 1 100000");
  assert.match(heard, /^1\n2\n[\s\S]*\n… \d+ bytes left out …\n[\s\S]*\n100000\n$/);
  assert.ok(heard.length < 1_200);
});

it("stops a command that takes too long, with what it started, and says so", async () => {
  const heard = await bash(plainPlace(), `echo begun; setsid ${napOf(7001)} & ${napOf(7001)}`, 1);
  assert.equal(heard, "begun\n[stopped: it did not end within 1 s]");
  assert.deepEqual(napping(napOf(7001)), []);
});

it("stops with the turn", async () => {
  const stop = new AbortController();
  const place = plainPlace({ signal: stop.signal, onSign: () => stop.abort() });
  assert.equal(await bash(place, `echo begun; ${napOf(7002)}`), "begun\n[stopped]");
  assert.deepEqual(napping(napOf(7002)), []);
});

it("ends what a command left in the background", async () => {
  await bash(
    plainPlace(),
    `nohup ${napOf(7003)} >/dev/null 2>&1 & (setsid ${napOf(7003)} >/dev/null 2>&1 &) ; echo`,
  );
  assert.deepEqual(napping(napOf(7003)), []);
});

it("gives a sign of life and a line of the transcript for what it writes", async () => {
  let signs = 0;
  let written = "";
  const place = plainPlace({ onSign: () => (signs += 1), write: (text) => (written += text) });
  await bash(place, "echo one");
  assert.deepEqual([signs > 0, written], [true, "$ echo one\none\n"]);
});

it("lets a command write no file that is larger than the limit", async () => {
  const place = plainPlace();
  const small = { ...place, limits: { ...place.limits, maxFileBytes: 1_024 } };
  assert.match(await bash(small, "head -c 5000 /dev/zero > large; wc -c < large"), /1024/);
});

it("refuses a command that no argument can hold", async () => {
  assert.match(await bash(plainPlace(), "\0"), /^error: a command cannot contain/);
  assert.match(await bash(plainPlace(), `: ${"x".repeat(100_000)}`), /^error: the command has more than/);
});
