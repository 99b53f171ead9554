import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../../test/support/core-run.ts";
import { readConfig } from "../../../config/index.ts";
import { evolve } from "../../../core/evolve.ts";
import { failure } from "../../../core/failure.ts";
import { defaultPolicy } from "../../../core/policy.ts";
import { nothingSeen, see, viewOf } from "../../../core/view.ts";
import type { Context } from "../context.ts";
import { haltOf, mendText, sayHalt } from "./halt.ts";

const HOUR = 3_600_000;

function configured(...sets: readonly string[]) {
  const read = readConfig({ env: {}, sets, flags: {} });
  assert.ok("config" in read);
  return read.config;
}

/** Two tasks are ready, and the only account is parked until then. */
function parked(until: number) {
  const run = CoreRun.planned([task("a"), task("b")]);
  const seen = nothingSeen();
  for (const event of run.log) see(seen, event);
  evolve(seen.state, {
    type: "account.parked",
    account: "agent",
    until,
    failure: failure("quota", "429"),
    at: run.now,
  });
  return { ...seen, now: run.now };
}

function context(now: number): Context & { said: () => string } {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const sink = { write, hasColours: false };
  return {
    out: sink,
    err: sink,
    json: false,
    env: {},
    folder: "/",
    command: "skein",
    now: () => now,
    said: () => text,
  };
}

describe("a run that waits for a quota", () => {
  const rules = (maxWaitMs: number, now: number) => ({ policy: defaultPolicy, maxWaitMs, now });

  it("goes by the machine's clock, however that was set", () => {
    const { state, now } = parked(12 * HOUR);
    evolve(state, { type: "clock.jumped", ms: 720 * HOUR, at: now });
    assert.equal(haltOf(state, rules(12 * HOUR, now + 720 * HOUR)), undefined);
    const halt = haltOf(state, rules(11 * HOUR, now + 720 * HOUR));
    assert.equal(halt?.is === "parked" && halt.until, 732 * HOUR);
  });

  it("goes on waiting while the reset is no further away than quota.wait", () => {
    const { state, now } = parked(12 * HOUR);
    assert.equal(haltOf(state, rules(12 * HOUR, now)), undefined);
  });

  it("stops where it is further away, at once where quota.wait is 0, and exits with 75", () => {
    const { state, story, now } = parked(13 * HOUR);
    const halt = haltOf(state, rules(12 * HOUR, now));
    assert.deepEqual(halt, { is: "parked", accounts: ["agent"], until: 13 * HOUR });
    assert.equal(haltOf(parked(now + 1).state, rules(0, now))?.is, "parked");
    const here = context(now);
    assert.equal(sayHalt(here, halt!, viewOf({ state, story }), configured()), 75);
    assert.match(
      here.said(),
      /^skein: the quota of agent is used up until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(in 1\d h/,
    );
    assert.match(here.said(), /quota\.wait is 12h/);
    assert.match(
      here.said(),
      /^try: skein resume r\S* after .*; or skein resume r\S* --set quota\.wait=13h/m,
    );
  });

  it("does not stop while somebody can still work", () => {
    const { state, now } = parked(13 * HOUR);
    const policy = {
      ...defaultPolicy,
      accounts: { plan: ["agent"], work: ["agent", "other"], byAgent: {} },
    } as const;
    assert.equal(haltOf(state, { policy, maxWaitMs: 0, now }), undefined);
  });
});

describe("a run whose set-up has failed", () => {
  it("stops at once with 3, and keeps the tool's lines and those that would mend it", () => {
    const { state, story, now } = parked(HOUR);
    const next = "add to skein.yaml:\n  workspace:\n    setup: npm ci";
    const why = failure("setup", "npm test cannot be run in /w:\nsh: mocha: not found", next);
    evolve(state, { type: "setup.failed", failure: why, at: now });
    const halt = haltOf(state, { policy: defaultPolicy, maxWaitMs: 12 * HOUR, now });
    const here = context(now);
    assert.equal(sayHalt(here, halt!, viewOf({ state, story }), configured()), 3);
    assert.match(
      here.said(),
      /^skein: npm test cannot be run in \/w: \(.* done, the rest is kept\)\n {2}sh: mocha: not found\ntry: add to skein\.yaml:\n {4}workspace:\n {6}setup: npm ci\n {2}then skein resume r\S*\n$/,
    );
  });
});

describe("a run whose key was refused", () => {
  it("stops at once with 5, and names the variable and how to go on", () => {
    const { state, story, now } = parked(HOUR);
    const why = failure("authentication", "401: invalid x-api-key");
    evolve(state, { type: "account.refused", account: "anthropic", failure: why, at: now });
    const halt = haltOf(state, { policy: defaultPolicy, maxWaitMs: 12 * HOUR, now });
    assert.equal(halt?.is, "refused");
    const here = context(now);
    const config = configured("model=anthropic/claude-sonnet-4-5");
    assert.equal(sayHalt(here, halt!, viewOf({ state, story }), config), 5);
    assert.match(here.said(), /^skein: the credentials of anthropic were refused: 401: invalid x-api-key/);
    assert.match(here.said(), /^try: set ANTHROPIC_API_KEY to a key that works, then skein resume r/m);
  });

  it("says where the credentials of each kind of agent are seen to", () => {
    const own = "agent={kind: model, provider: openai, model: m, key: MY_KEY}";
    assert.equal(mendText("openai MY_KEY", configured(own)), "set MY_KEY to a key that works");
    const config = configured("agent=opencode", "fallback=google/gemini-2.5-pro");
    assert.match(mendText("opencode", config), /^log in with opencode itself/);
    assert.equal(mendText("google", config), "set GEMINI_API_KEY to a key that works");
    assert.equal(mendText("else", config), "see to the credentials of else");
  });
});
