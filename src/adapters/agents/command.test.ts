/** Tests programs as agents: their brief and environment, how answers are found, and what survives a kill. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { failureOf, JOB, planAsk, textOf, workAsk, workBrief } from "../../../test/contracts/agent.ts";
import { agentParts, type Heard, hearing } from "../../../test/support/agent-parts.ts";
import { readHandoff } from "../../core/answers/handoff-answer.ts";
import { readPlanAnswer } from "../../core/answers/plan-answer.ts";
import type { Ask, Called, Said } from "../../ports/agent.ts";
import type { Program, Programs } from "../../ports/programs.ts";
import { CommandAgent } from "./command.ts";

/** Leaves a process that holds the output open, and cannot be found by mark, parent or process group. */
const ESCAPES =
  "(env -i setsid sh -c 'echo $$ > escaped.new; mv escaped.new escaped; exec sleep 600' &); " +
  "until [ -e escaped ]; do sleep 0.01; done";

describe("a program as an agent", () => {
  let home: string;
  let folder: string;
  let heard: Heard;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-command-"));
    folder = path.join(home, "workspace");
    mkdirSync(folder);
    heard = hearing();
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const jobs = () => path.join(home, "jobs");
  const handoffFile = () => path.join(jobs(), "work-t.1-1", "handoff.json");
  const agent = (shell: string) =>
    new CommandAgent({ command: ["sh", "-c", shell], ...agentParts(jobs(), heard) });
  const run = (shell: string, ask: Ask = workAsk(folder)): Promise<Said | Called> =>
    agent(shell).turn(ask, new AbortController().signal);

  describe("what it is told", () => {
    it("gets the brief with its version on standard input and in a file", async () => {
      const said = await run(
        'cat > stdin; cp "$SKEIN_BRIEF" file',
        workAsk(folder, { steers: ["use ünicode"] }),
      );
      assert.equal(textOf(said), "");
      const stdin = readFileSync(path.join(folder, "stdin"), "utf8");
      assert.equal(stdin, readFileSync(path.join(folder, "file"), "utf8"));
      assert.deepEqual(JSON.parse(stdin), { skein: 1, ...workBrief, steers: ["use ünicode"] });
    });

    it("finds nothing of the brief in its arguments, which everybody on the machine can read", async () => {
      const seen: Program[] = [];
      const programs: Programs = {
        run: async (program) => {
          seen.push(program);
          return { is: "exited", code: 0, output: "", errors: "", tail: "" };
        },
        endLeftovers: async () => 0,
      };
      const quiet = new CommandAgent({
        ...agentParts(jobs(), heard),
        command: ["agent", "--work"],
        programs,
      });
      await quiet.turn(workAsk(folder, { steers: ["the token is s3cret"] }), new AbortController().signal);
      assert.deepEqual(seen[0]?.command, ["agent", "--work"]);
      assert.match(seen[0]?.input ?? "", /s3cret/);
    });

    it("runs in its workspace with the environment it is given, and knows whose turn it is", async () => {
      const print = 'echo "$SKEIN_RUN $SKEIN_TASK $SKEIN_KIND $SKEIN_ATTEMPT$SKEIN_TURN $EXTRA $HOME $PWD"';
      const ask = workAsk(folder, { attempt: 4 });
      const said = await run(print, { ...ask, environment: { ...ask.environment, EXTRA: "x" } });
      assert.equal(textOf(said), `r1 t.1 work 4 x  ${folder}`);
      assert.match(textOf(await run(print, planAsk(folder, { turn: 6 }))), /^r1 t plan 6 /);
    });

    it("is not brought down by a program that does not read its brief", async () => {
      const ask = workAsk(folder, { steers: ["x".repeat(1_000_000)] });
      assert.equal(
        textOf(await run('exec <&-; echo \'{"status": "complete"}\'', ask)),
        '{"status": "complete"}',
      );
    });
  });

  describe("what it says", () => {
    /** Makes a turn with a faked program end; no program runs. */
    const ending = (
      end: { readonly code: number; readonly output: string; readonly isCut?: true },
      ask: Ask,
    ) => {
      const programs: Programs = {
        run: async () => ({ is: "exited", errors: "", tail: "", ...end }),
        endLeftovers: async () => 0,
      };
      const parts = { ...agentParts(jobs(), heard), programs };
      return new CommandAgent({ ...parts, command: ["agent"] }).turn(ask, new AbortController().signal);
    };

    it("is not complete, and is no plan, if its output was cut; less than complete is believed", async () => {
      const cut = (output: string, ask: Ask = workAsk(folder)) =>
        ending({ code: 0, output, isCut: true }, ask);
      assert.equal(textOf(await ending({ code: 0, output: "" }, workAsk(folder))), "");
      const plan = await cut('{"scratchpad": "", "tasks": []}', planAsk(folder));
      for (const said of [await cut(""), await cut('{"status": "complete"}'), plan]) {
        const { kind, message, next } = failureOf(said);
        assert.equal(kind, "agent-failed");
        assert.match(`${message}; ${next}`, /held its output open.*SKEIN_HANDOFF/);
      }
      const partial = '{"status": "partial", "summary": "half"}';
      assert.equal(textOf(await cut(`${partial}\n`)), partial);
    });

    it("is its file if its output was cut", async () => {
      if (process.platform !== "linux") return;
      const script = `echo '{"status": "complete"}' > "$SKEIN_HANDOFF"; ${ESCAPES}`;
      const said = await run(script);
      process.kill(Number(readFileSync(path.join(folder, "escaped"), "utf8")), "SIGKILL");
      assert.equal(textOf(said), '{"status": "complete"}\n');
    });

    it("is not complete if a process that it left holds its output, and cannot be found", async () => {
      if (process.platform !== "linux") return;
      const said = await run(`echo made > file; ${ESCAPES}`);
      process.kill(Number(readFileSync(path.join(folder, "escaped"), "utf8")), "SIGKILL");
      assert.match(failureOf(said).message, /sh left a process behind that still held its output open/);
    });

    it("takes the answer from its file before that of its output", async () => {
      const shell = `echo '{"status": "failed"}'; echo '{"status": "complete"}' > "$SKEIN_HANDOFF"`;
      assert.equal(textOf(await run(shell)), '{"status": "complete"}\n');
    });

    it("takes the last line that is an answer, whatever is around it", async () => {
      const said = await run(
        `echo "{ not json }"; echo '{"status": "blocked"}'; echo '{"level": 30}'; echo bye`,
      );
      assert.equal(textOf(said), '{"status": "blocked"}');
    });

    it("takes a planner's answer from among other lines, so that one without tasks stands alone", async () => {
      const shell = `echo '{"status": "thinking"}'; echo '{"scratchpad": "", "tasks": []}'; echo '{"level": 30}'`;
      assert.equal(textOf(await run(shell, planAsk(folder))), '{"scratchpad": "", "tasks": []}');
    });

    it("gives the whole output where no line is an answer, so that one in several lines is found", async () => {
      const plan =
        '{"scratchpad": "", "tasks": [\n {"id": "a", "description": "d", "acceptance": "x", "scope": ["a"]}\n]}';
      const text = textOf(await run(`echo Here:; echo '${plan}'`, planAsk(folder)));
      const read = readPlanAnswer(text);
      assert.deepEqual(read.is === "answer" && read.answer.tasks.map((task) => task.id), ["a"], text);
      const handoff = readHandoff(textOf(await run(`printf '{\\n"status":\\n"partial"}'`)), "t.1");
      assert.equal(handoff.is === "handoff" && handoff.handoff.status, "partial");
    });

    it("finds an answer at the end of more output than is kept", async () => {
      const said = await run(`yes noise | head -c 5000000; echo; echo '{"status": "complete"}'`);
      assert.equal(textOf(said), '{"status": "complete"}');
    });

    it("bears output that is no text", async () => {
      const said = await run(`head -c 100000 /dev/urandom; echo; echo '{"status": "complete"}'`);
      assert.equal(textOf(said), '{"status": "complete"}');
    });

    it("takes an empty file for no answer", async () => {
      assert.equal(
        textOf(await run(`: > "$SKEIN_HANDOFF"; echo '{"status": "complete"}'`)),
        '{"status": "complete"}',
      );
    });

    it("hands on a file that is no JSON, for its reader to judge", async () => {
      assert.equal(textOf(await run(`echo 'all good' > "$SKEIN_HANDOFF"`)), "all good\n");
    });

    const odd: [string, string, RegExp][] = [
      ["a folder", 'mkdir "$SKEIN_HANDOFF"', /something other than a file/],
      ["a link", 'ln -s "$SKEIN_BRIEF" "$SKEIN_HANDOFF"', /left a link/],
      ["a pipe", 'mkfifo "$SKEIN_HANDOFF"', /something other than a file/],
      ["a huge file", 'head -c 8000001 /dev/zero > "$SKEIN_HANDOFF"', /8000001 bytes/],
    ];
    for (const [what, shell, why] of odd)
      it(`refuses ${what} as an answer, and begins the next try without it`, async () => {
        const said = await run(shell);
        const { kind, message } = failureOf(said);
        assert.equal(kind, "agent-failed");
        assert.match(message, why);
        assert.deepEqual(await agent("").collect(JOB), said);
        assert.equal(textOf(await run(`echo '{"status": "complete"}'`)), '{"status": "complete"}');
      });

    it("says what it spent, also when it failed", async () => {
      const shell = `echo '{"status": "complete", "spent": {"tokens": 5, "microdollars": 8}}'; exit 1`;
      assert.deepEqual((await run(shell)).spent, { tokens: 5, microdollars: 8 });
      assert.deepEqual((await run(`echo '{"status": "complete", "metrics": {"tokensUsed": 3}}'`)).spent, {
        tokens: 3,
      });
    });

    it("writes everything to the transcript of its job", async () => {
      await run("echo one; echo two >&2");
      assert.deepEqual(heard.texts.get(JOB)?.split("\n").sort(), ["", "one", "two"]);
    });
  });

  describe("how it ends", () => {
    it("fails with what it wrote last, harmless and short", async () => {
      const { kind, message, next } = failureOf(
        await run("yes long | head -c 50000; printf '\\033[2Jno such model\\000\\n' >&2; exit 3"),
      );
      assert.equal(kind, "agent-failed");
      assert.match(message, /^sh ended with exit code 3: [\s\S]*no such model$/);
      assert.ok(message.length < 1_100 && !/[\p{Cc}--\n]/v.test(message), JSON.stringify(message.slice(-40)));
      assert.match(next ?? "", /by hand/);
    });

    it("is called by its file's name, or as it is told", async () => {
      const at = { ...agentParts(jobs(), heard), command: ["/bin/sh", "-c", "exit 1"] } as const;
      const ending = async (name: object) =>
        failureOf(
          await new CommandAgent({ ...at, ...name }).turn(workAsk(folder), new AbortController().signal),
        ).message;
      assert.equal(await ending({}), "sh ended with exit code 1");
      assert.equal(await ending({ name: "my agent" }), "my agent ended with exit code 1");
    });

    it("believes one that ends badly and says how far it came, but not that it is complete", async () => {
      for (const status of ["failed", "blocked", "Partial"])
        assert.equal(textOf(await run(`echo '{"status": "${status}"}'; exit 1`)), `{"status": "${status}"}`);
      assert.equal(failureOf(await run(`echo '{"status": "complete"}'; exit 1`)).kind, "agent-failed");
      assert.equal(failureOf(await run(`echo '{"status": "great"}'; exit 1`)).kind, "agent-failed");
    });

    it("believes no planner that ends badly", async () => {
      const { kind } = failureOf(
        await run(`echo '{"tasks": [], "status": "failed"}'; exit 1`, planAsk(folder)),
      );
      assert.equal(kind, "agent-failed");
    });

    it("takes exit code 75 for an outage, whatever else was said, and counts what it cost", async () => {
      const said = await run(
        `echo '{"status": "failed", "spent": {"tokens": 4}}'; echo 529 overloaded >&2; exit 75`,
      );
      const { kind, message } = failureOf(said);
      assert.equal(kind, "agent-unreachable");
      assert.match(message, /could not reach its model.*529 overloaded/s);
      assert.deepEqual(said.spent, { tokens: 4 });
    });

    it("tells who wrote too large a file from who was killed", async () => {
      const large = failureOf(await run("head -c 20000000 /dev/zero > large & wait $!; kill -XFSZ $$"));
      assert.equal(large.kind, "agent-failed");
      assert.match(large.message, /larger than 10000000 bytes/);
      const killed = failureOf(await run("kill -TERM $$"));
      assert.deepEqual([killed.kind, /SIGTERM/.test(killed.message)], ["interrupted", true]);
    });

    it("asks whether a program that cannot be started is installed", async () => {
      const missing = new CommandAgent({ command: ["no-such-agent"], ...agentParts(jobs(), heard) });
      const { kind, message, next } = failureOf(
        await missing.turn(workAsk(folder), new AbortController().signal),
      );
      assert.equal(kind, "agent-failed");
      assert.match(message, /^no-such-agent could not be started/);
      assert.match(next ?? "", /installed\?/);
    });

    it("is lost, not to blame, where its job's folder cannot be made", async () => {
      writeFileSync(jobs(), "a file");
      assert.equal(failureOf(await run(":")).kind, "interrupted");
    });
  });

  describe("what the next engine finds", () => {
    const statusFile = () => path.join(jobs(), "work-t.1-1.status");
    const left = (text: string, status?: string, job = JOB) => {
      mkdirSync(path.dirname(handoffFile()), { recursive: true });
      writeFileSync(handoffFile(), text);
      if (status !== undefined) writeFileSync(statusFile(), status);
      return agent(":").collect(job);
    };

    it("takes an answer that is whole from a program that ended well, with what it cost", async () => {
      const text = '{"status": "complete", "spent": {"tokens": 2}}\n';
      assert.deepEqual(await left(text, "0\n"), { is: "said", text, spent: { tokens: 2 } });
    });

    it("believes nobody who may have been cut off that all is done, but how far it came", async () => {
      for (const status of [undefined, "", "0", "137\n", "0\n0\n", "x\n"]) {
        assert.equal(await left('{"status": "complete"}', status), undefined, status);
        assert.equal((await left('{"status": "partial"}', status))?.is, "said", status);
      }
    });

    it("charges nobody for a bad end that nobody saw: its reader was gone; what it admits is believed", async () => {
      assert.equal(await left('{"status": "complete"}', "1\n"), undefined);
      assert.equal(await left("", "1\n"), undefined);
      assert.equal(textOf((await left('{"status": "partial"}', "1\n"))!), '{"status": "partial"}');
    });

    for (const text of [
      '{"status": "compl',
      "",
      "all good",
      '"complete"',
      '[{"status": "complete"}]',
      '{"a": 1} x',
    ])
      it(`takes ${JSON.stringify(text)} for none`, async () =>
        assert.equal(await left(text, "0\n"), undefined));

    it("finds nothing where nothing was", async () => {
      assert.equal(await agent(":").collect(JOB), undefined);
    });

    it("finds what was printed, by workers and planners, once the turn has ended", async () => {
      for (const [ask, text] of [
        [workAsk(folder), '{"status": "complete"}'],
        [planAsk(folder), '{"scratchpad": "", "tasks": []}'],
      ] as const) {
        const said = await run(`echo '${text}'`, ask);
        assert.equal(textOf(said), text);
        assert.deepEqual(await agent(":").collect(ask.job), said);
      }
    });

    it("finds a turn that ended badly as it was", async () => {
      const said = await run(`echo '{"status": "complete"}' > "$SKEIN_HANDOFF"; echo oh >&2; exit 1`);
      assert.equal(failureOf(said).kind, "agent-failed");
      assert.deepEqual(await agent(":").collect(JOB), said);
    });

    it("does not take the word of a program that was stopped, although it then ended well", async () => {
      const stop = new AbortController();
      const turn = agent(
        `trap 'exit 0' TERM; echo '{"status": "complete"}' > "$SKEIN_HANDOFF"; echo; while :; do sleep 0.05; done`,
      ).turn(workAsk(folder), stop.signal);
      await heard.begun;
      stop.abort();
      assert.equal(failureOf(await turn).kind, "interrupted");
      assert.equal(await agent(":").collect(JOB), undefined);
    });

    it("keeps what counts out of the folder that the program is told of", async () => {
      await run('ls -A "$(dirname "$SKEIN_HANDOFF")" > names');
      assert.equal(readFileSync(path.join(folder, "names"), "utf8"), "brief.json\n");
    });

    it("does not take an answer of an earlier try: it is gone before the program begins", async () => {
      await left('{"status": "complete"}', "0\n");
      await run(`test ! -e "$SKEIN_HANDOFF" && touch clean; kill -KILL $$`);
      assert.ok(existsSync(path.join(folder, "clean")));
      assert.equal(await agent(":").collect(JOB), undefined);
    });

    it("begins anew although an earlier try left a pipe where its brief belongs", {
      timeout: 10_000,
    }, async () => {
      await run('rm "$SKEIN_BRIEF"; mkfifo "$SKEIN_BRIEF"');
      assert.equal(textOf(await run('test -f "$SKEIN_BRIEF"')), "");
    });
  });
});
