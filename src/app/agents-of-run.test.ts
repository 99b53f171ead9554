/** Tests which agents a run gets: the configured ones, or a program's functions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configOf } from "../../test/support/live-runs.ts";
import { type Agent, NOBODY } from "../ports/agent.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import { agentsOfRun } from "./agents-of-run.ts";

const opened = new Map<string, Agent>();

/** Returns the same agent for the same specification. */
function agentOf(spec: AgentSpec): Agent {
  const key = JSON.stringify(spec);
  const agent = opened.get(key) ?? { ...NOBODY };
  opened.set(key, agent);
  return agent;
}

const agent = { kind: "model", provider: "ollama", model: "one" } as const;
const planner = { kind: "model", provider: "ollama", model: "two" } as const;

const both = configOf({ agent, planner });

describe("the agents of a run", () => {
  it("plan and work as configured", () => {
    const of = agentsOfRun(both, undefined, agentOf);
    assert.notEqual(of.planner, of.worker);
    const alone = agentsOfRun(configOf({ agent }), undefined, agentOf);
    assert.equal(alone.planner, alone.worker);
    const none = agentsOfRun(configOf({ agent, planner: "none" }), undefined, agentOf);
    assert.equal(none.planner, "none");
  });

  it("are the functions of a program where there are some", () => {
    const worker = { ...NOBODY };
    const given = agentsOfRun(both, { worker, planner: "none" }, agentOf);
    assert.deepEqual(given, { worker, planner: "none" });
    assert.equal(agentsOfRun(configOf({}), undefined, agentOf).worker, NOBODY);
  });
});
