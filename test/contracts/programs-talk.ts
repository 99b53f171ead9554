/** The contract suite of Programs for conversations with a program by lines. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Program, Programs, Streams } from "../../src/ports/programs.ts";
import { isRunning, LIMITS, NEVER, pidsIn, shell, temporaryFolder } from "./programs.ts";

export function conversationsContract(name: string, make: (folder: string) => Programs): void {
  describe(`programs ${name} that are talked with`, () => {
    const run = async (script: string, more: Partial<Program>, signal = NEVER) => {
      await using records = await temporaryFolder();
      await using folder = await temporaryFolder();
      return await make(records.path).run(shell(script, folder.path, more), signal);
    };

    const talking = async (
      script: string,
      talk: (lines: Lines) => Promise<void>,
      more: Partial<Program> = {},
      signal = NEVER,
    ) => run(script, { talk: (streams) => talk(linesOf(streams)), ...more }, signal);

    it("hears and answers, line by line, and leaves by itself when its input ends", async () => {
      const heard: (string | undefined)[] = [];
      const end = await talking("while read -r line; do echo got $line; done; exit 4", async (lines) => {
        for (const word of ["one", "two"]) {
          await lines.say(word);
          heard.push(await lines.next());
        }
      });
      assert.deepEqual(heard, ["got one", "got two"]);
      assert.ok(end.is === "exited" && end.code === 4, JSON.stringify(end));
      assert.equal(end.output, "");
    });

    it("has an input that it can open by name, and errors for people", async () => {
      let shown = "";
      const onOutput = (text: string) => {
        shown += text;
      };
      let heard: string | undefined;
      const end = await talking(
        "head -n 1 /dev/stdin; echo oh >&2",
        async (lines) => {
          await lines.say("by name");
          heard = await lines.next();
        },
        { onOutput },
      );
      assert.equal(heard, "by name");
      assert.equal(end.is, "exited");
      assert.equal(shown, "oh\n");
    });

    it("is ended with everything that it started when it does not leave", async () => {
      let pids: number[] = [];
      const script = "sleep 600 & echo $! $$; trap '' TERM; while :; do sleep 0.05; done";
      const end = await talking(script, async (lines) => {
        pids = pidsIn((await lines.next()) ?? "");
      });
      assert.equal(end.is, "stopped");
      assert.equal(pids.length, 2);
      assert.deepEqual(pids.filter(isRunning), []);
    });

    it("ends the conversation when it ends itself, is stopped, or has no more time", async () => {
      const toTheEnd = async (lines: Lines) => {
        while ((await lines.next()) !== undefined);
        await assert.rejects(lines.say("anybody?".repeat(20_000)));
        over += 1;
      };
      let over = 0;
      assert.equal((await talking("echo a; kill -KILL $$", toTheEnd)).is, "killed");
      const limits = { ...LIMITS, maxMs: 300 };
      assert.equal((await talking("echo a; sleep 600", toTheEnd, { limits })).is, "timed-out");
      const stop = new AbortController();
      const onOutput = () => stop.abort();
      const stopped = await talking("echo up >&2; sleep 600", toTheEnd, { onOutput }, stop.signal);
      assert.equal(stopped.is, "stopped");
      assert.equal(over, 3);
    });

    it("is not read faster than somebody listens, and does not wait for one who has gone", async () => {
      let most = 0;
      const flood = "yes 0123456789abcdef 2>/dev/null | head -c 300000000; echo done >&2";
      const before = process.memoryUsage().rss;
      const end = await talking(flood, async (lines) => {
        await lines.next();
        // Without backpressure, all output would have been read by then.
        for (let turn = 0; turn < 20_000; turn += 1) await setImmediate();
        most = process.memoryUsage().rss - before;
      });
      assert.ok(most < 100_000_000, `${Math.round(most / 1e6)} MB more`);
      // On a busy machine the program may not end within the time that it is given to exit.
      assert.ok(end.is === "exited" ? end.tail === "done\n" : end.is === "stopped", JSON.stringify(end));
    });

    it("is not begun where nothing could be started", async () => {
      const talk = async () => assert.fail("there is nobody to talk to");
      const end = await run("", { talk, command: ["no-such-program"] });
      assert.equal(end.is, "unstartable");
      assert.equal((await run("true", { talk }, AbortSignal.abort())).is, "stopped");
    });
  });
}

type Lines = {
  readonly say: (line: string) => Promise<void>;
  /** Undefined at the end of the lines. */
  readonly next: () => Promise<string | undefined>;
};

function linesOf({ input, output }: Streams): Lines {
  const to = input.getWriter();
  const from = output.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    say: (line) => to.write(Buffer.from(`${line}\n`)),
    async next() {
      while (!text.includes("\n")) {
        const { value, done } = await from.read();
        if (done) return undefined;
        text += value;
      }
      const [line, ...rest] = text.split("\n");
      text = rest.join("\n");
      return line;
    },
  };
}
