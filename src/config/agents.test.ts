/** Tests how agents and models are read from the configuration, and that refused values are not shown. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentSpec } from "../ports/agent-spec.ts";
import { type Config, problemText, readConfig } from "./index.ts";
import { KNOWN_AGENTS } from "./known-agents.ts";
import { KNOWN_PROVIDERS } from "./known-providers.ts";

const read = (sources: Partial<Parameters<typeof readConfig>[0]>) => {
  const result = readConfig({ env: {}, sets: [], flags: {}, ...sources });
  assert.ok(!("problems" in result), "problems" in result ? result.problems.map(problemText).join("\n") : "");
  return result;
};
const inFile = (text: string): Config => read({ file: { name: "skein.yaml", text } }).config;
const model = (provider: string, name: string, more: object = {}): AgentSpec => ({
  kind: "model",
  model: { provider, model: name, ...more },
  fallbacks: [],
});
const command = (...words: [string, ...string[]]): AgentSpec => ({ kind: "command", command: words });
const acp = (name: string, ...words: [string, ...string[]]): AgentSpec => ({
  kind: "acp",
  name,
  command: words,
});

const FORMS: readonly [written: string, meant: AgentSpec][] = [
  ["opencode", acp("opencode", "opencode", "acp")],
  ["claude", acp("claude", "claude-agent-acp")],
  ["' codex '", acp("codex", "codex-acp")],
  ["acp:opencode", acp("opencode", "opencode", "acp")],
  ["acp:./my-agent --flag 'a b'", acp("my-agent", "./my-agent", "--flag", "a b")],
  ["{acp: ./my-agent --flag}", acp("my-agent", "./my-agent", "--flag")],
  ["{acp: [opencode, acp, --pure]}", acp("opencode", "opencode", "acp", "--pure")],
  ["{kind: acp, name: ours, command: [a, b]}", acp("ours", "a", "b")],
  ["[opencode]", command("opencode")],
  ["./opencode", command("./opencode")],
  ["/usr/bin/claude", command("/usr/bin/claude")],
  ["opencode run", command("opencode", "run")],
  ["my-agent", command("my-agent")],
  ["tools/agent.sh", command("tools/agent.sh")],
  ["./openai/agent.sh", command("./openai/agent.sh")],
  ["openai/gpt-5 --fast", command("openai/gpt-5", "--fast")],
  ["anthropic/claude-sonnet-4-5", model("anthropic", "claude-sonnet-4-5")],
  ["openai/gpt-5", model("openai", "gpt-5")],
  ["google/gemini-2.5-pro", model("google", "gemini-2.5-pro")],
  ["ollama/qwen3-coder:30b", model("ollama", "qwen3-coder:30b")],
  ["llama.cpp/default", model("llama.cpp", "default")],
  ["openrouter/a/b", model("openrouter", "a/b")],
  [
    "{kind: model, provider: mine, model: m, baseUrl: 'https://a.example/v1', speaks: anthropic, key: MY_KEY}",
    model("mine", "m", { baseUrl: "https://a.example/v1", speaks: "anthropic", keyVariable: "MY_KEY" }),
  ],
];

describe("an agent", () => {
  for (const [written, meant] of FORMS)
    it(`written as ${written} is ${meant.kind}`, () => {
      assert.deepEqual(inFile(`agent: ${written}`).agent, meant);
      assert.deepEqual(inFile(`planner: ${written}`).planner, meant);
    });

  it("is known by each of the names in the table, and by each provider's", () => {
    for (const { name, command: words } of KNOWN_AGENTS)
      assert.deepEqual(inFile(`agent: ${name}`).agent, { kind: "acp", name, command: words });
    for (const { name } of KNOWN_PROVIDERS)
      assert.deepEqual(inFile(`agent: ${name}/m`).agent, model(name, "m"));
  });

  it("that is a group with a mistake is refused as one, and not shown: a key may stand in it", () => {
    for (const written of [
      '{"kind": "model", "provider": "mine", "model": "m", "baseUrl": "http://me:hidden@127.0.0.1/v1"}',
      '{"kind": "model", "provider": "openai", "model": "m", "key": "hidden"}',
      "{kind: model, provider: openai, model: m, apiKey: hidden}",
      '{"kind": "model", "provider": "openai", "model": "hidden",',
    ]) {
      const sources = { env: { SKEIN_AGENT: written }, sets: [`planner=${written}`], flags: {} };
      const result = readConfig(sources);
      assert.ok("problems" in result, written);
      assert.equal(result.problems.length, 2);
      assert.doesNotMatch(result.problems.map(problemText).join("\n"), /hidden|needs a shell/);
    }
  });

  it("plans, too, unless somebody else does", () => {
    const { agent, planner } = inFile("model: openai/gpt-5");
    assert.deepEqual(planner, agent);
    assert.deepEqual(
      inFile("model: openai/gpt-5\nplanner: claude").planner,
      acp("claude", "claude-agent-acp"),
    );
  });

  it("has fallbacks of its own in full, as texts or in full", () => {
    const { agent } = inFile(
      "agent: {kind: model, provider: openai, model: a, fallbacks: [ollama/b, {provider: google, model: c}]}",
    );
    assert.deepEqual(agent?.kind === "model" && agent.fallbacks, [
      { provider: "ollama", model: "b" },
      { provider: "google", model: "c" },
    ]);
  });
});

describe("agent and model, of which one is short for the other", () => {
  const file = (text: string) => ({ name: "skein.yaml", text });

  it("count by their source: the flag before the variable before the file", () => {
    const flagged = read({ file: file("agent: opencode"), flags: { model: "openai/gpt-5" } });
    assert.deepEqual(flagged.config.agent, model("openai", "gpt-5"));
    assert.deepEqual([flagged.origins["agent"], flagged.origins["model"]], ["--model", "--model"]);
    const other = read({ file: file("model: openai/gpt-5"), env: { SKEIN_AGENT: "opencode" } });
    assert.equal(other.config.agent?.kind, "acp");
    assert.deepEqual([other.origins["agent"], other.origins["model"]], ["SKEIN_AGENT", "default"]);
  });

  it("may be given again by the same source, the later one counting", () => {
    const { config } = read({ sets: ["model=openai/a", "model=openai/b"] });
    assert.deepEqual(config.agent, model("openai", "b"));
  });

  it("are refused together in one source", () => {
    for (const sources of [
      { env: { SKEIN_AGENT: "opencode", SKEIN_MODEL: "openai/a" } },
      { sets: ["model=openai/a", "agent=opencode"] },
      { flags: { agent: "opencode", model: "openai/a" } },
    ])
      assert.ok(
        "problems" in readConfig({ env: {}, sets: [], flags: {}, ...sources }),
        JSON.stringify(sources),
      );
  });
});

describe("zero", () => {
  it("is zero, for every limit that may be: never the default", () => {
    const { config } = read({
      env: { SKEIN_QUOTA_WAIT: "0", SKEIN_QUIET_STOP: "0", SKEIN_BUDGET_RESERVE_TOKENS: "0" },
      sets: [
        "quiet.warn=0",
        "budget.dollars=0",
        "budget.task.tokens=0",
        "budget.reserve.dollars=0",
        "network=0",
      ],
    });
    assert.equal(config.quota.wait, 0);
    assert.deepEqual(config.quiet, { warn: 0, stop: 0 });
    assert.deepEqual(config.budget.reserve, { tokens: 0, dollars: 0 });
    assert.deepEqual([config.budget.dollars, config.budget.task.tokens, config.network], [0, 0, false]);
  });
});
