/** Tests the turns of an agent that makes a plan, and when the rules' plan replaces its own. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DATA } from "../../test/plans/parts.ts";
import { RULES_PLAN } from "../../test/support/rules-plan.ts";
import { ManualClock } from "../adapters/clocks/manual.ts";
import { defaultConfig } from "../config/read.ts";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import { NO_FACTS } from "../planning/facts.ts";
import type { Ask, Said } from "../ports/agent.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import { planByAgent } from "./plan-by-agent.ts";

const GOOD = {
  goal: "One command",
  success_criteria: ["npm test passes"],
  tasks: [
    {
      ...{ id: "a", subject: "Add a", description: "Add the command a to src/a.ts", scope: ["src/a.ts"] },
      ...{ requirements: ["It prints its name"], metadata: { agent: "general-purpose", depth: 1 } },
    },
  ],
};
const AGENT: AgentSpec = { kind: "command", command: ["./agent.sh"] };

type Case = {
  readonly planner?: AgentSpec | "none";
  readonly unstartable?: ReturnType<typeof failure>;
  readonly signal?: AbortSignal;
};

/** `answers`: what the agent says, turn by turn. */
async function planned(answers: readonly (string | Said)[], how: Case = {}) {
  const { planner = AGENT, unstartable, signal = new AbortController().signal } = how;
  const asks: Ask[] = [];
  const lines: string[] = [];
  let open = 0;
  const alone = {
    agent: {
      turn: async (ask: Ask): Promise<Said> => {
        const answer = answers[asks.push(ask) - 1] ?? assert.fail("asked once too often");
        return typeof answer === "string"
          ? { is: "said", text: answer, spent: { tokens: 10, attempt: 1 } as never }
          : answer;
      },
    },
    workspaces: { take: async () => ({ folder: "/w", environment: {} }), release: async () => {} },
    signs: { clock: new ManualClock(), changedAt: async () => 0, waitedMs: () => 0 },
    redact: (text: string) => text.replaceAll("hunter2", "[secret]"),
    close: async () => {
      open -= 1;
      return [];
    },
  };
  const parts = {
    project: { located: { top: "/here", head: "c0" } },
    agents: { programs: { unstartable: async () => unstartable } },
    openAlone: async () => {
      open += 1;
      return alone;
    },
    specialists: async () => [],
    gateLines: async () => ["npm run build", "npm run test"],
    surroundings: { of: async () => ({ failure: failure("repository", "not seen") }) },
  } as unknown as Parameters<typeof planByAgent>[1];
  const end = await planByAgent(
    {
      ...{ request: "Add the command a", facts: NO_FACTS, rulesPlan: RULES_PLAN, maxConcurrent: 4 },
      words: DATA.words,
      config: { ...defaultConfig(), planner },
      say: (line) => void lines.push(line),
    },
    parts,
    signal,
  );
  assert.equal(open, 0, "what was opened is closed");
  return { end, asks, lines };
}

describe("a plan that an agent is asked for", () => {
  it("is its plan, at the commit that is checked out, with what it cost", async () => {
    const { end, asks, lines } = await planned([JSON.stringify(GOOD)]);
    assert.ok(!hasFailed(end) && end.is === "plan");
    assert.deepEqual(
      end.plan.tasks.map(({ subject }) => subject),
      ["Add a"],
    );
    const brief = asks[0]?.brief;
    assert.ok(brief?.kind === "plan" && brief.tip === "c0");
    assert.match(brief.request?.repository.join("\n") ?? "", /must pass: npm run build, npm run test$/);
    assert.deepEqual(lines.at(-1), "asked once, 10 tokens");
  });

  it("is sent back with the reasons, without secrets, and replaced by the rules' after three", async () => {
    const bad = JSON.stringify({ ...GOOD, tasks: [{ ...GOOD.tasks[0], blockedBy: ["hunter2"] }] });
    const mended = await planned([bad, JSON.stringify(GOOD)]);
    assert.ok(!hasFailed(mended.end) && mended.end.is === "plan" && mended.end.turns === 2);
    const { brief } = mended.asks[1]!;
    assert.ok(brief.kind === "plan" && brief.rejected.length > 0);
    assert.ok(!JSON.stringify([brief.rejected, mended.lines]).includes("hunter2"));
    const { end } = await planned([bad, bad, bad]);
    assert.ok(!hasFailed(end) && end.is === "rules");
    assert.equal(end.plan, RULES_PLAN);
    assert.match(end.why.message, /answered 3 times, and none of its plans could be used/);
  });

  it("is the rules' where nobody can be asked, and a failure where only a person can help", async () => {
    const away = await planned([], { unstartable: failure("agent-unreachable", "not there") });
    assert.ok(!hasFailed(away.end) && away.end.is === "rules" && away.end.turns === 0);
    const off = await planned([], { planner: "none" });
    assert.ok(!hasFailed(off.end) && off.end.is === "rules" && off.end.why.kind === "policy");
    const refused = { is: "failed", failure: failure("policy", "the settings are wrong") } as const;
    assert.ok(hasFailed((await planned([refused])).end));
    const stopped = await planned([{ is: "failed", failure: failure("cancelled", "ended") }], {
      signal: AbortSignal.abort(),
    });
    assert.ok(hasFailed(stopped.end) && stopped.end.failure.message === "planning was stopped");
  });
});
