/** Tests which agent is found: the configured one, else by keys, programs and model servers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultConfig } from "../config/read.ts";
import { failure } from "../core/failure.ts";
import type { AgentLooks } from "../ports/agent-looks.ts";
import { agentsHere, findAgent } from "./find-agent.ts";

const NEVER = new AbortController().signal;

/** A machine with these programs on its PATH, and these model servers. */
function machine(programs: readonly string[], models: readonly string[] = []) {
  const looks = {
    programs: {
      unstartable: async ([program]: readonly string[]) =>
        programs.includes(program!) ? undefined : failure("agent-unreachable", "not there"),
    },
    models: {
      servers: async () => [{ provider: "ollama", place: "http://here", isUsual: true, models }],
    },
  };
  return looks as unknown as AgentLooks;
}

describe("who could work here", () => {
  it("is who is configured, without a look around", async () => {
    const agent = { kind: "command", command: ["./a.sh"] } as const;
    const found = await findAgent({ ...defaultConfig(), agent }, { env: {}, agents: machine([]) }, NEVER);
    assert.deepEqual(found, { agent, candidates: [] });
  });

  it("is a key before a program before a server", async () => {
    const agents = machine(["codex-acp"], ["qwen3"]);
    const env = { ANTHROPIC_API_KEY: "k" };
    const found = await findAgent(defaultConfig(), { env, agents }, NEVER);
    assert.equal(found.why, "ANTHROPIC_API_KEY is set");
    assert.deepEqual(
      found.candidates.map(({ from }) => from),
      ["keys", "programs", "servers"],
    );
    const without = await findAgent(defaultConfig(), { env: {}, agents }, NEVER);
    assert.deepEqual(without.agent, { kind: "acp", name: "codex", command: ["codex-acp"] });
  });

  it("is nobody where something is missing, and what is missing is said", async () => {
    const parts = { env: {}, agents: machine(["pi-acp"]) };
    const candidates = await agentsHere(defaultConfig(), parts, NEVER);
    assert.deepEqual(
      candidates.map(({ spec }) => spec),
      [undefined, undefined],
    );
    assert.match(candidates[0]?.seen ?? "", /pi-acp is on the PATH, but not pi/);
    assert.match(candidates[1]?.seen ?? "", /has no model/);
  });
});
