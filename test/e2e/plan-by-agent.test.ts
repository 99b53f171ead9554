/** Tests plans by agents over real wires: the agent's plan, or the rules' plan with the reason. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { openPlanningPlace } from "../../src/adapters/runs/planning-place.ts";
import { hasFailed } from "../../src/core/result.ts";
import { renderMarkdown } from "../../src/planning/render/markdown.ts";
import { ACP_COMMAND } from "../support/acp-agent/agent.ts";
import type { AcpScript } from "../support/acp-agent/script.ts";
import { makeSetting } from "../support/live-runs.ts";
import type { Reply } from "../support/model-server/model-server.ts";
import { RULES_PLAN } from "../support/rules-plan.ts";
import {
  type Asked,
  ask,
  checkoutOf,
  FILES,
  GOOD,
  isTidy,
  KEY,
  REQUEST,
  withModel,
} from "./plan-by-agent-place.ts";

const plan = (input: unknown): Reply => ({
  tools: [{ name: "plan", input }],
  usage: { input: 1_000, output: 100 },
});
const [A, B] = GOOD.tasks as [(typeof GOOD.tasks)[0], (typeof GOOD.tasks)[0]];
const CYCLE = {
  ...GOOD,
  tasks: [
    { ...A, blockedBy: ["b"] },
    { ...B, blockedBy: ["a"] },
  ],
};
/** The rules' plan for a request that scores high. */
const DEEP = { ...RULES_PLAN, score: { ...RULES_PLAN.score!, total: 20, tier: 3, min_depth: 3 } } as const;
const UNKNOWN = { ...GOOD, tasks: [{ ...A, blockedBy: ["zebra"] }, B] };

const byRules = ({ end }: Asked) => {
  assert.ok("is" in end && end.is === "rules", JSON.stringify(end));
  assert.deepEqual(end.plan, RULES_PLAN);
  return end;
};
const planOf = ({ end }: Asked) => {
  assert.ok("is" in end && end.is === "plan", JSON.stringify(end));
  return end;
};

describe("a plan by a model", () => {
  for (const wire of ["openai-chat", "anthropic"] as const)
    it(`comes through over the wire ${wire}, and nothing is left or changed`, async () => {
      await using place = await withModel(
        ({ n }) => (n === 1 ? { tools: [{ name: "read", input: { path: "src/cli.ts" } }] } : plan(GOOD)),
        wire,
      );
      const before = await checkoutOf(place.setting);
      const asked = await place.ask();
      const { plan: found, turns, spent } = planOf(asked);
      assert.deepEqual([found.planner, found.goal, turns], ["agent tests/scripted-1", "Two commands", 1]);
      assert.deepEqual(
        found.tasks.map(({ id, metadata }) => [id, metadata.wave, metadata.parallel]),
        [
          ["a", 0, true],
          ["b", 0, true],
        ],
      );
      for (const { description } of found.tasks)
        assert.ok(description.endsWith(`\n\n${REQUEST}`), description);
      const { input, output } = place.server.tokens();
      assert.equal(spent?.tokens, input + output);
      const [call] = place.server.calls;
      assert.match(call!.system, /^# You make an execution plan/);
      assert.ok(call!.messages[0]!.text.includes(REQUEST), "word for word, with its line breaks");
      assert.doesNotMatch(
        call!.messages[0]!.text,
        /Add the second command|draft/,
        "nothing of the rules' plan",
      );
      assert.deepEqual([...call!.tools].sort(), ["find", "git", "grep", "ls", "plan", "read"]);
      assert.equal(await checkoutOf(place.setting), before);
      assert.ok(isTidy(place.setting));
      assert.ok(!asked.said.join().includes(KEY));
    });

  it("is taken with warnings where it is shallow, wide or unusual", async () => {
    const many = Array.from({ length: 30 }, (_, n) => ({ ...A, id: `n${n}`, scope: [`src/${n}.ts`] }));
    const odd = { ...B, metadata: { agent: "nobody-knows", depth: 1 } };
    await using place = await withModel(() => plan({ ...GOOD, tasks: [...many, odd] }));
    const { plan: found, warnings, turns } = planOf(await place.ask({}, undefined, DEEP));
    assert.deepEqual([found.tasks.length, turns], [31, 1]);
    assert.match(
      warnings.join("\n"),
      /speaks for a depth of 3; less deep: "n0"[\s\S]*no agent "nobody-knows"/,
    );
  });

  it("is sent back with the reasons, and mended", async () => {
    const answers = [CYCLE, UNKNOWN, GOOD];
    await using place = await withModel(({ n }) => plan(answers[n - 1]));
    const asked = await place.ask();
    const { turns, spent } = planOf(asked);
    assert.deepEqual([turns, place.server.calls.length, spent?.tokens], [3, 3, 3_300]);
    const told = place.server.calls.map(
      ({ messages }) => messages.findLast(({ role }) => role === "user")!.text,
    );
    assert.ok(!told[0]!.includes("Why your last plan was refused"));
    assert.match(told[1]!, /Why your last plan was refused[\s\S]*tasks\[[01]\]/);
    assert.match(told[2]!, /Why your last plan was refused[\s\S]*zebra/);
    assert.equal(asked.said.at(-1), "asked 3 times, 3,300 tokens");
    assert.match(
      asked.said.join("\n"),
      /plan 1 of at most 3 was refused \(.* asked again\): .*\n.*plan 2 of at most 3 was refused .*zebra/,
    );
    assert.ok(isTidy(place.setting));
  });

  it("that drops a part or a limit is sent back once with the sentence, and then taken with a warning", async () => {
    const request =
      "Add two commands, named a and b here. Each answers within 50 ms. Do not touch src/cli.ts.";
    const limit = "Do not touch src/cli.ts.";
    const whole = {
      ...GOOD,
      tasks: GOOD.tasks.map((task) => ({
        ...task,
        description: `Add the command ${task.id} to src/${task.id}.ts; it answers within 50 ms. ${limit}`,
      })),
      coverage: [{ says: limit, in: "a, b" }],
    };
    const onlyA = { ...whole, tasks: [{ ...A, description: "Print the name of a within 50 ms." }] };
    const careless = { ...GOOD, coverage: [{ says: limit, in: ["a", "b"] }] };

    await using mended = await withModel(({ n }) => plan([onlyA, whole][n - 1]));
    const asked = await mended.ask({}, undefined, undefined, request);
    const { plan: found, warnings, turns } = planOf(asked);
    assert.deepEqual(
      [turns, found.not_covered, warnings.filter((one) => /not_covered/.test(one))],
      [2, undefined, []],
    );
    assert.deepEqual(found.coverage, [{ says: limit, in: ["a", "b"] }]);
    const told = mended.server.calls[1]!.messages.findLast(({ role }) => role === "user")!.text;
    assert.match(told, /no task and no assumption has this of the request: .*Do not touch src\/cli\.ts/);
    assert.match(asked.said.join("\n"), /plan 1 of at most 3 was refused .*Do not touch src/);

    await using stubborn = await withModel(() => plan(careless));
    const kept = planOf(await stubborn.ask({}, undefined, undefined, request));
    assert.deepEqual([kept.turns, stubborn.server.calls.length], [2, 2]);
    assert.deepEqual(kept.plan.not_covered, ["Each answers within 50 ms.", limit]);
    assert.match(kept.warnings.join("\n"), /not_covered: no task and no assumption has this .*50 ms/);
    assert.match(renderMarkdown(kept.plan), /Not Covered:\n\n- Each answers within 50 ms/);
    for (const { description } of kept.plan.tasks) assert.doesNotMatch(description, /other tasks'/);
  });

  it("that drops something is still better than none, if what follows is garbage or fails", async () => {
    const request = "Add two commands, named a and b here. Each answers within 50 ms.";
    const replies: readonly Reply[] = [plan(GOOD), plan(CYCLE), plan(UNKNOWN)];
    await using place = await withModel(({ n }) => replies[n - 1]!);
    const { plan: found, turns } = planOf(await place.ask({}, undefined, undefined, request));
    assert.deepEqual([turns, found.not_covered], [3, ["Each answers within 50 ms."]]);
    await using away = await withModel(({ n }) =>
      n === 1 ? plan(GOOD) : { fault: { is: "status", status: 401 } },
    );
    assert.equal(planOf(await away.ask({}, undefined, undefined, request)).turns, 2);
  });

  it("for a question is one report with the question in full, and no word of other tasks", async () => {
    const request = "Why does the command a print nothing?";
    const report = {
      id: "why",
      subject: "Explain why a prints nothing",
      description: "Read src/cli.ts and answer.",
    };
    await using place = await withModel(() => plan({ tasks: [{ ...report, delivers: "report" }] }));
    const { plan: found, turns } = planOf(await place.ask({}, undefined, undefined, request));
    assert.deepEqual([turns, found.tasks.length, found.tasks[0]!.delivers], [1, 1, "report"]);
    assert.equal(
      found.tasks[0]!.description,
      `Read src/cli.ts and answer.\n\nThe request, in full:\n\n${request}`,
    );
  });

  it("gives way to the rules' plan where all that comes is garbage", async () => {
    const words = ["I would rather not.", '{"tasks": [', "null"];
    await using place = await withModel(({ n }) => ({ text: words[n % 3]! }));
    const { why } = byRules(await place.ask());
    assert.equal(why.kind, "plan-invalid", why.message);
    assert.ok(isTidy(place.setting));
  });

  it("gives way to the rules' plan after three that cannot be used", async () => {
    const passwd = { ...GOOD, tasks: [{ ...A, metadata: { output_file: "/etc/passwd" } }] };
    const outside = { ...GOOD, tasks: [{ ...A, scope: ["../../x"] }] };
    const many = {
      tasks: Array.from({ length: 100_000 }, (_, n) => ({ id: n, subject: "x", description: "x" })),
    };
    const answers = [passwd, many, outside];
    await using place = await withModel(({ n }) => plan(answers[n - 1]));
    const before = await checkoutOf(place.setting);
    const asked = await place.ask();
    const { why, reasons, turns } = byRules(asked);
    assert.deepEqual([turns, place.server.calls.length, why.kind], [3, 3, "plan-invalid"], why.message);
    assert.equal(why.message, "tests/scripted-1 answered 3 times, and none of its plans could be used");
    assert.match(why.next ?? "", /another --agent or --model/);
    assert.match(reasons.join(), /^tasks\[0\]\.scope\[0\]: /);
    const told = asked.said.join("\n");
    assert.match(told, /tasks\[0\]\.metadata\.output_file/);
    assert.match(told, /plan 2 of at most 3 was refused \(.*\): .*(?:wrote more than|tasks: .*1000)/);
    assert.match(told, /plan 3 of at most 3 was refused \(that was its last try\): /);
    assert.equal(await checkoutOf(place.setting), before);
    assert.ok(isTidy(place.setting));
  });

  it("gives way to the rules' plan where the model is out of reach, of quota or of rights", async () => {
    const fault = (status: number) => (): Reply => ({ fault: { is: "status", status } });
    const cases = [
      [fault(401), "authentication"],
      [fault(429), "quota"],
      [fault(503), "agent-unreachable"],
    ] as const;
    for (const [answer, kind] of cases) {
      await using place = await withModel(answer);
      const { why } = byRules(await place.ask({ "retry.first": "1ms", "retry.max": "1ms" }));
      assert.equal(why.kind, kind, why.message);
      assert.ok(isTidy(place.setting));
    }
    await using gone = await withModel(() => plan(GOOD));
    await gone.server.close();
    const { why, turns } = byRules(await gone.ask());
    assert.deepEqual([why.kind, turns], ["agent-unreachable", 0]);
  });

  it("is not called beyond the budget", async () => {
    await using place = await withModel(() => plan(GOOD));
    const { why } = byRules(await place.ask({ "budget.tokens": 10 }));
    assert.deepEqual([why.kind, place.server.calls.length], ["budget", 0]);
  });

  it("is not waited for once somebody says stop, and nothing stays", async () => {
    await using place = await withModel(() => ({ fault: { is: "hang" } }));
    const stop = new AbortController();
    const asked = place.ask({}, stop.signal);
    await place.server.waitForCall(1);
    stop.abort();
    const { end } = await asked;
    assert.ok("failure" in end && end.failure.kind === "cancelled", JSON.stringify(end));
    assert.ok(isTidy(place.setting));
  });

  it("is not waited for longer than a turn may take", async () => {
    await using place = await withModel(() => ({ fault: { is: "hang" } }));
    const { why } = byRules(await place.ask({ "timeout.plan": "1s" }));
    assert.equal(why.kind, "timed-out");
    assert.ok(isTidy(place.setting));
  });
});

describe("a plan by another agent", () => {
  it("comes from one that speaks ACP, is sent back, and told what it had sent", async () => {
    await using setting = await makeSetting({ files: FILES });
    const say = (value: unknown) => [[{ do: "say", text: `Here:\n${JSON.stringify(value)}` }]] as const;
    const script: AcpScript = {
      prompts: say(UNKNOWN),
      when: [{ told: '"blockedBy":["zebra"]', prompts: say(GOOD) }],
      usage: { totalTokens: 100, inputTokens: 90, outputTokens: 10 },
    };
    const agent = { kind: "acp", name: "imitation", command: ACP_COMMAND };
    const flags = { agent, "workspace.pass": ["ACP_SCRIPT"] };
    const before = await checkoutOf(setting);
    const asked = await ask(setting, flags, { env: { ACP_SCRIPT: JSON.stringify(script) } });
    const { plan: found, turns, spent } = planOf(asked);
    assert.deepEqual([found.planner, found.tasks.length, turns], ["agent imitation", 2, 2]);
    assert.equal(spent?.tokens, 200, "one prompt a turn: what can be read is judged after it");
    assert.equal(await checkoutOf(setting), before);
    assert.ok(isTidy(setting));
  });

  it("comes from a program, which hears of the request and of the reasons", async () => {
    await using setting = await makeSetting({ files: FILES });
    const program = path.join(setting.folder, "agent.sh");
    const lines = [
      "#!/bin/sh",
      'case "$(cat)" in',
      `*zebra*) echo '${JSON.stringify(GOOD)}' ;;`,
      '*"second command"*) exit 9 ;;', // Fails the agent if its prompt contains the rules' plan, which it must not see.
      `*"Add the commands a and b"*) echo '${JSON.stringify(UNKNOWN)}' > "$SKEIN_HANDOFF"; echo x > src/cli.ts ;;`,
      "esac",
    ];
    writeFileSync(program, `${lines.join("\n")}\n`, { mode: 0o755 });
    const before = await checkoutOf(setting);
    const { plan: found, turns } = planOf(await ask(setting, { agent: [program] }));
    assert.deepEqual([found.planner, turns], ["agent agent.sh", 2]);
    assert.equal(await checkoutOf(setting), before);
    assert.ok(isTidy(setting));
  });

  it("is not asked for where there is none, where it is not there, and where only rules are wanted", async () => {
    await using setting = await makeSetting({ files: FILES });
    const missing = (await ask(setting, { agent: ["./no-such-agent"] })).end;
    assert.match("failure" in missing ? missing.failure.message : "", /no-such-agent was not found/);
    const model = {
      kind: "model",
      provider: "tests",
      model: "m",
      baseUrl: "http://127.0.0.1:9/v1",
      key: "NO_KEY",
    };
    const keyless = (await ask(setting, { agent: model })).end;
    assert.equal("failure" in keyless && keyless.failure.kind, "authentication");
    const { why, turns } = byRules(await ask(setting, { planner: "none" }));
    assert.deepEqual([turns, why.message], [0, "planner: none is configured, so no agent is asked"]);
    assert.ok(isTidy(setting));
  });

  it("begins with removing what a killed process left, and leaves alone where another is at work", async () => {
    await using place = await withModel(() => plan(GOOD));
    const { stateFolder } = place.setting.project;
    const other = await openPlanningPlace(stateFolder);
    assert.ok(!hasFailed(other));
    const left = path.join(stateFolder, "planning", "plan-abc");
    mkdirSync(path.join(left, "workspaces"), { recursive: true });
    writeFileSync(path.join(left, "workspaces", "x"), "");
    planOf(await place.ask());
    assert.deepEqual([existsSync(left), existsSync(other.folder)], [false, true]);
    assert.deepEqual(await other.close(), []);
    assert.ok(isTidy(place.setting));
  });
});
