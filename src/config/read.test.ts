/** Tests which source of a setting wins, and how mistakes are reported with their place. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { problemText, type ReadConfig, readConfig } from "./index.ts";

const given = (sources: Partial<Parameters<typeof readConfig>[0]> = {}) =>
  readConfig({ env: {}, sets: [], flags: {}, ...sources });
const inFile = (text: string) => given({ file: { name: "skein.yaml", text } });

function right(read: ReturnType<typeof readConfig>): ReadConfig {
  assert.ok(!("problems" in read), "problems" in read ? read.problems.map(problemText).join("\n") : "");
  return read;
}
const wrong = (read: ReturnType<typeof readConfig>): readonly string[] => {
  assert.ok("problems" in read, "it was taken");
  return read.problems.map(problemText);
};

describe("a configuration", () => {
  it("of nothing is the defaults, and has no agent", () => {
    const { config, origins, notices } = right(given());
    assert.equal(config.workers, 8);
    assert.equal(config.agent, undefined);
    assert.equal(config.planner, undefined);
    assert.equal(config.timeout.work, 3_600_000);
    assert.deepEqual(config.workspace.copy, ["node_modules"]);
    assert.ok(Object.values(origins).every((origin) => origin === "default"));
    assert.deepEqual(notices, []);
    for (const text of ["", "# nothing\n", "---\n", "timeout:\n"])
      assert.deepEqual(right(inFile(text)).config, config);
  });

  it("takes the better source: default, alias, file, variable, --set, flag", () => {
    const file = { name: "skein.yaml", text: "\nworkers: 3" };
    const env = { MAX_WORKERS: "2", SKEIN_WORKERS: "4" };
    const steps: [Partial<Parameters<typeof readConfig>[0]>, number, string][] = [
      [{}, 8, "default"],
      [{ env: { CLAUDE_MAX_CONCURRENT: "1" } }, 1, "CLAUDE_MAX_CONCURRENT"],
      [{ env: { CLAUDE_MAX_CONCURRENT: "1", MAX_WORKERS: "2" } }, 2, "MAX_WORKERS"],
      [{ env: { MAX_WORKERS: "2" }, file }, 3, "skein.yaml:2"],
      [{ env, file }, 4, "SKEIN_WORKERS"],
      [{ env, file, sets: ["workers=9", "workers=5"] }, 5, "--set"],
      [{ env, file, sets: ["workers=5"], flags: { workers: 6 } }, 6, "--workers"],
      [{ env: { MAX_WORKERS: "", SKEIN_WORKERS: "" }, flags: { workers: undefined } }, 8, "default"],
    ];
    for (const [sources, workers, origin] of steps) {
      const read = right(given(sources));
      assert.equal(read.config.workers, workers);
      assert.equal(read.origins["workers"], origin);
    }
  });

  it("reads a setting that has no effect any more, and says so", () => {
    const { notices } = right(inFile("reconciler: model"));
    assert.deepEqual(notices, [
      "reconciler: model has no effect any more, rules make fix tasks: remove the setting",
    ]);
    assert.deepEqual(right(inFile("reconciler: rules")).notices, []);
  });

  it("knows the aliases of other tools, and says when it took one", () => {
    const { config, notices } = right(
      given({
        env: {
          MAX_WORKERS: "3",
          WORKER_TIMEOUT: "1800",
          MERGE_STRATEGY: "rebase",
          GIT_MAIN_BRANCH: "trunk",
          GIT_BRANCH_PREFIX: "bot/",
        },
      }),
    );
    const { workers, timeout, landing, base, branchPrefix } = config;
    assert.deepEqual(
      [workers, timeout.work, landing.strategy, base, branchPrefix],
      [3, 1_800_000, "rebase", "trunk", "bot/"],
    );
    assert.equal(notices.length, 5);
    assert.ok(notices.includes("workers is taken from MAX_WORKERS"));
  });

  it("does not mind a bad alias that is not used, but one that is", () => {
    assert.equal(right(given({ env: { MAX_WORKERS: "many" }, sets: ["workers=2"] })).config.workers, 2);
    assert.match(
      wrong(given({ env: { MAX_WORKERS: "many" } })).join(),
      /^MAX_WORKERS: workers must be a whole/,
    );
  });

  it("plans with the agent unless told", () => {
    const agent = { kind: "command", command: ["a", "b c"] } as const;
    assert.deepEqual(right(inFile("agent: a 'b c'")).config.planner, agent);
    assert.equal(right(inFile("agent: a\nplanner: none")).config.planner, "none");
    assert.deepEqual(right(inFile("agent: x\nplanner: [a, b c]")).config.planner, agent);
    assert.equal(right(inFile("planner: none")).config.agent, undefined);
  });

  const AGENTS: readonly [string, unknown][] = [
    ["agent: prog", { kind: "command", command: ["prog"] }],
    [`agent: 'prog "a b" c\\ d --x='`, { kind: "command", command: ["prog", "a b", "c d", "--x="] }],
    ['agent: ["sh", "-c", "a | b; $c"]', { kind: "command", command: ["sh", "-c", "a | b; $c"] }],
    ["agent: {kind: command, command: [a, ' ']}", { kind: "command", command: ["a", " "] }],
    ["agent: {kind: scripted, script: a.json}", { kind: "scripted", script: "a.json" }],
  ];
  for (const [text, agent] of AGENTS)
    it(`reads ${text}`, () => assert.deepEqual(right(inFile(text)).config.agent, agent));

  it("takes a text from a variable as it stands where a text is wanted", () => {
    const { config } = right(
      given({
        env: { SKEIN_BASE: "1234567", SKEIN_AGENT: "true #1", SKEIN_WORKSPACE_SETUP: "make #1" },
        sets: ["planner=*x"],
      }),
    );
    assert.equal(config.base, "1234567");
    assert.deepEqual(config.agent, { kind: "command", command: ["true", "#1"] });
    assert.equal(config.workspace.setup, "make #1");
    assert.deepEqual(config.planner, { kind: "command", command: ["*x"] });
  });

  it("never takes zero for nothing", () => {
    const zero = right(
      given({
        env: { SKEIN_RETRY_MAX_REFUSED: "0", SKEIN_BUDGET_TOKENS: "0", SKEIN_DELIVER: "0" },
        sets: ["subplanner.maxDepth=0"],
        flags: { "retry.first": 0 },
      }),
    ).config;
    assert.deepEqual(
      [zero.retry.maxRefused, zero.budget.tokens, zero.deliver, zero.subplanner.maxDepth, zero.retry.first],
      [0, 0, false, 0, 0],
    );
    for (const key of [
      "workers",
      "planners",
      "timeout.work",
      "landing.maxBatch",
      "gateTimeout",
      "gateOutput",
      "retry.maxFailed",
    ])
      assert.match(wrong(given({ sets: [`${key}=0`] })).join(), new RegExp(`^--set: ${key} must be`));
  });

  it("says that a variable of Skein's which it does not know has no effect", () => {
    const { notices } = right(
      given({ env: { SKEIN_FOO: "1", SKEIN_HOME: "x", SKEIN_STATE_DIR: "/x", OTHER: "y" } }),
    );
    assert.deepEqual(
      notices.map((notice) => notice.split(" ")[0]),
      ["SKEIN_FOO", "SKEIN_HOME"],
    );
  });
});

const BAD: readonly [string, RegExp][] = [
  ["workers: 0", /^skein\.yaml:1:1: workers must be a whole number from 1, not 0$/],
  ["workers: 1.5", /workers must be a whole number from 1, not 1\.5$/],
  ['workers: "4"', /workers must be .*, not "4"$/],
  ["workers: [4]", /workers must be .*, not a list$/],
  ["workers: .inf", /workers must be/],
  ["workers:", /:1:1: workers has no value/],
  ["a: 1\nwrokers: 3", /:2:1: wrokers is not a key of skein.yaml; did you mean "workers"\?$/],
  ["timeout:\n  work: 1m\n  wrok: 3", /:3:3: timeout\.wrok is not a key.*"timeout\.work"\?$/],
  ["strategy: rebase", /strategy is not a key.*did you mean "landing\.strategy"\?$/],
  ["landing: rebase", /:1:1: landing is a group: set one of landing\.strategy, landing\.maxBatch$/],
  ["landing: {strategy: squash}", /:1:11: landing\.strategy must be one of merge-commit, rebase.*"squash"$/],
  ["timeout: {work: 1 hour}", /timeout\.work must be a duration like 90s, 15m or 2h.*not "1 hour"$/],
  ["timeout: {work: -1}", /timeout\.work must be a duration/],
  ["timeout: {work: 400d}", /timeout\.work must be at most 365d/],
  ["timeout: {work: 0s}", /timeout\.work must be .* more than 0, not "0s"/],
  ["gateOutput: 3 apples", /gateOutput must be a size like 10MB/],
  ["gateOutput: 2000GB", /gateOutput must be at most/],
  ["budget: {dollars: -1}", /budget\.dollars must be a number from 0, not -1/],
  ["base: 12", /base must be a text \(in quotes.*not 12/],
  ["base: --upload-pack=x", /base must be the name of a branch or a commit/],
  ["base: ''", /base must be the name/],
  ["branchPrefix: 'a..b'", /:1:1: branchPrefix "a\.\.b" cannot begin the name of a branch/],
  ["gate: npm test", /gate must be "auto", "none" or a list of commands such as/],
  ["gate: []", /gate has no commands: write "none"/],
  ["gate: ['  ']", /gate has an empty command/],
  ["gate: [a, a]", /gate has two commands with one name: command 2/],
  ["gate: [{name: a}]", /gate must be/],
  ["gate: [{name: a, run: b, env: {1a: x}}]", /gate must be/],
  ["agent: ''", /agent names no program/],
  ["agent: []", /agent .*(?:names no program|program and its arguments)/],
  ["agent: 'a | b'", /agent needs a shell: write it as \["sh", "-c"/],
  ["agent: 'a \"$HOME\"'", /agent needs a shell/],
  ["agent: a 'b", /agent has a quote that does not end/],
  ["agent: {kind: command}", /agent command must be a list of a program and its arguments/],
  ["agent: {kind: comand, command: [a]}", /agent kind must be "command", "acp", "model" or "scripted"/],
  ["agent: 3", /agent must be a command such as .*provider\/model/],
  ["agent: {acp: 3}", /agent acp must be a command/],
  ["agent: {acp: ''}", /agent names no program/],
  ["agent: 'acp:'", /agent names no program/],
  ["agent: {kind: acp}", /agent command must be a list/],
  ["agent: {kind: model, provider: anthropic}", /agent model must be a text/],
  [
    "agent: {kind: model, provider: mine, model: m}",
    /agent has a provider that is not known, and no baseUrl/,
  ],
  ["agent: {kind: model, provider: openai, model: m, kye: A}", /agent has unknown keys: kye/],
  ["agent: {kind: model, provider: openai, model: m, key: sk-abc}", /agent key must be the name of an env/],
  ["agent: {kind: model, provider: openai, model: m, fallbacks: [m]}", /agent fallbacks must be models/],
  ["model: gpt-5", /model must be provider\/model, such as anthropic\/claude/],
  ["model: mine/m", /model must be provider\/model/],
  ["model: {provider: x, model: m, baseUrl: 'ftp://a'}", /model baseUrl must be an address such as/],
  ["model: {provider: x, model: m, baseUrl: 'http://me:pw@a/v1'}", /model baseUrl must be an address/],
  ["model: {provider: x, model: m, baseUrl: 'http://a/v1?key=b'}", /model baseUrl must be an address/],
  ["model: openai/gpt-5\nagent: opencode", /:2:1: agent and the other of agent and model are both set/],
  ["agent: opencode\nmodel: openai/gpt-5", /:2:1: model and the other of agent and model are both set/],
  ["fallback: [openai/gpt-5, gpt-4]", /fallback each must be provider\/model/],
  ["fallback: [{provider: openai}]", /fallback model must be a text/],
  ["lookFor: [keys, kyes]", /lookFor must be some of keys, programs, servers, each once/],
  ["lookFor: [keys, keys]", /lookFor must be some of/],
  ["sandbox: on", /sandbox must be one of auto, required, off/],
  ["permissions: ask", /permissions must be one of deny-outside, allow/],
  ["prices: {x/y: {input: 1}}", /prices x\/y\.output must be a number/],
  ["prices: {x/y: {input: -1, output: 1}}", /prices x\/y\.input must be a number from 0/],
  ["budget: {task: 3}", /budget\.task is a group: set one of budget\.task\.tokens/],
  ["quota: {wait: soon}", /quota\.wait must be a duration/],
  ["agent: {kind: scripted, scirpt: a}", /agent has unknown keys: scirpt/],
  ["deliver: yes", /deliver must be true or false, not "yes"/],
  ["workspace: {pass: [A=b]}", /workspace\.pass must be names of environment variables, without/],
  ["workspace: {copy: [1]}", /workspace\.copy must be a list of texts/],
  ["workspace: {copy: ['']}", /workspace\.copy .*empty/],
  ["workspace: {setup: ''}", /workspace\.setup must not be empty/],
  ["- a", /:1:1: must contain keys with values/],
  ["just words", /:1:1: must contain keys with values/],
  ["a: b: c", /:1:4: is not valid YAML: Nested mappings/],
  ["workers: 1\n\tplanners: 2", /:2:1: is not valid YAML: /],
  ["workers: 1\nworkers: 2", /:2:1: is not valid YAML: Map keys must be unique/],
  ["workers: 1\n---\nworkers: 2", /is not valid YAML/],
  ["workers: !secret 1", /:1:10: is not valid YAML: Unresolved tag/],
  ["gate: *x", /:1:1: gate cannot be read: Unresolved alias/],
  [": 3", /:1:1: null is not a key/],
  ["? [a]\n: 3", /:1:3: \? is not a key/],
  ["__proto__: {workers: 3}", /__proto__ is not a key/],
  ["<<: {workers: 3}", /<< is not a key/],
  ["[".repeat(20_000), /is not valid YAML/],
  [`# ${"x".repeat(1_000_000)}`, /^skein\.yaml: is longer than 1000000 characters$/],
];

describe("skein.yaml", () => {
  for (const [text, message] of BAD)
    it(`refuses ${JSON.stringify(text.slice(0, 50))}, with key and place`, () => {
      const problems = wrong(inFile(text));
      assert.ok(
        problems.some((problem) => message.test(problem)),
        problems.join("\n"),
      );
    });

  it("does not grow by aliases of aliases", () => {
    const bomb = ["a: &a0 [x]"];
    for (let i = 1; i < 12; i += 1) bomb.push(`b${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`);
    const problems = wrong(inFile(`${bomb.join("\n")}\ngate: *a11`));
    assert.ok(
      problems.some((problem) => /gate cannot be read: Excessive alias count/.test(problem)),
      problems.join("\n"),
    );
  });

  it("is checked as a whole: every problem is told, also of what a better source replaces", () => {
    const file = { name: "skein.yaml", text: "workers: 0\nplanners: x\nfoo: 1" };
    const problems = wrong(
      given({ file, sets: ["workers=3", "nothing", "landing=3"], env: { SKEIN_WOKERS: "3" } }),
    );
    assert.equal(problems.length, 6);
    for (const part of [
      /:1:1: workers/,
      /:2:1: planners/,
      /:3:1: foo/,
      /^--set: nothing is not a key/,
      /^--set: landing is a group/,
      /^SKEIN_WOKERS: .*did you mean SKEIN_WORKERS \(workers\)\?/,
    ])
      assert.ok(
        problems.some((problem) => part.test(problem)),
        String(part),
      );
  });

  it("never shows what may be a secret", () => {
    const secret = `sk-${"s3cr3t".repeat(6)}`;
    for (const key of [
      "workers",
      "agent",
      "gate",
      "base",
      "timeout.work",
      "gateOutput",
      "landing.strategy",
      "workspace.pass",
      "deliver",
      "budget.tokens",
      "model",
      "fallback",
      "prices",
    ])
      for (const value of [secret, `"${secret} | x`, `{a: ${secret}}`, `[${secret}=1]`, `-${secret}`]) {
        const read = given({ sets: [`${key}=${value}`] });
        if ("problems" in read)
          assert.ok(!JSON.stringify(read.problems).includes("s3cr3t"), `${key}=${value}`);
      }
    assert.ok(
      !wrong(given({ sets: [secret.repeat(3)] }))
        .join()
        .includes(secret.repeat(2)),
    );
  });
});
