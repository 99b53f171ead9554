/** Tests what `skein doctor` says about agents: which would work, what each needs and what confines it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import { ACP_COMMAND } from "../support/acp-agent/agent.ts";
import type { AcpScript } from "../support/acp-agent/script.ts";
import { makePlace } from "./cli-place.ts";
import { badOf, examine, type Said, textsOf } from "./doctor-place.ts";

const LIMIT = { timeout: 60_000 };

describe("skein doctor, of agents,", () => {
  it("shows who was found, who else is here, what each would need, and what has a price", LIMIT, async () => {
    await using place = await makePlace();
    const bin = path.join(place.folder, "bin");
    await mkdir(bin);
    for (const name of ["opencode", "codex"])
      await writeFile(path.join(bin, name), "#!/bin/sh\n", { mode: 0o755 });
    const secret = "sk-ant-0123456789abcdef";
    const env = {
      PATH: `${bin}${path.delimiter}${process.env["PATH"]}`,
      ANTHROPIC_API_KEY: secret,
      OPENROUTER_API_KEY: secret,
    };
    const here = place.with({ env: { ...env, OLLAMA_HOST: "nowhere.invalid" } });
    const look = ["--set", "lookFor=keys,programs"];
    const { code, out, err } = await here.skein("doctor", ...look);
    assert.equal(code, 0, out + err);
    assert.match(
      out,
      /^ok {4}agent +the built-in agent on anthropic\/claude-sonnet-4-5 works and plans \(found: ANTHROPIC_API_KEY is set; its usual model as of 20\d\d-/m,
    );
    assert.match(out, /^ok {4}also here +opencode is on the PATH: --agent opencode$/m);
    assert.match(out, /^ok {4}also here +codex is on the PATH, but not codex-acp.*: npm install --global @/m);
    assert.match(out, /^ok {4}prices +known for anthropic\/claude-sonnet-4-5 \(price list of 20\d\d-/m);
    assert.match(out, /^(?:ok {4}|warn {2})sandbox +\S/m);
    assert.ok(!(out + err).includes(secret));
    const off = await here.skein("doctor", ...look, "--set", "sandbox=off");
    assert.match(off.out, /^warn {2}sandbox +none: switched off: commands run as you$/m);
    const local = await here.skein("doctor", "--model", "openrouter/x", "--set", "budget.dollars=1", ...look);
    assert.equal(local.code, 1);
    assert.match(
      local.out,
      /^bad {3}prices +unknown for openrouter\/x: .* so budget\.dollars could not be enforced$/m,
    );
    const both = await here.skein(
      "doctor",
      "--model",
      "openrouter/x",
      ...look,
      "--set",
      "prices={openrouter/x: {input: 0, output: 0}}",
    );
    assert.match(both.out, /^ok {4}prices +known for openrouter\/x/m);
    assert.match(both.out, /^ {2}model +--model +openrouter\/x$/m);
    assert.equal(both.code, 0, both.err);
  });

  it("warns of a fallback that a run would leave out, because its key is missing", LIMIT, async () => {
    await using place = await makePlace();
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const said = await examine(
      place,
      "--set",
      `agent={kind: model, provider: ours, model: x, baseUrl: "${at}"}`,
      "--set",
      "fallback=openai/gpt-5",
      "--set",
      "lookFor=[]",
    );
    assert.deepEqual(textsOf(said, "agent"), [
      `ok: the built-in agent on ours/x at ${at} works and plans`,
      "warn: the fallback openai/gpt-5 is left out: there is no key for openai: OPENAI_API_KEY is not set",
    ]);
    server.close();
    await once(server, "close");
    const gone = await examine(
      place,
      "--set",
      `agent={kind: model, provider: ours, model: x, baseUrl: "${at}"}`,
    );
    assert.match(badOf(gone)[0]?.text ?? "", /ours does not answer at .*: nothing listens there/);
  });

  it(
    "says that pi needs the program pi as well, and a newer Node than the one on the PATH",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const bin = path.join(place.folder, "bin");
      await mkdir(bin);
      const put = (name: string, text: string) =>
        writeFile(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      const env = { PATH: `${bin}${path.delimiter}${process.env["PATH"]}` };
      const examineThere = async () => {
        const { out } = await place.with({ env }).skein("doctor", "--json", "--agent", "pi");
        return badOf(JSON.parse(out));
      };
      const install = "npm install --global pi-acp @earendil-works/pi-coding-agent";
      await put("pi-acp", "exit 1");
      const [first] = await examineThere();
      assert.deepEqual([first?.text, first?.next], ["pi was not found on the PATH", install]);
      await put("pi", "exit 1");
      await put("node", "echo v20.1.0");
      const [second] = await examineThere();
      assert.equal(second?.text, "pi needs Node 22 or newer; the node on the PATH is 20.1.0");
    },
  );

  describe("of one that speaks ACP and is named,", () => {
    const tried = async (script: AcpScript) => {
      await using place = await makePlace();
      const env = { ACP_SCRIPT: JSON.stringify(script) };
      const agent = `acp:${ACP_COMMAND.join(" ")}`;
      const args = ["--agent", agent, "--set", "workspace.pass=[ACP_SCRIPT]", "--json"];
      const { code, out } = await place.with({ env }).skein("doctor", ...args);
      const said = JSON.parse(out) as Said & { agents: { session: { ms: number } | null }[] };
      return { code, said, left: existsSync(place.state) };
    };

    it("starts it, says that it gave a session, and leaves nothing", LIMIT, async () => {
      const { code, said, left } = await tried({ prompts: [[{ do: "die" }]] });
      assert.deepEqual([code, left], [0, false]);
      const [text = ""] = textsOf(said, "agent");
      assert.match(
        text,
        /^ok: node \(ACP\) works and plans; started and opened a session in \d+\.\d s: it is logged in, or/,
      );
      assert.ok((said.agents[0]?.session?.ms ?? 0) > 0);
    });

    it("says that it is not logged in, and what to do", LIMIT, async () => {
      const login = { id: "browser", name: "Browser", description: "run `it login`" };
      const { code, said, left } = await tried({ prompts: [], login });
      assert.deepEqual([code, left], [1, false]);
      const [problem] = badOf(said);
      assert.match(problem?.text ?? "", /node is not logged in: .*it offers: run `it login`/);
      assert.match(problem?.next ?? "", /log in/);
    });
  });

  it(
    "shows the roles of the repository, those that cannot be used, and a prompts folder that is wrong",
    LIMIT,
    async () => {
      await using place = await makePlace({
        files: {
          ".claude/agents/poet.md": "---\nname: poet\ndescription: writes verse\n---\nWrite in verse.\n",
          ".skein/agents/broken.md": "---\nname: [\n---\n",
        },
        isTrusted: true,
      });
      const said = await examine(place, "--agent", place.agent);
      assert.deepEqual(textsOf(said, "specialists")[0], "ok: 1 role of this repository: poet");
      assert.match(textsOf(said, "specialists")[1] ?? "", /^warn: .*broken\.md/);
      assert.deepEqual(badOf(said), []);
      const wrong = await examine(place, "--agent", place.agent, "--set", "prompts=nowhere");
      assert.match(badOf(wrong)[0]?.text ?? "", /there is no folder of prompts at .*nowhere/);
    },
  );

  it(
    "shows which servers of .mcp.json an agent is handed, and which not, with the reason",
    LIMIT,
    async () => {
      await using place = await makePlace();
      const servers = {
        docs: { command: "docs-mcp" },
        odd: { command: "x", env: { A: `\${${"SECRET_KEY"}}` } },
      };
      await writeFile(
        path.join(place.repository.folder, ".mcp.json"),
        JSON.stringify({ mcpServers: servers }),
      );
      const said = await examine(place, "--set", "agent=acp:sh");
      assert.deepEqual(textsOf(said, "mcp"), [
        "ok: passed to the agent, which starts them as you: docs",
        textsOf(said, "mcp")[1],
      ]);
      assert.match(textsOf(said, "mcp")[1] ?? "", /^warn: \.mcp\.json: odd is left out: .*SECRET_KEY/);
      assert.deepEqual(textsOf(await examine(place, "--agent", "sh"), "mcp"), []);
    },
  );
});
