/** Tests a single call of a model: one that is stopped before it begins, and answers that trickle too slowly. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Model } from "../../models/providers.ts";
import { callOnce } from "./call-once.ts";

it("ends quietly when it is told to stop before it begins", async () => {
  const rejected: unknown[] = [];
  const note = (why: unknown) => void rejected.push(why);
  process.on("unhandledRejection", note);
  const model = {
    account: "a",
    id: "p/m",
    maxOutputTokens: 10,
    // Rejects later, as an aborted fetch does.
    open: async () => ({
      doStream: ({ abortSignal }: { readonly abortSignal: AbortSignal }) => gone(abortSignal),
    }),
  };
  const parts = { maxSilenceMs: 1_000, now: Date.now, onSign: () => {}, onPart: () => {} };
  try {
    const end = await callOnce(model as never as Model, { prompt: [] }, parts, AbortSignal.abort());
    assert.equal(end.is, "problem");
    await turn();
    await turn();
    assert.deepEqual(rejected, []);
  } finally {
    process.off("unhandledRejection", note);
  }
});

it("says that an answer only trickles, and not of one that is written as fast as models write", async () => {
  const said = async (chars: number) => {
    let at = 0;
    const heard: unknown[] = [];
    const stream = new ReadableStream({
      start: (to) => {
        for (let i = 0; i < 8; i += 1) to.enqueue({ type: "text-delta", id: "a", delta: "x".repeat(chars) });
        to.close();
      },
    });
    const model = {
      ...{ account: "a", id: "p/m", maxOutputTokens: 1_000 },
      open: async () => ({ doStream: async () => ({ stream }) }),
    };
    const now = () => {
      at += 10_000;
      return at;
    };
    const parts = { maxSilenceMs: 1_000, now, onSign: () => {}, onPart: () => {} };
    const onSlow = (doing: string | undefined) => heard.push(doing);
    await callOnce(model as never as Model, { prompt: [] }, { ...parts, onSlow }, NEVER);
    return new Set(heard);
  };
  assert.deepEqual(await said(3), new Set(["p/m answers very slowly"]));
  assert.deepEqual(await said(300), new Set());
});

const NEVER = new AbortController().signal;

async function gone(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}
