/** Tests how a run is shown while it goes on: as JSON, or as lines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CoreRun, task } from "../../../../test/support/core-run.ts";
import type { Event } from "../../../core/log/event.ts";
import { nothingSeen, type Seen, see } from "../../../core/view/view.ts";
import type { Context } from "../context.ts";
import { processInput } from "../input.ts";
import { startProgress } from "./progress.ts";

function showEvent(progress: ReturnType<typeof startProgress>, seen: Seen, event: Event): void {
  const { state } = see(seen, event);
  progress.fold(event, state);
  progress.watch(event, state);
}

/** The output for a small run in one of these forms. */
function shown(way: { readonly json?: boolean }): string {
  const run = CoreRun.planned([task("a")]);
  run.finish("t.1");
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  const out = { write, hasColours: false };
  const context: Context = {
    out,
    err: out,
    json: way.json === true,
    env: {},
    folder: "/",
    command: "skein",
    now: () => 0,
    input: processInput,
  };
  const progress = startProgress(context, { hasPlanner: true });
  const seen = nothingSeen();
  progress.show(run.policy);
  for (const event of run.log) showEvent(progress, seen, event);
  progress.say("a word of its own");
  progress.end();
  return written;
}

test("with JSON every event is a line, and nothing else is written", () => {
  const types = shown({ json: true })
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  assert.equal(types[0], "run.opened");
  assert.ok(types.includes("batch.landed"));
});

test("without a terminal there are lines with times, and no escape sequences", () => {
  const text = shown({});
  assert.match(text, /^\d\d:\d\d:\d\d {2}a landed as commit-1$/m);
  assert.match(text, /^a word of its own$/m);
  assert.ok(!text.includes("\u001b"));
});

for (const isTerminal of [true, false])
  test(`what a run waits for is said, with the moment: ${isTerminal ? "on a terminal" : "in lines"}`, (t) => {
    t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
    let written = "";
    const write = (text: string) => {
      written += text;
    };
    const size = () => ({ columns: 100, rows: 24 });
    const out = { write, hasColours: false, ...(isTerminal ? { size } : {}) };
    const run = CoreRun.planned([task("a")], {
      retry: { firstMs: 60_000, maxMs: 60_000, jitter: 0 } as never,
    });
    run.fail("work", "t.1", "agent-unreachable");
    const context = {
      out,
      err: out,
      json: false,
      env: {},
      folder: "/",
      command: "skein",
      now: () => 0,
      input: processInput,
    };
    const progress = startProgress(context, { hasPlanner: true });
    const seen = nothingSeen();
    progress.show(run.policy);
    for (const event of run.log) showEvent(progress, seen, event);
    t.mock.timers.tick(1_000);
    assert.match(written, /waiting: a is retried in .+, at \d\d:\d\d:\d\d/);
    progress.end();
  });
