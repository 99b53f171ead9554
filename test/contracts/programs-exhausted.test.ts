/** Tests starts of git and of other programs in a process that can open no more files. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { it } from "node:test";
import { ENVIRONMENT, temporaryFolder } from "./programs.ts";

const from = (file: string) => JSON.stringify(import.meta.resolve(`../../src/adapters/${file}`));

/**
 * A program that runs in a process of its own, with a low limit of open files. It tries one start with each number of
 * files left, from 0 up, and prints how each start ended and how many files were open before and after.
 */
const starting = (start: string, folder: string) => `
  import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";
  import { setImmediate as turn } from "node:timers/promises";
  const { git } = await import(${from("git/git.ts")});
  const { RefWriter } = await import(${from("git/ref-writer.ts")});
  const { ObjectReader } = await import(${from("git/object-reader.ts")});
  const { LocalPrograms } = await import(${from("programs/local.ts")});
  const signal = new AbortController().signal;
  const folder = ${JSON.stringify(folder)};
  const programs = new LocalPrograms({ folder: folder + "/records" });
  const limits = { maxMs: 20_000, maxOutputBytes: 1_000, maxFileBytes: 1_000_000 };
  const program = { job: "work:t.1#1", command: ["/bin/true"], folder, environment: ${JSON.stringify(ENVIRONMENT)}, limits };
  const start = async () => { ${start} };
  const ends = [await start()];
  // Node itself loses the sockets of a start that it could not finish; nobody else can reach them.
  const isOurs = (name) => { try { return !readlinkSync("/proc/self/fd/" + name).startsWith("socket:"); } catch { return false; } };
  const count = () => readdirSync("/proc/self/fd").filter(isOurs).length;
  const before = count();
  for (let left = 0; left < 24; left += 1) {
    const taken = [];
    try { for (;;) taken.push(openSync("/dev/null")); } catch {}
    for (let n = 0; n < left; n += 1) closeSync(taken.pop());
    ends.push(await start());
    for (const one of taken) closeSync(one);
  }
  for (let n = 0; n < 50 && count() > before; n += 1) await turn();
  console.log(JSON.stringify({ ends, before, after: count() }));
`;

const GIT =
  'const a = await git({ folder, args: ["--version"] }, signal); return a.ok ? "ok" : a.failure.message;';
const PROGRAM =
  'const e = await programs.run(program, signal); return e.is === "exited" ? "ok" : e.failure.message;';

const REFS =
  'const refs = new RefWriter(folder); const m = await refs.move([]); refs.close(); return m.ok ? "ok" : m.failure.message;';
const OBJECTS =
  'const r = new ObjectReader(folder, {}); const o = await r.info("HEAD"); r.close(); return o.is === "failed" ? o.why : "ok";';

for (const [what, start] of [
  ["git", GIT],
  ["a writer of refs", REFS],
  ["a reader of objects", OBJECTS],
  ["a program", PROGRAM],
] as const) {
  it(`${what} that cannot be started for want of files is a failure in words, and leaves none open`, {
    timeout: 60_000,
  }, async () => {
    if (process.platform !== "linux") return;
    await using folder = await temporaryFolder();
    execFileSync("git", ["init", "-q", folder.path]);
    const source = starting(start, folder.path);
    const command = 'ulimit -n 80; exec "$0" --input-type=module -e "$1"';
    const out = execFileSync("sh", ["-c", command, process.execPath, source], { encoding: "utf8" });
    const { ends, before, after } = JSON.parse(out) as { ends: string[]; before: number; after: number };
    assert.deepEqual([ends.at(0), ends.at(-1)], ["ok", "ok"], out);
    assert.match(ends.at(1) ?? "", /EMFILE|no file or process left|could not be recorded/);
    assert.ok(after <= before, `${before} files were open before, ${after} afterwards`);
  });
}
