/** The contract suite of Programs for the last output: when our event loop stalls, and when it never ends. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Program, ProgramEnd, Programs } from "../../src/ports/programs.ts";
import { isRunning, LIMITS, NEVER, pidsIn, shell, temporaryFolder } from "./programs.ts";

export function stallsContract(name: string, make: (folder: string) => Programs): void {
  describe(`the last words of programs ${name}`, () => {
    const run = async (
      script: string,
      more: (folder: string) => Partial<Program> = () => ({}),
    ): Promise<ProgramEnd> => {
      await using records = await temporaryFolder();
      await using folder = await temporaryFolder();
      const program = shell(script, folder.path, more(folder.path));
      return await make(records.path).run(program, NEVER);
    };

    /** Prints three words: the second and the third only once a file tells it to. */
    const SCRIPT =
      "echo up $$; until [ -e one ]; do sleep 0.01; done; echo first; : > said; " +
      "until [ -e two ]; do sleep 0.01; done; echo answer";

    /**
     * Called with each word. It makes the loop hear of the program's end before it can read the answer, and then stalls
     * the loop for longer than any wait. Another child has ended as well, so that one look at the children finds both.
     */
    const stalling = (folder: string) => {
      let pid = 0;
      return (text: string) => {
        if (text.startsWith("up")) {
          [pid = 0] = pidsIn(text);
          const other = spawn("true", { stdio: "ignore" }).on("exit", () => stall(LONG_MS));
          writeFileSync(join(folder, "one"), "");
          stallUntil(() => existsSync(join(folder, "said")) && !isRunning(other.pid as number));
        } else if (text.startsWith("first")) {
          writeFileSync(join(folder, "two"), "");
          stallUntil(() => !isRunning(pid));
        }
      };
    };

    it("arrive if the loop stalls between hearing of the end and reading them", async () => {
      if (process.platform !== "linux") return;
      const end = await run(SCRIPT, (folder) => ({ onOutput: stalling(folder) }));
      assert.ok(end.is === "exited" && end.code === 0, JSON.stringify(end));
      assert.match(end.output, /^up \d+\nfirst\nanswer\n$/);
      assert.equal(end.isCut, undefined);
    });

    it("arrive in a conversation as well", async () => {
      if (process.platform !== "linux") return;
      let heard = "";
      const end = await run(SCRIPT, (folder) => {
        const hear = stalling(folder);
        return {
          talk: async ({ output }) => {
            for await (const text of output.pipeThrough(new TextDecoderStream())) {
              heard += text;
              hear(text);
            }
          },
        };
      });
      assert.equal(end.is, "exited");
      assert.match(heard, /^up \d+\nfirst\nanswer\n$/);
    });

    it("count if the program ended in time, and the loop stalled until the time was up", async () => {
      if (process.platform !== "linux") return;
      const maxMs = 1_000;
      const script = "echo up $$; until [ -e one ]; do sleep 0.01; done; echo answer";
      const end = await run(script, (folder) => ({
        limits: { ...LIMITS, maxMs },
        onOutput: (text) => {
          const [pid = 0] = pidsIn(text);
          if (!text.startsWith("up")) return;
          writeFileSync(join(folder, "one"), "");
          stallUntil(() => !isRunning(pid));
          stall(maxMs);
        },
      }));
      assert.ok(end.is === "exited" && end.code === 0, JSON.stringify(end));
      assert.match(end.output, /answer\n$/);
    });

    /** Leaves a process that never stops and has no mark, parent or group by which it could be found. */
    const ESCAPES =
      "(env -i setsid sh -c 'trap : PIPE; echo $$ > escaped; while :; do echo more; sleep 0.01; done' 2> /dev/null &); " +
      "until [ -s escaped ]; do sleep 0.01; done; ";

    it("are read as far as they are there if a process that cannot be found goes on writing, which is said", async () => {
      if (process.platform !== "linux") return;
      let escaped = 0;
      try {
        const end = await run(
          `${ESCAPES} cat escaped; head -c 60000 /dev/zero | tr '\\0' x; echo answer`,
          () => ({
            onOutput: (text) => {
              escaped ||= pidsIn(text)[0] ?? 0;
            },
          }),
        );
        assert.ok(end.is === "exited" && end.code === 0, JSON.stringify(end));
        assert.match(end.output.replaceAll("more\n", ""), /x{60000}answer\n$/);
        assert.equal(end.isCut, true);
        assert.ok(isRunning(escaped));
      } finally {
        if (escaped) process.kill(escaped, "SIGKILL");
      }
    });
  });
}

/** Longer than any wait for the end of a program's output. */
const LONG_MS = 1_200;

/** Blocks this process: nothing else happens in it meanwhile. */
const stall = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function stallUntil(isSo: () => boolean): void {
  for (let n = 0; !isSo(); n += 1) {
    assert.ok(n < 4_000, "it did not come");
    stall(5);
  }
}
