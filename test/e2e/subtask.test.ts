/** Tests `skein subtask` with command and ACP agents, and which templates and requests it refuses. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { main } from "../../src/surfaces/cli/main.ts";
import { ACP_COMMAND } from "../support/acp-agent/agent.ts";
import type { AcpScript, Step } from "../support/acp-agent/script.ts";
import { firstLine, makePipe } from "../support/pipes.ts";
import { keptIn, makePlace, type Place } from "./cli-place.ts";
import { done, envOf, FILES, KEY, RUN, request, resultOf } from "./subtask-place.ts";

describe("a task by an agent that is talked with", () => {
  const say = (value: object): readonly Step[] => [{ do: "say", text: `Well. ${JSON.stringify(value)}` }];
  const start = (place: Place, script: AcpScript, command: readonly string[] = ACP_COMMAND) => {
    const agent = JSON.stringify({ kind: "acp", name: "scripted", command });
    const env = { SKEIN_AGENT: agent, ACP_SCRIPT: JSON.stringify(script) };
    return place.with({ env }).start(...RUN, "--set", "workspace.pass=[ACP_SCRIPT]");
  };

  for (const loads of ["said before", undefined])
    it(`goes on ${loads ? "in its session" : "with its conversation retold"}, and its child has its own`, async () => {
      await using place = await makePlace({ files: FILES, isTrusted: true });
      const when = [
        { told: "Tool response", prompts: [say(done("went on"))] },
        { told: "Look at it", prompts: [say(done("no mistakes"))] },
      ];
      const usage = { totalTokens: 100, inputTokens: 90, outputTokens: 10 };
      const script = { prompts: [say(request())], when, usage, ...(loads && { loads }) };
      const ended = await start(place, script).ended;
      assert.equal(ended.code, 0, ended.out + ended.err);
      const { content, notes } = resultOf(ended);
      assert.deepEqual([content, notes["usage"]], ["went on", { tokens: 100 }]);
      assert.match(ended.err, /t\.1 COMPLETE/);
      assert.deepEqual(keptIn(place.state), []);
    });

  it("fails with the reason if the agent dies in the middle", async () => {
    await using place = await makePlace({ files: FILES, isTrusted: true });
    const ended = await start(place, { prompts: [[{ do: "exit", code: 3 }]] }).ended;
    assert.equal(ended.code, 1, ended.out + ended.err);
    assert.match(ended.out, /"FAILED".*exit code 3 in the middle of its turn/);
  });

  it("leaves no process when it is told to stop", async () => {
    await using place = await makePlace({ files: FILES, isTrusted: true });
    const pipe = makePipe(place.folder);
    const command = ["/bin/sh", "-c", `echo $$ > '${pipe}'; exec "$@"`, "sh", ...ACP_COMMAND];
    const live = start(place, { prompts: [[{ do: "hang", isDeaf: true }]] }, command);
    const pid = Number(await firstLine(pipe, live.ended));
    live.kill("SIGINT");
    const ended = await live.ended;
    assert.equal(ended.code, 130, ended.out + ended.err);
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
    assert.deepEqual(keptIn(place.state), []);
  });
});

/** A command agent whose answer is chosen by a shell's `case` over its brief. */
async function byProgram(cases: string, files: object = {}) {
  const place = await makePlace({ files: { ...FILES, ...files }, isTrusted: true });
  const log = path.join(place.folder, "briefs");
  writeFileSync(
    place.agent,
    `#!/bin/sh\nbrief=$(cat)\nprintf '%s\\n' "$brief" >> '${log}'\ncase "$brief" in\n${cases}\nesac\n`,
  );
  const run = (...args: readonly string[]) => place.skein(...args, "--agent", place.agent);
  return {
    place,
    run,
    briefs: () =>
      readFileSync(log, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
  };
}

const printed = (value: object) => `echo '${JSON.stringify(value)}';;`;

describe("a task by a program", () => {
  it("gets the whole conversation again each time, and unknown fields are named", async () => {
    const { place, run, briefs } = await byProgram(`
      *'"template":"check"'*) ${printed({ ...done("no mistakes"), mood: "good" })}
      *'"name":"subtask:verification"'*) echo written; echo checked;;
      *) ${printed(request())}`);
    await using _ = place;
    const ended = await run(...RUN);
    assert.deepEqual([ended.code, resultOf(ended).content], [0, "written\nchecked"], ended.err);
    const [first, child, again] = briefs();
    assert.deepEqual(
      [first.skein, first.kind, first.task.inputs, child.task.id],
      [1, "task", { topic: "tea" }, "t.1"],
    );
    assert.match(first.prompt, /^# You do one task/);
    assert.deepEqual(
      again.conversation.slice(-4).map(({ is, name }: { is: string; name?: string }) => name ?? is),
      ["input", "answer", "subtask:verification", "input"],
    );
    assert.deepEqual(again.conversation.slice(0, -3), first.conversation);
    assert.match(again.conversation.at(-2).text, /no mistakes[\s\S]*"unknown_fields":\["mood"\]/);
  });

  it("keeps a result that is too long to be printed as a file, which the result names", async () => {
    const { place, run } = await byProgram(`*) node -p '"line of a long text\\n".repeat(3000)';;`);
    await using _ = place;
    const ended = await run(...RUN);
    assert.equal(ended.code, 0, ended.out + ended.err);
    const { content, notes } = resultOf(ended);
    assert.match(content, /\[cut: about 8,000 of 15,000 tokens are shown; the whole is kept as \//);
    const whole = await readFile(String(notes["artefact"]), "utf8");
    assert.equal(whole, "line of a long text\n".repeat(3000).trim());
  });

  const ASKS = (notes: object) => `
    *'"name":"ask"'*) printf '%s' "$brief" | grep -o 'green\\|blue' | head -1;;
    *) ${printed({ status: "NEEDS_INPUT", content: "Which colour?", notes })}`;

  it("has its question's default taken where nobody can be asked; without one it fails with the question", async () => {
    const usual = await byProgram(ASKS({ question: { default: "green" } }));
    await using _ = usual.place;
    const taken = await usual.run(...RUN);
    assert.deepEqual([taken.code, resultOf(taken).content], [0, "green"], taken.err);
    const none = await byProgram(ASKS({}));
    await using __ = none.place;
    const failed = await none.run(...RUN);
    assert.deepEqual([failed.code, resultOf(failed).status], [1, "FAILED"]);
    assert.match(failed.out, /no terminal to answer it: Which colour\?/);
    assert.equal(none.briefs().length, 1);
  });

  it("has its question asked on a terminal", async () => {
    const { place } = await byProgram(ASKS({ question: { default: "green" } }));
    await using _ = place;
    const [out, err]: [string[], string[]] = [[], []];
    const sink = (to: string[]) => ({
      ...{ hasColours: false, write: (text: string) => void to.push(text) },
      size: () => ({ columns: 80, rows: 24 }),
    });
    let isClosed = false;
    const keyboard = () => ({
      isTerminal: true,
      line: async () => "blue",
      all: async () => Buffer.alloc(0),
      close: async () => {
        isClosed = true;
      },
    });
    const args = ["subtask", "run", "write", "--input", "topic=tea", "--agent", place.agent];
    const around = { env: envOf(place, {}), folder: place.repository.folder, input: keyboard };
    assert.equal(await main(args, { out: sink(out), err: sink(err) }, around), 0, err.join(""));
    assert.match(out.join(""), /"content":"blue"/);
    assert.match(err.join(""), /Which colour\? \(green\)\n> /);
    assert.ok(isClosed);
  });

  it("is stopped with all below it by a signal, and leaves no process", async () => {
    const { place } = await byProgram("");
    await using _ = place;
    const pipe = makePipe(place.folder);
    const child = `(trap '' TERM INT; echo $$ > '${pipe}'; while :; do sleep 100; done)`;
    writeFileSync(
      place.agent,
      `#!/bin/sh\ncase "$(cat)" in\n*'"template":"check"'*) ${child};;\n*) ${printed(request())}\nesac\n`,
    );
    const live = place.start(...RUN, "--agent", place.agent);
    const pid = Number(await firstLine(pipe, live.ended));
    live.kill("SIGTERM");
    const ended = await live.ended;
    assert.equal(ended.code, 130, ended.out + ended.err);
    assert.match(ended.out, /"reason":"execution_halted"/);
    assert.throws(() => process.kill(-pid, 0), { code: "ESRCH" });
    assert.throws(() => process.kill(pid, 0), { code: "ESRCH" });
    assert.deepEqual(keptIn(place.state), []);
  });

  it("runs a loop's script, and modules, only where code is allowed", async () => {
    const loop = `<task name="try"><description>Try</description><director><task><description>make</description></task></director>
      <script>read line; echo "saw $line"; exit 3</script>
      <evaluator><task><description>judge</description></task></evaluator><max_iterations>1</max_iterations></task>`;
    const module = `import { writeFileSync } from "node:fs";\nexport default { name: "made", description: "Made by " + typeof process.env.MODEL_KEY };\n`;
    const { place, run, briefs } = await byProgram(
      `*'"description":"judge"'*) ${printed({ ...done("ok"), notes: { success: true } })}\n*) ${printed(done("a draft"))}`,
      { ".skein/templates/try.xml": loop, ".skein/templates/made.mjs": module },
    );
    await using _ = place;
    const refused = await run("subtask", "run", "try");
    assert.equal(refused.code, 1);
    assert.match(refused.out, /is not run; read it, then allow it: --allow-code/);
    assert.throws(briefs, { code: "ENOENT" }, "its director is not asked");
    const allowed = await run("subtask", "run", "try", "--allow-code");
    assert.equal(allowed.code, 0, allowed.out + allowed.err);
    assert.deepEqual(briefs().at(-1).task.inputs.script, {
      exit_code: 3,
      stdout: "saw a draft\n",
      stderr: "",
    });
    assert.match((await run("subtask", "run", "made")).err, /made\.mjs is a module[\s\S]*--allow-code/);
    const imported = await place.with({ env: { MODEL_KEY: KEY } }).skein("subtask", "list", "--allow-code");
    assert.match(imported.out, /made \(atomic\): Made by undefined/);
  });
});

describe("templates and inputs of a repository", () => {
  it("are listed with what is wrong; what cannot be used is refused with the right exit code", async () => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><task><description>&b;</description></task>`;
    await using place = await makePlace({
      files: {
        ...FILES,
        ".skein/templates/bomb.xml": bomb,
        ".skein/templates/large.xml": `<task><description>${"x".repeat(300_000)}</description></task>`,
        ".skein/templates/huge.xml": "x".repeat(2_000_000),
        ".skein/templates/odd.xml": "<task><description>x</description><zebra/></task>",
        ".skein/templates/notes.txt": "not a template",
        "latin1.txt": "a",
      },
      isTrusted: true,
    });
    writeFileSync(path.join(place.repository.folder, "latin1.txt"), Buffer.from([0xe9]));
    const listed = await place.skein("subtask", "list");
    assert.equal(listed.code, 1);
    assert.match(listed.out, /bomb\.xml: cannot be used: XML: .*entit/i);
    assert.match(listed.out, /large\.xml: cannot be used: XML: longer than 256000/);
    assert.match(listed.out, /huge\.xml: cannot be used: it has 2000000 bytes/);
    assert.match(listed.out, /odd\.xml: cannot be used: XML: .*<zebra> is not known here/);
    assert.match(
      listed.out,
      /^write \(writing\): Write a text\n {2}\.skein\/templates\/write\.xml; inputs: topic$/m,
    );
    assert.doesNotMatch(listed.out, /notes/);
    const { templates } = JSON.parse((await place.skein("subtask", "list", "--json")).out);
    assert.equal(templates.length, 6);
    const refused = async (code: number, words: RegExp, ...args: readonly string[]) => {
      const ended = await place.skein("subtask", "run", "--agent", place.agent, ...args);
      assert.deepEqual([ended.code, ended.out], [code, ""], ended.err);
      assert.match(ended.err, words);
    };
    await refused(2, /there is no template wrtie[\s\S]*did you mean write\?/, "wrtie");
    await refused(3, /bomb\.xml cannot be used/, "bomb");
    await refused(2, /write needs --input topic=…/, "write");
    await refused(2, /--input must be key=value/, "write", "--input", "topic");
    await refused(2, /topic is given twice/, "write", "--input", "topic=a", "--input", "topic=b");
    await refused(
      2,
      /no input topics?x; did you mean topic\?/,
      "write",
      "--input",
      "topic=a",
      "--input",
      "topicx=b",
    );
    await refused(2, /nothing\.txt is not there/, "write", "--input", "topic=@nothing.txt");
    await refused(2, /latin1\.txt is not UTF-8/, "write", "--input", "topic=@latin1.txt");
    await refused(2, /topic: no JSON/, "write", "--input", "topic:={");
    await refused(
      4,
      /could not be started|there is no program|not found/,
      "write",
      "--input",
      "topic=a",
      "--agent",
      "no-such-agent-here",
    );
    await refused(3, /the configuration has a mistake/, "write", "--input", "topic=a", "--set", "zebra=1");
  });
});
