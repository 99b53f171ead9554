/** Tests programs on this machine: the contract, and what happens to them when the engine crashes. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { watch } from "node:fs";
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { startOf } from "../../src/adapters/programs/process-table.ts";
import type { JobId } from "../../src/core/job.ts";
import type { Program } from "../../src/ports/programs.ts";
import {
  ENVIRONMENT,
  isRunning,
  JOB,
  LIMITS,
  NEVER,
  programsContract,
  shell,
  temporaryFolder,
} from "./programs.ts";
import { stallsContract } from "./programs-stalled.ts";
import { conversationsContract } from "./programs-talk.ts";

programsContract("on this machine", (folder) => new LocalPrograms({ folder }));
conversationsContract("on this machine", (folder) => new LocalPrograms({ folder }));
stallsContract("on this machine", (folder) => new LocalPrograms({ folder }));

/** Starts an engine in a process of its own that runs one program; the program's output comes out of that process. */
function startEngine(
  records: string,
  folder: string,
  script: string,
  { before = "", ...more }: Partial<Program> & { readonly before?: string } = {},
): ChildProcess {
  const program = { ...shell(script, folder, more), environment: { ...ENVIRONMENT, TEST_FOLDER: folder } };
  const source = `
    import fs from "node:fs/promises";
    import { syncBuiltinESMExports } from "node:module";
    ${before}
    const { LocalPrograms } = await import(${JSON.stringify(import.meta.resolve("../../src/adapters/programs/local.ts"))});
    const program = { ...${JSON.stringify(program)}, onOutput: (text) => process.stdout.write(text) };
    await new LocalPrograms({ folder: ${JSON.stringify(records)} }).run(program, new AbortController().signal);
  `;
  return spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function firstLine(engine: ChildProcess): Promise<number[]> {
  let text = "";
  for await (const chunk of engine.stdout ?? []) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text.trim().split(" ").map(Number);
}

async function kill(engine: ChildProcess): Promise<void> {
  const gone = once(engine, "exit");
  engine.kill("SIGKILL");
  await gone;
}

describe("after a crash of the engine", () => {
  it("the next one finds and ends what still runs, by the job", async () => {
    await using records = await temporaryFolder();
    await using folder = await temporaryFolder();
    const engine = startEngine(records.path, folder.path, "trap '' HUP PIPE; sleep 600 & echo $! $$; wait");
    const pids = await firstLine(engine);
    await kill(engine);
    assert.deepEqual(pids.map(isRunning), [true, true]);
    const next = new LocalPrograms({ folder: records.path });
    assert.equal(await next.endLeftovers("work:other#1" as JobId), 0);
    assert.deepEqual(pids.map(isRunning), [true, true]);
    assert.equal(await next.endLeftovers(JOB), 2);
    assert.deepEqual(pids.filter(isRunning), []);
    assert.deepEqual(await readdir(records.path), []);
  });

  it("the next one finds what has left the group, although the group's leader is gone", async () => {
    if (process.platform !== "linux") return;
    await using records = await temporaryFolder();
    await using folder = await temporaryFolder();
    const away = "setsid sh -c 'echo $$; exec sleep 600' & while :; do sleep 600; done";
    const engine = startEngine(records.path, folder.path, `echo $$ > leader; ${away}`);
    const [escaped] = (await firstLine(engine)) as [number];
    await kill(engine);
    const leader = Number(await readFile(join(folder.path, "leader"), "utf8"));
    process.kill(leader, "SIGKILL");
    assert.ok(isRunning(escaped));
    assert.ok((await new LocalPrograms({ folder: records.path }).endAll()) >= 1);
    assert.ok(!isRunning(escaped));
  });

  it("the exit code of a program that ended later is on record", async () => {
    await using records = await temporaryFolder();
    await using folder = await temporaryFolder();
    const statusFile = join(folder.path, "status");
    execFileSync("mkfifo", [join(folder.path, "goon")]);
    const script = "trap '' PIPE; echo $$; read line < goon; exit 3";
    const engine = startEngine(records.path, folder.path, script, { statusFile });
    await firstLine(engine);
    await kill(engine);
    const seen = new Promise<void>((resolve) => {
      watch(folder.path, (_event, name) => name === "status" && resolve()).unref();
    });
    await writeFile(join(folder.path, "goon"), "go\n");
    await seen;
    let text = "";
    while (text === "") text = await readFile(statusFile, "utf8"); // The file is created first and written afterwards.
    assert.equal(text, "3\n");
    await new LocalPrograms({ folder: records.path }).endAll();
  });

  it("those jobs go on that are excepted", async () => {
    await using records = await temporaryFolder();
    await using folder = await temporaryFolder();
    const engine = startEngine(records.path, folder.path, "trap '' HUP PIPE; sleep 600 & echo $$; wait");
    const [pid] = (await firstLine(engine)) as [number];
    await kill(engine);
    const next = new LocalPrograms({ folder: records.path });
    assert.equal(await next.endAll(new Set([JOB])), 0);
    assert.ok(isRunning(pid));
    assert.equal(await next.endAll(), 2);
    assert.ok(!isRunning(pid));
  });

  it("a program whose record was not yet in place has never run", async () => {
    if (process.platform !== "linux") return;
    await using records = await temporaryFolder();
    await using folder = await temporaryFolder();
    const die = 'fs.rename = () => process.kill(process.pid, "SIGKILL"); syncBuiltinESMExports();';
    const engine = startEngine(records.path, folder.path, "touch ran", { before: die });
    await once(engine, "exit");
    const isWaiting = async () => {
      for (const pid of await readdir("/proc")) {
        const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
        if (environment.includes(`TEST_FOLDER=${folder.path}`)) return true;
      }
      return false;
    };
    while (await isWaiting()) await new Promise(setImmediate); // The process sees the end of its input, and exits.
    await assert.rejects(access(join(folder.path, "ran")));
  });
});

it("a program's group is on record before its first instruction, and no longer when it has ended", async () => {
  await using records = await temporaryFolder();
  await using folder = await temporaryFolder();
  const programs = new LocalPrograms({ folder: records.path });
  const end = await programs.run(shell(`echo $$; cat '${records.path}'/*`, folder.path), NEVER);
  assert.ok(end.is === "exited");
  const [pid, record] = end.output.split("\n") as [string, string];
  const { job, command, group, start, boot } = JSON.parse(record) as Record<string, unknown>;
  assert.deepEqual({ job, command, group }, { job: JOB, command: "sh", group: Number(pid) });
  if (process.platform === "linux") assert.ok(start && boot);
  assert.deepEqual(await readdir(records.path), []);
});

it("a process that got the number of one on record later is left alone", async () => {
  await using records = await temporaryFolder();
  const innocent = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  await once(innocent, "spawn");
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  const record = {
    job: JOB,
    command: "sh",
    group: innocent.pid,
    start: "1",
    boot: boot.trim(),
    mark: "a-mark.",
  };
  await writeFile(join(records.path, "a.program.json"), JSON.stringify(record));
  const programs = new LocalPrograms({ folder: records.path });
  assert.equal(await programs.endLeftovers(JOB), 0);
  assert.ok(isRunning(innocent.pid as number));
  await kill(innocent);
  assert.deepEqual(await readdir(records.path), []);
});

it("a record of before the machine's last start means nothing, even if numbers and times agree", async () => {
  await using records = await temporaryFolder();
  const innocent = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
  await once(innocent, "spawn");
  const group = innocent.pid as number;
  const record = {
    job: JOB,
    command: "sh",
    group,
    start: await startOf(group),
    boot: "another",
    mark: "a-mark.",
  };
  await writeFile(join(records.path, "a.program.json"), JSON.stringify(record));
  assert.equal(await new LocalPrograms({ folder: records.path }).endLeftovers(JOB), 0);
  assert.ok(isRunning(group));
  await kill(innocent);
});

it("a damaged record is harmless", async () => {
  await using records = await temporaryFolder();
  for (const [index, text] of ["", "{", '{"job":"work:a.1#1","group":-1,"mark":"x"}', "null"].entries()) {
    await writeFile(join(records.path, `${index}.program.json`), text);
  }
  assert.equal(await new LocalPrograms({ folder: records.path }).endAll(), 0);
});

it("a program that cannot be put on record is not started", async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, "file"), "");
  const end = await new LocalPrograms({ folder: join(folder.path, "file") }).run(
    shell("touch ran", folder.path),
    NEVER,
  );
  assert.ok(end.is === "unstartable");
  assert.match(end.failure.message, /could not be recorded/);
  await assert.rejects(access(join(folder.path, "ran")));
});

it("a Skein inside a program of Skein keeps the outer mark, so that the outer one finds everything", async () => {
  await using records = await temporaryFolder();
  await using folder = await temporaryFolder();
  process.env["SKEIN_JOB"] = "outer.1";
  try {
    const programs = new LocalPrograms({ folder: records.path });
    const end = await programs.run(shell("echo $SKEIN_JOB", folder.path, { limits: LIMITS }), NEVER);
    assert.match(end.is === "exited" ? end.output : "", /^[0-9a-f.-]+,outer\.1\n$/);
  } finally {
    delete process.env["SKEIN_JOB"];
  }
});

it("removes the pipes and half a record that a killed engine had just made, and nothing else", async () => {
  await using records = await temporaryFolder();
  for (const name of ["a.in", "a.out", "a.err", "a.program.json.0123456789ab.new", "a.txt"])
    await writeFile(join(records.path, name), "");
  await new LocalPrograms({ folder: records.path }).endAll();
  assert.deepEqual(await readdir(records.path), ["a.txt"]);
});
