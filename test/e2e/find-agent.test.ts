/** Tests which agent is found if none is named, in which order, and the advice with exit code 4 if there is none. */
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import { keyProblem } from "../../src/adapters/models/providers.ts";
import { agentsHere, findAgent } from "../../src/app/find-agent.ts";
import { looksOf } from "../../src/compose/planning.ts";
import type { Config } from "../../src/config/index.ts";
import { defaultConfig } from "../../src/config/index.ts";
import { KNOWN_PROVIDERS } from "../../src/config/known-providers.ts";
import { newFolder } from "../support/folders.ts";
import { makePlace } from "./cli-place.ts";

const LIMIT = { timeout: 60_000 };
const partsOf = (env: Readonly<Record<string, string | undefined>>) => ({ env, agents: looksOf(env) });
const NEVER = new AbortController().signal;
const ALL = defaultConfig();
const looking = (...lookFor: Config["lookFor"]): Config => ({ ...ALL, lookFor });

/** Makes a folder of programs with these names; it is the whole PATH. */
async function programs(folder: string, ...names: readonly string[]): Promise<string> {
  const bin = path.join(folder, "bin");
  await mkdir(bin, { recursive: true });
  for (const name of names) await writeFile(path.join(bin, name), "#!/bin/sh\n", { mode: 0o755 });
  return bin;
}

/** Starts a server on this machine that answers every request with the same reply. */
async function serving(
  body: string,
  status = 200,
): Promise<AsyncDisposable & { readonly host: string; asked: string[] }> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const models = (...ids: readonly unknown[]) =>
  JSON.stringify({ object: "list", data: ids.map((id) => ({ id })) });
const named = (provider: string, model: string, more: object = {}) => ({
  kind: "model",
  model: { provider, model, ...more },
  fallbacks: [],
});

describe("an agent that nobody named", () => {
  it("is the one that is configured, if one is: then nobody looks", async () => {
    await using server = await serving(models("m"));
    const agent = { kind: "command", command: ["./mine"] } as const;
    const env = { ANTHROPIC_API_KEY: "k", OLLAMA_HOST: server.host };
    assert.deepEqual(await findAgent({ ...ALL, agent }, partsOf(env), NEVER), { agent, candidates: [] });
    assert.deepEqual(server.asked, []);
  });

  it("is found by a key first, then by a program, then by a server; and all are told", async () => {
    const folder = newFolder();
    await using server = await serving(models("nomic-embed-text", "qwen3-coder:30b", "other"));
    const PATH = await programs(folder, "opencode", "codex-acp");
    const env = { PATH, OLLAMA_HOST: server.host, OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
    const found = await findAgent(looking("keys", "programs", "servers"), partsOf(env), NEVER);
    assert.deepEqual(found.agent, named("openai", "gpt-5"));
    assert.equal(found.why, "OPENAI_API_KEY is set");
    const ours = found.candidates.filter(({ seen }) => !/ (?:1234|8080)\//.test(seen.replace(":", " ")));
    assert.deepEqual(
      ours.map(({ seen }) => seen),
      [
        "OPENAI_API_KEY is set",
        "GOOGLE_GENERATIVE_AI_API_KEY is set",
        "codex-acp is on the PATH",
        "opencode is on the PATH",
        `ollama answers at http://${server.host}/v1`,
      ],
    );
    const { OPENAI_API_KEY: _, GOOGLE_GENERATIVE_AI_API_KEY: __, ...keyless } = env;
    const second = await findAgent(ALL, partsOf(keyless), NEVER);
    assert.deepEqual(second.agent, { kind: "acp", name: "codex", command: ["codex-acp"] });
    const third = await findAgent(ALL, partsOf({ ...keyless, PATH: folder }), NEVER);
    assert.deepEqual(
      third.agent,
      named("ollama", "qwen3-coder:30b", { baseUrl: `http://${server.host}/v1` }),
    );
  });

  it("is no program that starts another which is not there", async () => {
    const folder = newFolder();
    const PATH = await programs(folder, "pi-acp");
    const [pi] = (await findAgent(looking("programs"), partsOf({ PATH }), NEVER)).candidates;
    assert.deepEqual(pi, {
      from: "programs",
      seen: "pi-acp is on the PATH, but not pi, which it starts",
      next: "npm install --global pi-acp @earendil-works/pi-coding-agent",
    });
    await programs(folder, "pi");
    assert.equal((await findAgent(looking("programs"), partsOf({ PATH }), NEVER)).agent?.kind, "acp");
  });

  it("is looked for where lookFor says, in its order, and nowhere else", async () => {
    const folder = newFolder();
    await using server = await serving(models("m"));
    const PATH = await programs(folder, "gemini");
    const env = { PATH, ANTHROPIC_API_KEY: "k", OLLAMA_HOST: server.host };
    assert.equal(
      (await findAgent(looking("programs", "keys"), partsOf(env), NEVER)).why,
      "gemini is on the PATH",
    );
    assert.deepEqual(await findAgent(looking(), partsOf(env), NEVER), { candidates: [] });
    assert.deepEqual(server.asked, []);
  });

  it("is not a key that is empty, nor a provider whose model nobody chose", async () => {
    const env = { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "", TOGETHER_API_KEY: "k" };
    const { agent, candidates } = await findAgent(looking("keys"), partsOf(env), NEVER);
    assert.equal(agent, undefined);
    assert.deepEqual(candidates, [
      { from: "keys", seen: "TOGETHER_API_KEY is set", next: "name a model: --model together/…" },
    ]);
  });

  it("is not a program that only lacks what lets it work here, but that is told", async () => {
    const folder = newFolder();
    const PATH = await programs(folder, "claude");
    const [candidate, ...others] = await agentsHere(looking("programs"), partsOf({ PATH }), NEVER);
    assert.deepEqual(others, []);
    assert.match(candidate?.seen ?? "", /^claude is on the PATH, but not claude-agent-acp/);
    assert.equal(candidate?.spec, undefined);
    assert.equal(candidate?.next, "npm install --global @agentclientprotocol/claude-agent-acp");
  });

  const NO_SERVERS: readonly (readonly [what: string, body: string, status?: number])[] = [
    ["no JSON", "<html>"],
    ["no list", '{"models":[]}'],
    ["an error", models("m"), 500],
    ["far too much", models("m".repeat(1_100_000))],
  ];
  for (const [what, body, status] of NO_SERVERS)
    it(`is no server that answers with ${what}`, async () => {
      await using server = await serving(body, status);
      const here = await agentsHere(looking("servers"), partsOf({ OLLAMA_HOST: server.host }), NEVER);
      assert.deepEqual(
        here.filter(({ seen }) => seen.startsWith("ollama")),
        [],
      );
      assert.equal(server.asked[0], "/v1/models");
    });

  it("is no server without a model that can talk, and no name that is none", async () => {
    await using server = await serving(models("", 7, "bge-reranker", "two words"));
    const here = await agentsHere(looking("servers"), partsOf({ OLLAMA_HOST: server.host }), NEVER);
    assert.deepEqual(
      here.filter(({ seen }) => seen.startsWith("ollama")).map(({ spec, next }) => [spec, next]),
      [[undefined, "ollama pull qwen3-coder"]],
    );
  });

  for (const [what, start] of [
    ["never answers", () => {}],
    ["begins and never ends", (response: ServerResponse) => response.writeHead(200).write('{"data": [')],
  ] as const)
    it(`is not waited for: a server that ${what} is left alone soon`, async () => {
      const silent = createServer((_, response) => void start(response));
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      const { port } = silent.address() as AddressInfo;
      const here = await agentsHere(
        looking("servers"),
        partsOf({ OLLAMA_HOST: `http://localhost:${port}` }),
        NEVER,
      );
      assert.deepEqual(
        here.filter(({ seen }) => seen.startsWith("ollama")),
        [],
      );
      silent.closeAllConnections();
      await new Promise((resolve) => silent.close(resolve));
    });

  it("is asked for by names that the models' adapters know as well, with the same keys", () => {
    for (const { name, keys, model = "m" } of KNOWN_PROVIDERS) {
      const spec = { provider: name, model };
      const problem = keyProblem(spec, {});
      assert.equal(problem?.kind, keys.length === 0 ? undefined : "authentication", name);
      for (const key of keys) assert.equal(keyProblem(spec, { [key]: "k" }), undefined, key);
    }
  });
});

describe("skein run without an agent", () => {
  it("says what was looked for and what to type, offers the demo, and exits with 4", LIMIT, async () => {
    await using place = await makePlace();
    const nobody = place.with({ env: { SKEIN_LOOK_FOR: "keys" } });
    const { code, out, err } = await nobody.skein("run", "a goal");
    assert.equal(code, 4, out + err);
    assert.match(err, /^skein: no agent is configured, and none was found$/m);
    assert.match(err, /export ANTHROPIC_API_KEY=…/);
    assert.match(err, /npm install --global opencode-ai/);
    assert.match(err, /ollama pull qwen3-coder/);
    assert.match(err, /^try: name a program .*--agent \.\/my-agent\.sh; or try skein demo/m);
    const json = await nobody.skein("run", "a goal", "--json");
    const { error } = JSON.parse(json.err) as { error: { exitCode: number; problems: string[] } };
    assert.equal(error.exitCode, 4);
    assert.ok(error.problems.length > 3);
    assert.equal((await place.skein("status", "--json")).out, '{"runs":[],"broken":[],"flaky":0}\n');
  });
});
