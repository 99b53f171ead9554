/** Runs whole runs with agents of the Agent Client Protocol, as planner and as workers. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ACP_COMMAND } from "../support/acp-agent/agent.ts";
import type { AcpScript, Step } from "../support/acp-agent/script.ts";
import { makePlace, type Place } from "./cli-place.ts";

const say = (value: object): Step => ({ do: "say", text: JSON.stringify(value) });
const task = (id: string, after: readonly string[] = []) => ({
  ...{ id, after, description: `write ${id}`, acceptance: "it is there", scope: [`${id}.txt`] },
});
const report = say({ status: "complete", summary: "wrote it" });
const plans: NonNullable<AcpScript["when"]> = [
  {
    told: "None of your answers has been accepted yet.",
    prompts: [[say({ scratchpad: "two", tasks: [task("one"), task("two", ["one"])] })]],
  },
  { told: "Answers of yours have been accepted before.", prompts: [[say({ scratchpad: "", tasks: [] })]] },
];

const withScript = (place: Place, script: AcpScript) => {
  const agent = { kind: "acp", name: "scripted", command: ACP_COMMAND };
  return place.with({ env: { SKEIN_AGENT: JSON.stringify(agent), ACP_SCRIPT: JSON.stringify(script) } });
};

const start = (place: Place, script: AcpScript, ...args: readonly string[]) => {
  const sets = ["workspace.pass=[ACP_SCRIPT]", "gate=none", ...args].flatMap((set) => ["--set", set]);
  return withScript(place, script).skein("run", "write two files", ...sets);
};

describe("a run with agents that are talked with", () => {
  it("plans, works and lands, through our files and through their own", async () => {
    await using place = await makePlace();
    const usage = { totalTokens: 100, inputTokens: 90, outputTokens: 10 };
    const asks: Step = { do: "ask", call: { kind: "edit", title: "one", locations: [{ path: "one.txt" }] } };
    const outside: Step = {
      do: "write",
      path: path.join(place.repository.folder, "x"),
      text: "",
      by: "client",
    };
    const one: Step = { do: "write", path: "one.txt", text: "1\n", by: "client" };
    const two: Step = { do: "write", path: "two.txt", text: "2\n", by: "itself" };
    const when = [
      ...plans,
      { told: "Task: t.1 (one)", prompts: [[asks, outside, one], [report]] },
      { told: "Task: t.2 (two)", prompts: [[two, report]] },
    ];
    const { code, out, err } = await start(place, { prompts: [], when, usage });
    assert.equal(code, 0, out + err);
    const [, run = ""] = /^run +(\S+)$/m.exec(out) ?? [];
    const shown = (file: string) => place.repository.git("show", `skein/${run}/target:${file}`);
    assert.deepEqual([await shown("one.txt"), await shown("two.txt")], ["1", "2"]);
    await assert.rejects(shown("x"));
    assert.equal(await place.repository.git("status", "--porcelain"), "");
    // Two turns of the planner, one of each worker, and one more prompt for the worker that was asked again.
    const { out: log } = await place.skein("logs", run, "--json");
    const spent = [...log.matchAll(/"spent":\{"tokens":(\d+)/g)].map(([, tokens]) => Number(tokens));
    assert.equal(
      spent.reduce((sum, tokens) => sum + tokens, 0),
      500,
    );
  });

  it("stops at once where its agent is not logged in, and says what to do", async () => {
    await using place = await makePlace();
    const login = { id: "browser", name: "Browser", description: "run `scripted login`" };
    const { code, out, err } = await start(place, { prompts: [], login });
    assert.equal(code, 5, out + err);
    assert.match(out + err, /scripted is not logged in[\s\S]*run `scripted login`/);
  });

  it("stops at once where its agent has no key to log in with, and goes on once it has one", async () => {
    await using place = await makePlace();
    const login = { id: "api-key", name: "API Key" };
    const loginFails = "CODEX_API_KEY or OPENAI_API_KEY is not set";
    const { code, out, err } = await start(place, { prompts: [], login, loginFails });
    assert.equal(code, 5, out + err);
    assert.match(out + err, /scripted is not logged in: .*OPENAI_API_KEY is not set/);
    const writes = (n: number): NonNullable<AcpScript["when"]>[number] => {
      const name = ["", "one", "two"][n]!;
      const write: Step = { do: "write", path: `${name}.txt`, text: name, by: "itself" };
      return { told: `Task: t.${n} (${name})`, prompts: [[write, report]] };
    };
    const when = [...plans, writes(1), writes(2)];
    const again = await withScript(place, { prompts: [], when, login }).skein("resume");
    assert.equal(again.code, 0, again.out + again.err);
  });

  it("stops where its account is used up and nobody wants to wait", async () => {
    await using place = await makePlace();
    const prompts: AcpScript["prompts"] = [
      [{ do: "say", text: "Usage limit reached, try again in 2 hours" }],
    ];
    const { code, out, err } = await start(place, { prompts }, "quota.wait=0");
    assert.equal(code, 75, out + err);
    assert.match(out + err, /\S*scripted\S* is rate limited/);
    assert.equal(readFileSync(path.join(place.repository.folder, "README.md"), "utf8"), "# here\n");
  });
});

describe("a known agent that gives no session", () => {
  /** Installs a package of that version, whose program is an agent that follows the script. */
  async function installed(place: Place, version: string, script: AcpScript) {
    const folder = path.join(place.folder, "agents", version);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      path.join(folder, "package.json"),
      JSON.stringify({ name: "@agentclientprotocol/codex-acp", version }),
    );
    const file = path.join(folder, "codex-acp");
    const [node, main] = ACP_COMMAND;
    writeFileSync(file, `#!/bin/sh\nACP_SCRIPT='${JSON.stringify(script)}' exec '${node}' '${main}'\n`);
    chmodSync(file, 0o755);
    const env = { PATH: `${folder}:${process.env["PATH"]}` };
    return place
      .with({ env })
      .skein("run", "write a file", "--agent", "codex", "--set", "gate=none", "--set", "quota.wait=0s");
  }

  it("stops the run at once, with exit code 4, its version and the one that is known to work", async () => {
    await using place = await makePlace();
    const { code, out, err } = await installed(place, "2.1.0", { prompts: [], greets: "with version 7" });
    assert.equal(code, 4, out + err);
    assert.match(
      err,
      /codex was started and gave no session: .*speaks version 7 of the Agent Client Protocol/,
    );
    assert.match(err, /here is @agentclientprotocol\/codex-acp 2\.1\.0; Skein was tried with 2\.6\.0\)/);
    assert.match(
      err,
      /try: npm install --global @agentclientprotocol\/codex-acp@2\.6\.0, then skein resume /,
    );
    assert.doesNotMatch(out, /unreachable|workspace could not/);
  });

  it("is not started where it is older by a major version: no run is made", async () => {
    await using place = await makePlace();
    const { code, out, err } = await installed(place, "1.9.0", { prompts: [] });
    assert.equal(code, 4, out + err);
    assert.match(
      err,
      /codex is too old: here is @agentclientprotocol\/codex-acp 1\.9\.0, and Skein was tried with 2\.6\.0/,
    );
    assert.match((await place.skein("status")).out, /no runs?|There is no run/i);
  });
});
