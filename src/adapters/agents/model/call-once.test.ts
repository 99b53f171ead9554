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
    // As fetch does, in its own time.
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

async function gone(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}
