/** The contract suite of Programs, with real programs and real process groups. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { access, chmod, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JobId } from "../../src/core/job.ts";
import type { Program, ProgramEnd, ProgramLimits, Programs } from "../../src/ports/programs.ts";

export const NEVER = new AbortController().signal;
export const JOB = "work:a.1#1" as JobId;
export const LIMITS: ProgramLimits = {
  maxMs: 60_000,
  maxOutputBytes: 1_000_000,
  maxFileBytes: 1_000_000_000,
};
export const ENVIRONMENT = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };

export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "skein-test-")));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** A zombie process that its parent has not reaped does not count as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
}

export const shell = (script: string, folder: string, more: Partial<Program> = {}): Program => ({
  job: JOB,
  command: ["/bin/sh", "-c", script],
  folder,
  environment: ENVIRONMENT,
  limits: LIMITS,
  ...more,
});

const texts = (end: ProgramEnd) => (end.is === "unstartable" ? assert.fail(end.failure.message) : end);
export const pidsIn = (text: string): number[] =>
  [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));

export function programsContract(name: string, make: (folder: string) => Programs): void {
  describe(`programs ${name}`, () => {
    const withPrograms = async (body: (programs: Programs, folder: string) => Promise<void>) => {
      await using records = await temporaryFolder();
      await using folder = await temporaryFolder();
      await body(make(records.path), folder.path);
    };
    const run = (script: string, more: Partial<Program> = {}, signal = NEVER) => {
      let end: ProgramEnd | undefined;
      return withPrograms(async (programs, folder) => {
        end = await programs.run(shell(script, folder, more), signal);
      }).then(() => end as ProgramEnd);
    };

    it("gives the exit code, standard output alone, and the end of both outputs", async () => {
      const end = await run("echo one; echo two >&2; exit 3");
      assert.ok(end.is === "exited" && end.code === 3);
      assert.equal(end.output, "one\n");
      assert.match(end.tail, /one\n/);
      assert.match(end.tail, /two\n/);
    });

    it("hands over the input, then its end, and does not mind if nobody reads it", async () => {
      assert.equal(texts(await run("cat", { input: "grüße\n" })).output, "grüße\n");
      assert.equal(texts(await run("cat")).output, "");
      assert.equal((await run("exec true", { input: "x".repeat(5_000_000) })).is, "exited");
    });

    it("has outputs and an input that a program can open by name", async () => {
      const end = await run("cat /dev/stdin; echo err > /dev/stderr; echo out > /dev/stdout", {
        input: "in\n",
      });
      assert.equal(texts(end).output, "in\nout\n");
      assert.match(texts(end).tail, /err\n/);
    });

    it("hands over exactly the environment, and nothing of our own", async () => {
      const end = await run("env", { environment: { ...ENVIRONMENT, GIVEN: "a b" } });
      const names = texts(end)
        .output.trim()
        .split("\n")
        .map((line) => line.slice(0, line.indexOf("=")))
        .filter((variable) => !["PWD", "OLDPWD", "SHLVL", "_", "SKEIN_JOB"].includes(variable));
      assert.deepEqual(names.sort(), ["GIVEN", "PATH"]);
    });

    it("passes arguments on as they are", async () => {
      const odd = ["", "a b", "$(id)", "'\"\n", "-n", "*"];
      const print = 'for (const a of process.argv.slice(1)) process.stdout.write(JSON.stringify(a) + "\\n")';
      const end = await run("", { command: [process.execPath, "-e", print, "--", ...odd] });
      assert.deepEqual(
        texts(end).output.trim().split("\n"),
        odd.map((argument) => JSON.stringify(argument)),
      );
    });

    it("says by which signal a program ended", async () => {
      const end = await run("kill -USR1 $$");
      assert.ok(end.is === "killed" && end.signal === "SIGUSR1");
    });

    it("stops at the limit of time with everything that was started", async () => {
      const end = await run("sleep 600 & echo $! $$; wait", { limits: { ...LIMITS, maxMs: 300 } });
      assert.equal(end.is, "timed-out");
      const pids = pidsIn(texts(end).output);
      assert.equal(pids.length, 2);
      assert.deepEqual(pids.filter(isRunning), []);
    });

    it("takes a limit of time that is longer than a timer can be", async () => {
      assert.equal((await run("true", { limits: { ...LIMITS, maxMs: 1e12 } })).is, "exited");
    });

    it("stops when it is told to with everything that was started", async () => {
      const stop = new AbortController();
      const onOutput = (text: string) => text.includes("\n") && stop.abort();
      const end = await run("sleep 600 & echo $! $$; wait", { onOutput }, stop.signal);
      assert.equal(end.is, "stopped");
      assert.deepEqual(pidsIn(texts(end).output).filter(isRunning), []);
    });

    it("starts nothing when it was stopped before", async () => {
      await withPrograms(async (programs, folder) => {
        const end = await programs.run(shell("touch ran", folder), AbortSignal.abort());
        assert.equal(end.is, "stopped");
        await assert.rejects(access(join(folder, "ran")));
      });
    });

    it("kills what does not end when it is asked to", async () => {
      const end = await run("trap '' TERM; echo $$; while :; do sleep 1; done", {
        limits: { ...LIMITS, maxMs: 300 },
      });
      assert.equal(end.is, "timed-out");
      assert.deepEqual(pidsIn(texts(end).output).filter(isRunning), []);
    });

    it("lets a program put its things in order when it is asked to end", async () => {
      const script = "trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.05; done";
      const end = await run(script, { limits: { ...LIMITS, maxMs: 300 } });
      assert.equal(end.is, "timed-out");
      assert.match(texts(end).output, /tidy/);
    });

    it("ends what a program left in the background, also where it holds the outputs open", async () => {
      const end = await run("sleep 600 & echo $!");
      assert.equal(end.is, "exited");
      assert.deepEqual(pidsIn(texts(end).output).filter(isRunning), []);
    });

    it("ends what has left the group, where it can be found", async () => {
      if (process.platform !== "linux") return;
      const away = (tail: string) => `(setsid nohup sh -c 'echo $$ >> pids; ${tail}' > /dev/null &)`;
      const wait = "while [ $(wc -l < pids) -lt 2 ]; do sleep 0.05; done";
      const end = await run(
        `: > pids; ${away("exec sleep 600")}; ${away("sleep 600 & wait")}; ${wait}; cat pids`,
      );
      const pids = pidsIn(texts(end).output);
      assert.equal(pids.length, 2);
      assert.deepEqual(pids.filter(isRunning), []);
    });

    it("leaves another program of the same job alone", async () => {
      await withPrograms(async (programs, folder) => {
        const started = Promise.withResolvers<void>();
        const stop = new AbortController();
        const long = shell("echo up; sleep 600", folder, { onOutput: () => started.resolve() });
        const other = programs.run(long, stop.signal);
        await started.promise;
        await programs.run(shell("true", folder), NEVER);
        stop.abort();
        assert.equal((await other).is, "stopped");
      });
    });

    it("leaves out the middle of a long output, says so once, and keeps head and tail", async () => {
      let shown = "";
      const onOutput = (text: string) => {
        shown += text;
      };
      const limits = { ...LIMITS, maxOutputBytes: 10_000 };
      const end = await run("seq 1 100000; echo END", { limits, onOutput });
      assert.ok(shown.startsWith("1\n2\n3\n"), shown.slice(0, 20));
      assert.ok(shown.endsWith("100000\nEND\n"));
      const said = [...shown.matchAll(/… (\d+) bytes left out …/g)];
      assert.equal(said.length, 1);
      const allBytes = Buffer.byteLength(texts(end).output);
      assert.equal(Number(said[0]?.[1]), allBytes - 10_000);
      assert.ok(texts(end).tail.length <= 4096 && texts(end).tail.endsWith("100000\nEND\n"));
    });

    it("decodes characters that come in two pieces", async () => {
      let shown = "";
      const onOutput = (text: string) => {
        shown += text;
      };
      const write = (hex: string) => `process.stdout.write(Buffer.from("${hex}", "hex"))`;
      const script = `${write("41f09f")}; setTimeout(() => ${write("98805a")}, 30)`;
      const end = await run("", { command: [process.execPath, "-e", script], onOutput });
      assert.equal(shown, "A😀Z");
      assert.equal(texts(end).output, "A😀Z");
    });

    it("takes hundreds of megabytes in bounded memory, without stopping the program", async () => {
      const before = process.memoryUsage().rss;
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage().rss);
      }, 20);
      let chars = 0;
      const onOutput = (text: string) => {
        chars += text.length;
      };
      const end = await run("yes 0123456789abcdef | head -c 1000000000", { onOutput });
      clearInterval(watch);
      assert.ok(end.is === "exited" && end.code === 0);
      assert.ok(chars <= LIMITS.maxOutputBytes + 100);
      // Other tests of this process leave garbage as well; all of the output would take far more than this.
      assert.ok(most - before < 400_000_000, `${Math.round((most - before) / 1e6)} MB more`);
    });

    it("limits the size of one file", async () => {
      const limits = { ...LIMITS, maxFileBytes: 100_000 };
      const end = await run("exec dd if=/dev/zero of=large bs=1000 count=1000", { limits });
      assert.ok(end.is === "killed" && end.signal === "SIGXFSZ", JSON.stringify(end));
      assert.equal((await run("head -c 90000 /dev/zero > fits", { limits })).is, "exited");
    });

    it("says that a program cannot be started, why, and what to do", async () => {
      await withPrograms(async (programs, folder) => {
        await writeFile(join(folder, "plain"), "#!/bin/sh\n");
        await writeFile(join(folder, "lost"), "#!/no/such/interpreter\n");
        await chmod(join(folder, "lost"), 0o755);
        const why = async (command: Program["command"], where = folder) => {
          const end = await programs.run(shell("", where, { command }), NEVER);
          assert.equal(end.is, "unstartable");
          return end.is === "unstartable" ? `${end.failure.message}; ${end.failure.next}` : "";
        };
        assert.match(await why(["no-such-program"]), /no-such-program was not found on the PATH; install it/);
        assert.match(await why(["./missing"]), /missing was not found/);
        assert.match(await why(["./plain"]), /plain is not executable; chmod/);
        assert.match(await why(["./lost"]), /lost cannot be run/);
        assert.match(await why(["true"], join(folder, "gone")), /no such folder/);
        assert.match(await why(["true", "a\0b"]), /could not be started/);
      });
    });

    it("takes 126 and 127 for what a program itself said", async () => {
      for (const code of [126, 127]) {
        const end = await run(`exit ${code}`);
        assert.ok(end.is === "exited" && end.code === code);
      }
    });

    describe("whose exit code is written down", () => {
      const watched = (script: string, more: Partial<Program> = {}) => {
        const { promise, resolve } = Promise.withResolvers<{ end: ProgramEnd; status: string }>();
        return withPrograms(async (programs, folder) => {
          const statusFile = join(folder, "the status");
          const end = await programs.run(shell(script, folder, { statusFile, ...more }), NEVER);
          resolve({ end, status: await readFile(statusFile, "utf8").catch(() => "none") });
        }).then(() => promise);
      };

      it("ends as it would without", async () => {
        for (const code of [0, 1, 75, 126, 127, 128, 255]) {
          const { end, status } = await watched(`exit ${code}`);
          assert.deepEqual([end.is === "exited" && end.code, status], [code, `${code}\n`]);
        }
        for (const [name, number] of [
          ["KILL", 137],
          ["TERM", 143],
          ["SEGV", 139],
        ] as const) {
          const { end, status } = await watched(`kill -${name} $$`);
          assert.deepEqual([end.is === "killed" && end.signal, status], [`SIG${name}`, `${number}\n`]);
          assert.equal(texts(end).tail, "");
        }
        // The exit code that a signal would give which stops the process for ever.
        const { end } = await watched("exit 147");
        assert.equal(end.is === "exited" && end.code, 147);
      });

      it("has its input, outputs and environment, and is the program that was meant", async () => {
        const environment = { ...ENVIRONMENT, code: "c", go: "g", status: "s" };
        const { end } = await watched("cat; echo $code$go$status$SKEIN_SHELL; echo err >&2", {
          input: "in\n",
          environment,
        });
        assert.match(texts(end).output, /^in\ncgs\n/);
        assert.match(texts(end).tail, /err\n/);
        const builtin = await watched("", { command: ["echo", "--version"] });
        assert.notEqual(texts(builtin.end).output, "--version\n"); // The shell's own command would print it.
      });

      it("has none if it was stopped, and ends with everything that it started", async () => {
        const script = "trap 'exit 0' TERM; sleep 600 & echo $! $$; while :; do sleep 0.05; done";
        const { end, status } = await watched(script, { limits: { ...LIMITS, maxMs: 300 } });
        assert.deepEqual([end.is, status], ["timed-out", "none"]);
        assert.deepEqual(pidsIn(texts(end).output).filter(isRunning), []);
      });
    });

    it("has no leftovers where nothing is left", async () => {
      await withPrograms(async (programs, folder) => {
        assert.equal(await programs.endLeftovers(JOB), 0);
        await programs.run(shell("sleep 600 & true", folder), NEVER);
        assert.equal(await programs.endLeftovers(JOB), 0);
      });
    });
  });
}
