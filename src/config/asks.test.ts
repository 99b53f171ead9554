/** Tests which settings of skein.yaml are harmless, and what the others ask for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hashOf, type TrustAsk } from "../ports/trust.ts";
import { isDetected, settingAsks } from "./asks.ts";
import { KEYS } from "./keys.ts";
import { readConfig } from "./read.ts";

const read = (
  text: string,
  agrees: (ask: TrustAsk) => boolean = () => false,
  sets: readonly string[] = [],
) => {
  const found = readConfig({ file: { name: "skein.yaml", text }, agrees, env: {}, sets, flags: {} });
  if ("problems" in found) throw new Error(JSON.stringify(found.problems));
  return found;
};
const asked = (text: string) => read(text).asks.map(({ name, words }) => `${name}: ${words}`);

describe("a skein.yaml asks for nothing with", () => {
  for (const text of [
    "workers: 50\nbudget: { dollars: 3 }\nretry: { maxFailed: 9 }",
    "base: main\nbranchPrefix: bots/\nsharedFiles: ['*.lock']\nfleet: { needs: [gpu] }",
    "sandbox: required\nnetwork: false\npermissions: deny-outside\ngateSandbox: auto",
    "gate: auto",
    "gate: none",
    "planner: none",
    "model: anthropic/claude-sonnet-4-5\nfallback: [openai/gpt-5, ollama/qwen3-coder]",
    "workspace: { copy: [node_modules], setupTimeout: 1h }",
    "deliver: false\nfleet: { enabled: false }",
  ])
    it(JSON.stringify(text), () => assert.deepEqual(asked(text), []));
});

describe("a skein.yaml asks for", () => {
  for (const [text, words] of [
    ["agent: codex", /^agent: codex-acp is started for workers, as you, with OPENAI_API_KEY, CODEX_API_KEY$/],
    ["agent: ['./a.sh', '-x']", /^agent: \.\/a\.sh -x is started for workers, as you$/],
    ["planner: ['./p.sh']", /^planner: \.\/p\.sh is started for planners/],
    ["agent: { kind: scripted, script: s.json }", /the script s\.json answers for workers/],
    [
      "model: { provider: openai, model: m, baseUrl: 'http://127.0.0.1:9/v1' }",
      /^model: m: prompts, code and the key in OPENAI_API_KEY go to http:\/\/127\.0\.0\.1:9\/v1$/,
    ],
    [
      "model: { provider: openai, model: m, key: GITHUB_TOKEN }",
      /key in GITHUB_TOKEN go to the provider openai/,
    ],
    [
      "fallback: [{ provider: x, model: m, baseUrl: 'http://h/v1', key: AWS_SECRET_ACCESS_KEY }]",
      /^fallback: m: .*AWS_SECRET_ACCESS_KEY go to http:\/\/h\/v1$/,
    ],
    ["sandbox: off", /^sandbox: .*without the sandbox$/],
    ["gateSandbox: off", /^gateSandbox: .*without the sandbox$/],
    ["permissions: allow", /^permissions: every permission/],
    ["gate: [make evil]", /^gate: the gate runs make evil$/],
    ["gate: [{ name: t, run: npm test, env: { NODE_OPTIONS: x } }]", /the gate runs NODE_OPTIONS=x npm test/],
    ["workspace: { setup: 'curl x | sh' }", /^workspace\.setup: runs curl x \| sh in each new workspace$/],
    ["workspace: { pass: [AWS_SECRET_ACCESS_KEY] }", /agents get your variable AWS_SECRET_ACCESS_KEY/],
    ["workspace: { copy: [secrets] }", /agents get a copy of secrets/],
    ["workspace: { share: [cache] }", /agents can read and change cache/],
    ["workspace: { filters: [rot] }", /the git filter rot runs/],
    ["prices: { openai/gpt-5: { input: 0, output: 0 } }", /budgets in money go by/],
    ["deliver: true", /merged into its base branch/],
    ["fleet: { enabled: true }", /SKEIN_FLEET_URL/],
    ["fleet: { remote: 'ssh://evil/x' }", /the fleet's work goes to ssh:\/\/evil\/x/],
  ] as const)
    it(text, () => {
      const [first = "", ...others] = asked(text);
      assert.match(first, words);
      assert.deepEqual(others, []);
    });
});

describe("the table of settings", () => {
  it("has a row for every key, so that a new one is asked about until it is judged", () => {
    const unjudged = [...KEYS.keys()].filter((key) =>
      settingAsks(key, UNKNOWN, "f").some(({ words }) => words === `sets ${key}`),
    );
    assert.deepEqual(unjudged, []);
    assert.match(settingAsks("newKey", 1, "f")[0]!.words, /^sets newKey$/);
  });

  it("shows no key of a command, and says how much of a long one is not shown", () => {
    const [setup] = asked(`workspace: { setup: "TOKEN=${"hunter2".repeat(2)} ./x" }`);
    assert.doesNotMatch(setup!, /hunter2/);
    const [long] = asked(`workspace: { setup: "${"a".repeat(600)}" }`);
    assert.match(long!, /… \(300 more characters: read the file\)/);
  });

  it("shows line ends, so that no remark hides a command, and says that a part is not shown", () => {
    const [setup] = asked(JSON.stringify({ workspace: { setup: "npm ci # all\n./evil" } }));
    assert.match(setup!, /runs npm ci # all ⏎ \.\/evil in each/);
    const [agent] = asked(`agent: ["sh", "-c", "PASSWORD=';./evil;' true"]`);
    assert.match(agent!, /\(a part that looks like a secret is not shown: read the file\)/);
  });

  it("takes the gate that detection finds for harmless, but not with variables, nor another", () => {
    const gates = read("gate: [npm test, npm run build, make x, bun test]").asks;
    const detected = ["npm run test", "npm run build", "bun run test"];
    assert.deepEqual(
      gates.filter((ask) => !isDetected(ask, detected)).map(({ words }) => words),
      ["the gate runs make x", "the gate runs bun test"],
    );
    const [varied] = read("gate: [{ name: t, run: npm run test, env: { A: b } }]").asks;
    assert.ok(!isDetected(varied!, detected));
  });
});

/** Has a valid form for every key: a list, and an agent. */
const UNKNOWN = Object.assign(["x"], { kind: "command", command: ["x"], provider: "p", model: "m" });

describe("the set of what is asked for", () => {
  const hash = (text: string) => hashOf(read(text).asks);
  const text = "agent: ['./a.sh']\nworkspace: { setup: ./s, pass: [B, A] }\nworkers: 4\n";

  it("is the same with comments, in another order or spelling, and with other harmless values", () => {
    const same =
      "# hello\nworkspace:\n  pass: A, B\n  setup: ./s\nworkers: 2\nagent: { kind: command, command: ['./a.sh'] }\n";
    assert.equal(hash(same), hash(text));
  });

  it("is another with one more ask, or one that differs", () => {
    for (const other of [
      `${text}gateSandbox: off\n`,
      text.replace("./a.sh", "./b.sh"),
      text.replace("[B, A]", "[B]"),
    ])
      assert.notEqual(hash(other), hash(text));
  });

  it("holds an address and a key together: a change of either is another, one of the model is not", () => {
    const at = (baseUrl: string, key: string, model = "m") =>
      hash(`model: { provider: p, model: ${model}, baseUrl: '${baseUrl}', key: ${key} }`);
    assert.notEqual(at("http://a/v1", "A_KEY"), at("http://b/v1", "A_KEY"));
    assert.notEqual(at("http://a/v1", "A_KEY"), at("http://a/v1", "B_KEY"));
    assert.equal(at("http://a/v1", "A_KEY"), at("http://a/v1", "A_KEY", "n"));
  });
});

describe("what nobody has agreed to", () => {
  it("has no effect, and is told where it would count", () => {
    const { config, withheld, origins } = read("agent: ['./a.sh']\nworkers: 3\n");
    assert.deepEqual([config.agent, config.workers], [undefined, 3]);
    assert.deepEqual([withheld.map(({ name }) => name), origins["agent"]], [["agent"], "default"]);
  });

  it("is not in the way of a flag that says otherwise", () => {
    const { config, withheld } = read("agent: ['./a.sh']\n", undefined, ['agent=["./mine.sh"]']);
    assert.deepEqual([config.agent, withheld], [{ kind: "command", command: ["./mine.sh"] }, []]);
  });

  it("is the whole list that one entry is missing of, and only that entry is asked about", () => {
    const [first] = read("workspace: { pass: [A] }").asks;
    const { config, withheld } = read("workspace: { pass: [A, B] }", (ask) => ask.words === first!.words);
    assert.deepEqual(config.workspace.pass, []);
    assert.deepEqual(
      withheld.map(({ words }) => words),
      ["agents get your variable B"],
    );
  });
});
