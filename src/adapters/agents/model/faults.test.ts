/** Tests model calls under faults: rate limits, server errors, cut or endless answers, wrong keys, fallbacks. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { failureOf, JOB, textOf, workAsk } from "../../../../test/contracts/agent.ts";
import {
  type Answerer,
  overloaded,
  quotaExhausted,
  type Reply,
  rateLimited,
  serverError,
  type WireName,
  wrongKey,
} from "../../../../test/support/model-server/model-server.ts";
import { KEY, type ModelTurns, modelTurns, type TurnOptions } from "../../../../test/support/model-turns.ts";

const NEVER = new AbortController().signal;
const HANDOFF: Reply = { tools: [{ name: "handoff", input: { status: "complete", summary: "made it" } }] };
const WIRES: readonly WireName[] = ["openai-chat", "openai-responses", "anthropic"];
const inOrder = (...replies: readonly Reply[]): Answerer => {
  let n = 0;
  return () => replies[Math.min(n++, replies.length - 1)]!;
};
const turnOf = (turns: ModelTurns, ask = {}, signal = NEVER) =>
  turns.agent.turn({ ...workAsk(turns.folder), ...ask }, signal);

/** Runs the same turn, in which the model's first answers are these. */
async function after(
  replies: readonly Reply[],
  options: TurnOptions,
  see: (turns: ModelTurns) => Promise<void>,
) {
  await using turns = await modelTurns(inOrder(...replies, HANDOFF), options);
  await see(turns);
  assert.equal(turns.governor.open, 0, "every call that was admitted is settled");
}

it("tells people of a server that fails twice in a row, and that it answers again; once is no news", async () => {
  const toldAfter = async (...replies: readonly Reply[]) => {
    const told: (string | undefined)[] = [];
    await after(replies, {}, async (turns) => {
      await turnOf(turns, { onSlow: (doing: string | undefined) => told.push(doing) });
    });
    return told;
  };
  const broken = serverError("openai-chat");
  assert.deepEqual(await toldAfter(broken), [undefined]);
  const [first, ...rest] = await toldAfter(broken, broken, broken);
  assert.match(first ?? "", /HTTP 500/);
  assert.deepEqual(rest, [undefined]);
});

for (const wire of WIRES)
  describe(`a model with faults on the wire ${wire}`, () => {
    it("is called again after a rate limit, once the account is free, at no cost", async () => {
      const now = Date.now();
      const limited = rateLimited(wire, { retryAfterSeconds: 20 });
      await after([limited], { wire, now: () => now }, async (turns) => {
        const said = await turnOf(turns);
        assert.match(textOf(said), /made it/);
        const [{ account, why }] = turns.governor.refused as [(typeof turns.governor.refused)[0]];
        assert.equal(account, turns.governor.admitted[0]?.accounts[0]);
        assert.deepEqual([why.kind, why.until, why.account], ["quota", now + 20_000, account]);
        assert.deepEqual(turns.governor.settled[0], { tokens: 0, microdollars: 0 });
        assert.equal(said.spent?.tokens, turns.server.tokens().input + turns.server.tokens().output);
        assert.equal(said.spent?.unaccounted, undefined);
        assert.deepEqual(turns.waits, []);
      });
    });

    it("says until when a quota is spent, if the provider did", async () => {
      const resetAt = Math.ceil(Date.now() / 60_000) * 60_000 + 3_600_000;
      await after([quotaExhausted(wire, { resetAt }), quotaExhausted(wire)], { wire }, async (turns) => {
        await turnOf(turns);
        assert.deepEqual(
          turns.governor.refused.map(({ why }) => [why.kind, why.until]),
          [
            ["quota", resetAt],
            ["quota", undefined],
          ],
        );
      });
    });

    it("ends at once with a wrong key, and nobody reads the key", async () => {
      await after([wrongKey(wire)], { wire }, async (turns) => {
        const why = failureOf(await turnOf(turns));
        assert.equal(why.kind, "authentication");
        assert.match(why.message, /refused the key \(HTTP 401\)/);
        assert.equal(turns.server.calls.length, 1);
      });
    });

    it("is tried again after errors of the server, later each time", async () => {
      const replies = [serverError(wire), overloaded(wire), serverError(wire)];
      await after(replies, { wire }, async (turns) => {
        assert.match(textOf(await turnOf(turns)), /made it/);
        assert.deepEqual(turns.waits, [2_000, 4_000, 8_000]);
      });
    });

    it("cannot be reached after seven errors in a row, which nobody pays for", async () => {
      await using turns = await modelTurns(inOrder(serverError(wire)), { wire });
      const said = await turnOf(turns);
      assert.equal(failureOf(said).kind, "agent-unreachable");
      assert.equal(turns.server.calls.length, 7);
      assert.deepEqual(turns.waits, [2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
      assert.deepEqual([said.spent?.tokens, said.spent?.unaccounted], [0, undefined]);
    });

    it("is asked again when its answer is cut off, which is charged as it was set aside", async () => {
      const cut: Reply = {
        fault: { is: "cut", afterPieces: 2, reply: { text: "I was about to say something." } },
      };
      await after([cut], { wire }, async (turns) => {
        const said = await turnOf(turns);
        assert.match(textOf(said), /made it/);
        const set = turns.governor.admitted[0]?.most.tokens;
        assert.deepEqual(said.spent?.unaccounted, {
          calls: 1,
          tokens: set,
          ...known(said.spent?.unaccounted),
        });
        assert.deepEqual(turns.governor.settled[0], "unknown");
        assert.equal(said.spent?.tokens, turns.server.tokens().input + turns.server.tokens().output);
        assert.doesNotMatch(JSON.stringify(turns.server.calls[1]?.messages), /about to say/);
      });
    });

    it("is asked again when it wrote what is no JSON", async () => {
      await after([{ fault: { is: "garbage" } }], { wire }, async (turns) => {
        assert.match(textOf(await turnOf(turns)), /made it/);
        assert.equal(turns.server.calls.length, 2);
      });
    });

    it("is asked again when an error comes in the middle of its answer", async () => {
      const body =
        wire === "anthropic"
          ? { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
          : { error: { message: "The server had an error", type: "server_error", code: null, param: null } };
      const fault = {
        is: "error-event",
        afterPieces: 2,
        body,
        reply: { text: "I was about to say." },
      } as const;
      await after([{ fault }], { wire }, async (turns) => {
        assert.match(textOf(await turnOf(turns)), /made it/);
        assert.equal(turns.server.calls.length, 2);
      });
    });

    it("is cut off when it does not stop writing", async () => {
      await using turns = await modelTurns(() => ({ fault: { is: "endless", maxBytes: 40_000_000 } }), {
        wire,
      });
      const said = await turnOf(turns);
      assert.equal(failureOf(said).kind, "agent-failed");
      assert.match(failureOf(said).message, /wrote more than \d+ characters/);
      assert.equal(said.spent?.unaccounted?.calls, 1);
    });

    it("may be slow", async () => {
      const fault = { is: "drip", ms: 5, reply: HANDOFF } as const;
      await using turns = await modelTurns(() => ({ fault }), { wire, limits: { maxSilenceMs: 5_000 } });
      assert.match(textOf(await turnOf(turns)), /made it/);
    });
  });

const known = (amount: { readonly microdollars?: number } | undefined) =>
  amount?.microdollars === undefined ? {} : { microdollars: amount.microdollars };

describe("a model that hangs", () => {
  it("is cut off and asked again when it is silent for long", async () => {
    await after([{ fault: { is: "hang" } }], { limits: { maxSilenceMs: 300 } }, async (turns) => {
      const said = await turnOf(turns);
      assert.match(textOf(said), /made it/);
      assert.equal(said.spent?.unaccounted?.calls, 1);
    });
  });

  it("ends when it is told to, and what it may have cost is known", async () => {
    await using turns = await modelTurns(() => ({ fault: { is: "hang" } }));
    const stop = new AbortController();
    const ended = turnOf(turns, {}, stop.signal);
    await turns.server.waitForCall(1);
    stop.abort();
    const said = await ended;
    assert.equal(failureOf(said).kind, "interrupted");
    assert.equal(said.spent?.unaccounted?.tokens, turns.governor.admitted[0]?.most.tokens);
    assert.deepEqual(turns.governor.settled, ["unknown"]);
    const collected = await turns.again().collect(JOB);
    assert.deepEqual(collected, { is: "cut", spent: said.spent });
  });

  it("has only so much time, and waiting for a quota does not count", async ({ mock }) => {
    await using turns = await modelTurns(inOrder(HANDOFF));
    const { admit } = turns.governor;
    const maxMs = 60_000;
    mock.timers.enable({ apis: ["setTimeout"] });
    const governor = Object.assign(turns.governor, {
      admit: async (call: Parameters<typeof admit>[0]) => {
        mock.timers.tick(2 * maxMs);
        return admit(call);
      },
    });
    const said = await turns.again({ governor }).turn({ ...workAsk(turns.folder), maxMs }, NEVER);
    mock.timers.reset();
    assert.match(textOf(said), /made it/);
    await using hung = await modelTurns(() => ({ fault: { is: "hang" } }));
    assert.equal(failureOf(await turnOf(hung, { maxMs: 300 })).kind, "timed-out");
  });
});

describe("a model with others that can stand in", () => {
  const fallbacks = [{ provider: "other", model: "o", keyVariable: "TEST_KEY" }];

  it("is replaced while its quota is spent", async () => {
    const answer: Answerer = ({ model }) => (model === "m" ? rateLimited("openai-chat") : HANDOFF);
    await using turns = await modelTurns(answer, { fallbacks });
    const said = await turnOf(turns);
    assert.equal(said.spent?.turn?.model, "other/o");
    assert.deepEqual(
      turns.server.calls.map((call) => call.model),
      ["m", "o"],
    );
    assert.deepEqual(
      turns.governor.admitted[0]?.accounts.map((account) => account.split(" ")[0]),
      ["mine", "other"],
    );
  });

  it("is given up by its turn when it is refused again and again, whatever the governor makes of it", async () => {
    await using turns = await modelTurns(() => rateLimited("openai-chat"));
    const why = failureOf(await turnOf(turns));
    assert.deepEqual([why.kind, turns.server.calls.length], ["quota", 51]);
  });

  it("is not replaced when its key is wrong: a person must hear of it", async () => {
    const answer: Answerer = ({ model }) => (model === "m" ? wrongKey("openai-chat") : HANDOFF);
    await using turns = await modelTurns(answer, { fallbacks });
    assert.equal(failureOf(await turnOf(turns)).kind, "authentication");
    assert.equal(turns.server.calls.length, 1);
    assert.equal(turns.governor.refused[0]?.why.kind, "authentication");
  });
});

describe("a conversation that is too long for its model", () => {
  it("is cut and tried again: old results go, with a stated cut", async () => {
    const tooLong: Reply = {
      fault: {
        is: "status",
        status: 400,
        body: {
          error: {
            message: "This model's maximum context length is 8192 tokens.",
            code: "context_length_exceeded",
          },
        },
      },
    };
    const answer: Answerer = (call) => {
      if (JSON.stringify(call.body).length > 60_000) return tooLong;
      const results = call.messages.filter((message) => message.role === "tool").length;
      return results < 4
        ? { tools: [{ name: "bash", input: { command: "head -c 20000 /dev/zero | tr '\\0' x" } }] }
        : HANDOFF;
    };
    await using turns = await modelTurns(answer);
    assert.match(textOf(await turnOf(turns)), /made it/);
    const last = turns.server.calls.at(-1)!;
    const results = last.messages.flatMap((message) => message.toolResults.map((result) => result.text));
    assert.match(results[0]!, /more characters were left out to make room/);
    assert.ok(results.at(-1)!.length > 15_000);
  });

  it("fails in words if it cannot be made short enough", async () => {
    const body = { error: { message: "prompt is too long", type: "invalid_request_error" } };
    await using turns = await modelTurns(() => ({ fault: { is: "status", status: 400, body } }));
    const why = failureOf(await turnOf(turns));
    assert.deepEqual([why.kind, /too long/.test(why.message)], ["agent-failed", true]);
    assert.equal(turns.server.calls.length, 4);
  });
});

it("says of a quota what the provider said, but no key in it", async () => {
  const body = { error: { message: `the limit of ${KEY} is reached`, code: "rate_limit_exceeded" } };
  const redact = (text: string) => text.replaceAll(KEY, "***");
  await after([{ fault: { is: "status", status: 429, body } }], { redact }, async (turns) => {
    await turnOf(turns);
    assert.match(turns.governor.refused[0]!.why.message, /the limit of \*\*\* is reached/);
  });
});

it("writes down what a call may cost before it is made", async () => {
  const files: string[] = [];
  const file = () => readFileSync(path.join(turns.home, "turns", "work-t.1-1.cost.jsonl"), "utf8");
  await using turns: ModelTurns = await modelTurns(() => {
    files.push(file());
    return HANDOFF;
  });
  await turnOf(turns);
  assert.match(files[0]!, /^\{"is":"opened","call":1,"model":"mine\/m","tokens":\d+,"at":\d+\}\n$/);
  assert.equal(file().trim().split("\n").length, 2);
});
