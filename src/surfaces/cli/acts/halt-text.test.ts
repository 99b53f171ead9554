/** Tests what is said, and which exit code is used, when a run stops by itself. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../../../test/support/core-run.ts";
import { readConfig } from "../../../config/index.ts";
import { failure } from "../../../core/failure.ts";
import { evolve } from "../../../core/log/evolve.ts";
import { nothingSeen, see, viewOf } from "../../../core/view/view.ts";
import type { Context } from "../context.ts";
import { processInput } from "../input.ts";
import { sayHalt } from "./halt-text.ts";

const HOUR = 3_600_000;

function configured(...sets: readonly string[]) {
  const read = readConfig({ env: {}, sets, flags: {} });
  assert.ok("config" in read);
  return read.config;
}

/** A run with two ready tasks, whose only account is rate limited until then. */
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
    input: processInput,
    said: () => text,
  };
}

it("a run that is rate limited for longer than quota.wait exits with 75, and says how to go on", () => {
  const { state, story, now } = parked(13 * HOUR);
  const here = context(now);
  const halt = { is: "parked", accounts: ["agent"], until: 13 * HOUR } as const;
  assert.equal(sayHalt(here, halt, viewOf({ state, story }), configured()), 75);
  assert.match(here.said(), /^skein: agent is rate limited until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(in 1\d h/);
  assert.match(here.said(), /quota\.wait is 12h/);
  assert.match(here.said(), /^try: skein resume r\S* after .*; or skein resume r\S* --set quota\.wait=13h/m);
});

describe("a run whose set-up has failed", () => {
  it("stops at once with 3, and keeps the tool's lines and those that would fix it", () => {
    const { state, story, now } = parked(HOUR);
    const next = "add to skein.yaml:\n  workspace:\n    setup: npm ci";
    const why = failure("setup", "npm test cannot be run in /w:\nsh: mocha: not found", next);
    const here = context(now);
    assert.equal(sayHalt(here, { is: "setup", failure: why }, viewOf({ state, story }), configured()), 3);
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
    const halt = { is: "refused", account: "anthropic", failure: why } as const;
    const here = context(now);
    const config = configured("model=anthropic/claude-sonnet-4-5");
    assert.equal(sayHalt(here, halt, viewOf({ state, story }), config), 5);
    assert.match(here.said(), /^skein: the credentials of anthropic were refused: 401: invalid x-api-key/);
    assert.match(here.said(), /^try: set ANTHROPIC_API_KEY to a key that works, then skein resume r/m);
  });

  it("says where the credentials of each kind of agent are seen to", () => {
    const { state, story, now } = parked(HOUR);
    const view = viewOf({ state, story });
    const next = (account: string, config: ReturnType<typeof configured>) => {
      const here = context(now);
      sayHalt(here, { is: "refused", account, failure: failure("authentication", "401") }, view, config);
      return here.said();
    };
    const own = "agent={kind: model, provider: openai, model: m, key: MY_KEY}";
    assert.match(next("openai MY_KEY", configured(own)), /^try: set MY_KEY to a key that works,/m);
    const config = configured("agent=opencode", "fallback=google/gemini-2.5-pro");
    assert.match(next("opencode", config), /^try: log in with opencode itself/m);
    assert.match(next("google", config), /^try: set GEMINI_API_KEY to a key that works,/m);
    assert.match(next("else", config), /^try: fix the credentials of else,/m);
  });
});
