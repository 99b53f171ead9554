/** Tests that a run which cannot begin leaves nothing, and how many workers a plan's run has. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultConfig } from "../config/read.ts";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import { NOBODY } from "../ports/agent.ts";
import { beginRun, followingPlan } from "./begin-run.ts";
import type { Parts } from "./parts.ts";

const NEVER = new AbortController().signal;

/** Any port that a refusal must not use fails the test. */
const parts = {
  env: {},
  project: { located: { top: "/here" }, runs: { create: async () => assert.fail("no run is made") } },
  agents: {
    programs: { unstartable: async () => failure("agent-unreachable", "./a.sh is not there") },
    sandbox: async () => ({ level: "none", why: "none" }),
    models: { servers: async () => [] },
  },
  base: async () => ({ base: "b", baseBranch: "main" }),
  git: async () => "worktree /here\nHEAD b\nbranch refs/heads/main\n",
} as unknown as Parts;

const config = defaultConfig();
const because = async (
  request: Omit<Parameters<typeof beginRun>[0], "goal"> & { readonly goal?: string },
) => {
  const end = await beginRun({ goal: "g", ...request }, parts, NEVER);
  assert.ok(hasFailed(end));
  return [end.because, end.failure.message];
};

describe("a run that cannot begin leaves nothing:", () => {
  it("without a goal, and without somebody to work", async () => {
    assert.equal((await because({ goal: " ", config }))[0], "usage");
    assert.equal((await because({ config }))[0], "agent");
    const agent = { kind: "command", command: ["./a.sh"] } as const;
    assert.deepEqual((await because({ config: { ...config, agent } }))[0], "agent");
    const [kind, message] = await because({ config, mayFindAgent: true });
    assert.equal(kind, "agent");
    assert.match(message ?? "", /no.* found/);
  });

  it("if it is to be delivered into a branch that is checked out", async () => {
    const agents = { worker: NOBODY, planner: "none" } as const;
    const [kind, message] = await because({ config: { ...config, deliver: true }, agents });
    assert.equal(kind, "usage");
    assert.match(message ?? "", /^main is checked out in \/here/);
  });
});

it("a plan says how many workers there are, unless the person did", () => {
  const plan = { max_concurrent: 3 } as Parameters<typeof followingPlan>[1];
  assert.deepEqual(
    [false, true].map((isSaid) => followingPlan({ ...config, workers: 7 }, plan, isSaid).workers),
    [3, 7],
  );
  assert.equal(followingPlan(config, plan, false).planner, "none");
});
