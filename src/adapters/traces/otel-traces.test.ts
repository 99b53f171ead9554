/** Tests that a run's spans are sent while it goes on, after a restart, and after an outage of the collector. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { it } from "node:test";
import { CoreRun, task } from "../../../test/support/core-run.ts";
import { type ReceivedSpan, readOtlp, startReceiver } from "../../../test/support/otlp-receiver.ts";
import type { Event } from "../../core/log/event.ts";
import type { RunHome } from "../../ports/runs.ts";
import { LiveTrace, traceDocument } from "./otel-traces.ts";
import { traceSettings } from "./settings.ts";

/** An in-memory log that can be followed, and a folder without files. */
class TestHome {
  readonly events: Event[] = [];
  readonly #more = new EventTarget();
  readonly folder: string;
  readonly record = { run: "1115-k7qd" } as RunHome["record"];

  constructor(folder: string) {
    this.folder = folder;
  }

  add(events: readonly Event[]): void {
    this.events.push(...events);
    this.#more.dispatchEvent(new globalThis.Event("more"));
  }

  readonly log = {
    read: (after: number) => this.#read(after),
    follow: (after: number, signal: AbortSignal) => this.#follow(after, signal),
  };

  async *#read(after: number) {
    yield* this.events.slice(after);
  }

  async *#follow(after: number, signal: AbortSignal) {
    for (let n = after; !signal.aborted; ) {
      if (n < this.events.length) yield this.events[n++]!;
      else await once(this.#more, "more", { signal }).catch(() => {});
    }
  }
}

async function makeHome() {
  const folder = await mkdtemp(path.join(tmpdir(), "skein-traces-"));
  const home = new TestHome(folder);
  const remove = () => rm(folder, { recursive: true });
  return { home, asHome: home as unknown as RunHome, [Symbol.asyncDispose]: remove };
}

function wholeRun(): readonly Event[] {
  const run = CoreRun.planned([task("a"), task("b")]);
  run.work("t.1", { spent: { tokens: 5 } });
  run.fail("work", "t.2");
  run.wait(60_000);
  run.work("t.2", { spent: { tokens: 6 } });
  run.say({ type: "cancel" });
  run.land();
  return run.log.map((event) => ({ ...event, at: event.at + 1_794_000_000_000 }));
}

const ids = (spans: readonly ReceivedSpan[]) => spans.map(({ spanId }) => spanId).sort();
const settingsFor = (url: string, more: object = {}) =>
  traceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...more })!;
const fail = (text: string) => assert.fail(text);

it("goes on with the same trace after a restart, and sends no span twice", async () => {
  const events = wholeRun();
  for (let cut = 1; cut < events.length; cut += 3) {
    await using place = await makeHome();
    await using receiver = await startReceiver();
    const { home, asHome } = place;
    const parts = { home: asHome, redact: undefined };
    const first = new LiveTrace({ ...parts, after: 0 }, settingsFor(receiver.url), fail);
    home.add(events.slice(0, cut));
    await first.end();
    const second = new LiveTrace({ ...parts, after: cut }, settingsFor(receiver.url), fail);
    home.add(events.slice(cut));
    await second.end();
    const { document } = await traceDocument(parts, { "service.name": "skein" });
    const all = readOtlp(document);
    assert.equal(events.at(-1)?.type, "run.closed");
    assert.deepEqual(ids(receiver.spans), ids(all), `cut after ${cut}`);
  }
});

it("sends while the run goes on, and after the collector has come back", async () => {
  await using place = await makeHome();
  const { home, asHome } = place;
  const busy = await startReceiver(503);
  const warnings: string[] = [];
  const soon = settingsFor(busy.url, { OTEL_BSP_SCHEDULE_DELAY: "5" });
  const live = new LiveTrace({ home: asHome, redact: undefined, after: 0 }, soon, (text) =>
    warnings.push(text),
  );
  const events = wholeRun();
  home.add(events.slice(0, -1));
  await busy.asked();
  await busy[Symbol.asyncDispose]();
  await using back = await startReceiver(undefined, Number(new URL(busy.url).port));
  home.add(events.slice(-1));
  await back.asked();
  await live.end();
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]!, /status 503.*skein trace 1115-k7qd/);
  const { document } = await traceDocument({ home: asHome, redact: undefined }, {});
  assert.deepEqual(ids(back.spans), ids(readOtlp(document)));
});
