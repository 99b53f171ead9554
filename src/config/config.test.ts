/** Tests that every key means the same from every source, and reaches the policy. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { defaultPolicy } from "../core/rules/policy.ts";
import { policyProblems } from "../core/rules/policy-check.ts";
import {
  type Config,
  describeKeys,
  fromSettings,
  jsonSchema,
  problemText,
  readConfig,
  toPolicy,
  toSettings,
} from "./index.ts";

const read = (sources: Partial<Parameters<typeof readConfig>[0]> = {}) => {
  const result = readConfig({ env: {}, sets: [], flags: {}, ...sources });
  assert.ok(!("problems" in result), "problems" in result ? result.problems.map(problemText).join("\n") : "");
  return result;
};

const whole = (min: number) => fc.integer({ min, max: 1_000 });
const time = fc.oneof(
  fc.integer({ min: 1, max: 10_000 }),
  fc
    .tuple(fc.integer({ min: 1, max: 300 }), fc.constantFrom("", "ms", "s", "m", "h", "d"))
    .map(([n, unit]) => `${n}${unit}`),
);
const bytes = fc.oneof(
  fc.integer({ min: 1, max: 1e9 }),
  fc
    .tuple(fc.integer({ min: 1, max: 500 }), fc.constantFrom("B", "kB", "MB", "KiB", "MiB", "GiB"))
    .map((pair) => pair.join("")),
);
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
const names = fc.array(name, { maxLength: 4 });
const word = fc.oneof(name, fc.stringMatching(/^[ -~]{1,12}$/));
const program = fc.array(word, { maxLength: 3 }).chain((rest) => name.map((first) => [first, ...rest]));
const agent = fc.oneof(
  name.filter((text) => text !== "none"),
  program,
  program.map((command) => ({ kind: "command", command })),
  name.map((script) => ({ kind: "scripted", script })),
  program.map((command) => ({ acp: command })),
  program.map((command) => ({ kind: "acp", name: "mine", command })),
  fc.constantFrom("opencode", "claude", "acp:./mine --fast", "anthropic/claude-sonnet-4-5"),
  fc.constant({
    kind: "model",
    provider: "mine",
    model: "m",
    baseUrl: "http://127.0.0.1:1/v1",
    key: "MY_KEY",
  }),
  fc.constant({ kind: "model", provider: "openai", model: "gpt-5", fallbacks: ["ollama/qwen3-coder"] }),
);
const model = fc.constantFrom(
  "openrouter/a/b",
  { provider: "mine", model: "m", baseUrl: "http://127.0.0.1:1/v1", speaks: "anthropic" },
  { provider: "openai", model: "gpt-5", key: "OTHER_KEY" },
);
const tokens = whole(0);
const dollars = fc.oneof(whole(0), fc.constantFrom(0.25, 1e-6, 12.5));
const gate = fc.oneof(
  fc.constantFrom("auto", "none"),
  fc.uniqueArray(fc.oneof(name, fc.record({ name, run: name })), {
    minLength: 1,
    selector: (one) => (typeof one === "string" ? one : one.name),
  }),
);

/** A value for every key, as a user may write it. */
const VALUES: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  workers: whole(1),
  planners: whole(1),
  agent,
  planner: fc.oneof(agent, fc.constant("none")),
  model,
  lookFor: fc.constantFrom(["servers", "keys"], "programs, keys", []),
  fallback: fc.array(model, { maxLength: 2 }),
  sandbox: fc.constantFrom("auto", "required", "off"),
  gateSandbox: fc.constantFrom("auto", "off"),
  reconciler: fc.constantFrom("rules", "model"),
  network: fc.boolean(),
  permissions: fc.constantFrom("allow", "deny-outside"),
  prompts: name,
  base: fc.oneof(name, fc.constantFrom("1234567", "1e10", "true", "null", "~", "a: b", "#x")),
  branchPrefix: name.map((text) => `${text}/`),
  keepBranches: fc.boolean(),
  gate,
  gates: fc.oneof(whole(1), fc.constant("auto")),
  gateProbe: fc.constantFrom("auto", "off"),
  gateWorkspace: fc.constantFrom("reuse", "fresh"),
  gateChanges: fc.constantFrom("scope", "ask", "refuse"),
  "evidence.tests": fc.constantFrom("refuse", "flag"),
  "evidence.marks": fc.constantFrom("refuse", "flag"),
  gateTimeout: time,
  gateOutput: bytes,
  "workspace.setup": fc.oneof(name, fc.constantFrom("npm ci && x", "true", "[ -d x ] || y # z")),
  "workspace.setupTimeout": time,
  "workspace.copy": names,
  "workspace.share": names,
  "workspace.pass": names,
  "workspace.filters": names,
  "workspace.maxFile": bytes,
  "workspace.sparse": fc.boolean(),
  "landing.strategy": fc.constantFrom("merge-commit", "rebase", "fast-forward"),
  "landing.maxBatch": whole(1),
  approve: fc.constantFrom("never", "first", "every"),
  "sweep.red": time,
  "sweep.green": time,
  onRedBase: fc.constantFrom("ask", "repair", "continue", "stop"),
  "repair.maxTasks": whole(1),
  "repair.maxFiles": whole(1),
  "repair.maxRounds": whole(0),
  "timeout.plan": time,
  "timeout.work": time,
  "timeout.land": time,
  "timeout.check": time,
  "timeout.grace": fc.oneof(time, fc.constant("0s")),
  "retry.maxFailed": whole(1),
  "retry.maxCriterion": whole(1),
  "retry.maxRefused": whole(0),
  "retry.maxLost": whole(0),
  "retry.maxUnreachable": whole(1),
  "retry.first": fc.oneof(time, fc.constant(0)),
  "retry.max": fc.oneof(time, fc.constant("0s")),
  "subtasks.maxDepth": whole(1),
  "subtasks.maxTasks": whole(0),
  "questions.wait": fc.oneof(time, fc.constant("0s")),
  "budget.tokens": tokens,
  "budget.dollars": dollars,
  "budget.task.tokens": tokens,
  "budget.task.dollars": dollars,
  "budget.subtree.tokens": tokens,
  "budget.subtree.dollars": dollars,
  "budget.landingShare": fc.constantFrom(0, 0.25, 0.99),
  "budget.reserve.tokens": tokens,
  "budget.reserve.dollars": dollars,
  prices: fc.constantFrom({ "ollama/x": { input: 0, output: 0.5, cacheRead: 1, cacheWrite: 2 } }, {}),
  "quota.wait": fc.oneof(time, fc.constant(0)),
  "quota.first": time,
  "quota.max": time,
  "quiet.warn": fc.oneof(time, fc.constant(0)),
  "quiet.stop": fc.oneof(time, fc.constant("0s")),
  overlap: fc.constantFrom("serialise", "allow"),
  order: fc.constantFrom("priority", "longest-path"),
  sharedFiles: names,
  "subplanner.maxDepth": whole(0),
  "subplanner.scopeThreshold": whole(1),
  "subplanner.moduleThreshold": whole(1),
  "subplanner.scoreThreshold": whole(0),
  "subplanner.maxSubtasks": whole(1),
  replanAfter: whole(1),
  "log.maxTranscript": bytes,
  "fleet.enabled": fc.boolean(),
  "fleet.schema": fc.constantFrom("skein", "team_2"),
  "fleet.push": fc.boolean(),
  "fleet.maxBundle": bytes,
  "fleet.needs": fc.constantFrom([], ["gpu"], ["gpu", "linux-arm64"]),
  "fleet.remote": fc.constantFrom("origin", "ssh://host/repo.git"),
  deliver: fc.boolean(),
};

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
const inFile = (key: string, value: unknown) =>
  key.split(".").reduceRight((inner, part) => `{${part}: ${inner}}`, JSON.stringify(value));

describe("every key", () => {
  it("is in this test", () => {
    assert.deepEqual(
      Object.keys(VALUES).sort(),
      describeKeys()
        .map(({ key }) => key)
        .sort(),
    );
  });

  for (const { key, variable } of describeKeys())
    it(`${key} means the same in the file, by ${variable}, by --set and by a flag, and after it was kept`, () => {
      fc.assert(
        fc.property(VALUES[key]!, (value) => {
          const file = read({ file: { name: "skein.yaml", text: inFile(key, value) } });
          assert.equal(file.origins[key], "skein.yaml:1");
          assert.notEqual(file.origins[key], "default");
          for (const other of [
            read({ env: { [variable]: asText(value) } }),
            read({ sets: [`${key}=${asText(value)}`] }),
            read({ flags: { [key]: value } }),
          ]) {
            assert.deepEqual(other.config, file.config);
            assert.notEqual(other.origins[key], "default");
          }
          const settings: unknown = JSON.parse(JSON.stringify(toSettings(file.config)));
          assert.deepEqual(fromSettings(settings), { config: file.config });
          assert.deepEqual(policyProblems(toPolicy(file.config)), []);
        }),
        { numRuns: 25 },
      );
    });

  it("has a description, a variable of its own, and is in the JSON Schema with its default", () => {
    const keys = describeKeys();
    assert.equal(new Set(keys.map(({ variable }) => variable)).size, keys.length);
    for (const { key, description, type, default: usual } of keys) {
      assert.match(description, /^[A-Z].*\.$/, key);
      assert.ok(type.length > 0, key);
      const node = key
        .split(".")
        .reduce(
          (above, part) => (above["properties"] as Record<string, Record<string, unknown>>)[part]!,
          jsonSchema() as Record<string, unknown>,
        );
      assert.equal(node["description"], description);
      assert.deepEqual(node["default"], usual, key);
    }
    assert.equal(jsonSchema()["additionalProperties"], false);
  });

  it("is named by a variable in the way that the documents say", () => {
    const variables = describeKeys().map(({ variable }) => variable);
    for (const variable of [
      "SKEIN_WORKERS",
      "SKEIN_LANDING_STRATEGY",
      "SKEIN_BRANCH_PREFIX",
      "SKEIN_RETRY_MAX_FAILED",
    ])
      assert.ok(variables.includes(variable), variable);
  });
});

describe("the policy", () => {
  const set = (...sets: string[]) => toPolicy(read({ sets }).config);

  it("is the usual one where nothing is configured", () => {
    assert.deepEqual(set(), { ...defaultPolicy, baseFirstMs: 40 * 60_000, probe: true });
    assert.equal(set("gateProbe=off").probe, false);
  });

  it("lets a job wait a day for a machine where the run is on a fleet, by flag or by file", () => {
    assert.equal(set().offerMs, 0);
    assert.equal(set("fleet.enabled=true").offerMs, 24 * 3_600_000);
    assert.equal(toPolicy(read({ flags: { "fleet.enabled": true } }).config).offerMs, 24 * 3_600_000);
    const again = fromSettings(toSettings(read({ sets: ["fleet.enabled=true"] }).config));
    assert.equal("config" in again && toPolicy(again.config).offerMs, 24 * 3_600_000, "of a resumed run");
  });

  it("takes each number to its place, in its unit", () => {
    const policy = set(
      ...[
        "workers=2",
        "planners=3",
        "timeout.plan=1s",
        "timeout.work=2",
        "timeout.land=3m",
        "timeout.check=4h",
      ],
      ...[
        "retry.maxFailed=4",
        "retry.maxRefused=5",
        "retry.maxLost=6",
        "retry.maxUnreachable=7",
        "retry.first=8s",
      ],
      ...[
        "retry.max=9s",
        "budget.tokens=10",
        "budget.dollars=1.5",
        "subplanner.maxDepth=1",
        "replanAfter=12",
      ],
      ...["budget.task.tokens=0", "budget.task.dollars=0.25", "budget.subtree.tokens=5"],
      ...["budget.landingShare=0.2", "budget.reserve.tokens=7", "budget.reserve.dollars=0"],
      ...["model=anthropic/a", "planner=opencode", "fallback=openai/b,ollama/c"],
      ...["subplanner.moduleThreshold=2", "subplanner.scoreThreshold=0", "subplanner.maxSubtasks=5"],
      ...[
        "subplanner.scopeThreshold=11",
        "landing.maxBatch=13",
        "landing.strategy=rebase",
        "gates=3",
        "overlap=allow",
      ],
      ...["sweep.red=7s", "sweep.green=70s", "repair.maxTasks=2", "repair.maxFiles=1", "repair.maxRounds=0"],
      ...["subtasks.maxDepth=2", "subtasks.maxTasks=0", "questions.wait=9s"],
      ...["order=longest-path", "sharedFiles=a,b", "branchPrefix=x/", "approve=every", "timeout.grace=0"],
    );
    assert.deepEqual(policy.capacity, { work: 2, plan: 3 });
    assert.deepEqual(policy.leaseMs, { plan: 1_000, work: 2_000, land: 180_000, check: 14_400_000 });
    const { retry, budget, decompose, landing } = policy;
    assert.deepEqual(
      [retry.maxFailed, retry.maxRefused, retry.maxLost, retry.maxUnreachable, retry.firstMs, retry.maxMs],
      [4, 5, 6, 7, 8_000, 9_000],
    );
    const { subtasks, questions } = policy;
    assert.deepEqual([subtasks.maxDepth, subtasks.maxTasks, questions.waitMs], [2, 0, 9_000]);
    assert.equal(retry.graceMs, 0); // Zero is kept: it does not mean the default of ten minutes.
    assert.deepEqual(budget, {
      maxTokens: 10,
      maxMicrodollars: 1_500_000,
      task: { maxTokens: 0, maxMicrodollars: 250_000 },
      subtree: { maxTokens: 5 },
      landingShare: 0.2,
      reserveTokens: 7,
      reserveMicrodollars: 0,
    });
    assert.deepEqual(policy.accounts, {
      work: ["anthropic", "openai", "ollama"],
      plan: ["opencode"],
      byAgent: {},
    });
    assert.deepEqual(decompose, { maxDepth: 1, scopeThreshold: 11, moduleThreshold: 2, scoreThreshold: 0 });
    assert.deepEqual([policy.root.replanAfter, policy.subplanner.maxTasksPerAnswer], [12, 5]);
    assert.deepEqual([landing.maxBatch, landing.strategy, landing.gates], [13, "rebase", 3]);
    assert.deepEqual([policy.sweep.redMs, policy.sweep.greenMs], [7_000, 70_000]);
    assert.deepEqual(policy.repair, { maxTasks: 2, maxFiles: 1, maxRounds: 0 });
    assert.deepEqual(
      [policy.overlap, policy.order, policy.sharedFiles],
      ["allow", "longest-path", ["a", "b"]],
    );
    assert.deepEqual([policy.branchPrefix, policy.approval], ["x/", "every"]);
  });
});

describe("what is kept with a run", () => {
  it("names who plans only if that is not who works, so that another agent later does both", () => {
    const kept = (...sets: string[]) => Object(toSettings(read({ sets }).config)) as Record<string, unknown>;
    assert.equal("planner" in kept("agent=opencode"), false);
    assert.ok("planner" in kept("agent=opencode", "planner=claude"));
    assert.equal(kept("agent=opencode", "planner=none")["planner"], "none");
    const text = JSON.stringify(kept("agent=opencode"));
    const { config } = read({ file: { name: "record", text }, flags: { model: "openai/gpt-5" } });
    assert.deepEqual(config.planner, config.agent);
  });

  const BAD: readonly [unknown, RegExp][] = [
    [null, /must be a group of keys/],
    [[], /must be a group of keys/],
    [{ timeout: 3 }, /timeout must be a group of keys/],
    [{ wrokers: 3 }, /^the run's record: wrokers is not a key.*"workers"/],
    [{ workers: 0 }, /workers must be a whole number from 1, not 0/],
    [{ workers: null }, /workers must be/],
    [{ branchPrefix: "-" }, /branchPrefix/],
  ];
  for (const [settings, message] of BAD)
    it(`refuses ${JSON.stringify(settings)}`, () => {
      const result = fromSettings(settings);
      assert.ok("problems" in result);
      assert.match(result.problems.map(problemText).join(), message);
    });

  it("gives keys that were not there yet their defaults; a gate that ran without probe and sandbox goes on so", () => {
    const { config } = fromSettings({ workers: 2 }) as { config: Config };
    const now = read({ sets: ["workers=2", "gateProbe=off", "gateSandbox=off"] }).config;
    assert.equal(now.gateChanges, "scope");
    assert.deepEqual(
      config,
      { ...now, gateChanges: undefined },
      "what would bind a run that was begun without it is not added",
    );
  });
});
