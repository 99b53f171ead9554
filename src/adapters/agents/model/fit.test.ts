/** Tests how a conversation that is too long for its model is cut. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelMessage } from "ai";
import { estimateTokens, fitted } from "./fit.ts";

const step = (n: number, chars: number): ModelMessage[] => [
  {
    role: "assistant",
    content: [
      {
        type: "tool-call",
        toolCallId: `${n}`,
        toolName: "write",
        input: { path: "a", content: "y".repeat(chars) },
      },
    ],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: `${n}`,
        toolName: "write",
        output: { type: "text", value: "x".repeat(chars) },
      },
    ],
  },
];
const talk = (steps: number, chars: number): ModelMessage[] => [
  { role: "user", content: "do it" },
  ...Array.from({ length: steps }, (_, n) => step(n, chars)).flat(),
];

describe("a conversation that must fit", () => {
  it("is left as it is while there is room", () => {
    const messages = talk(5, 3_000);
    assert.equal(fitted(messages, estimateTokens(messages)), messages);
  });

  it("loses the oldest results and arguments, with a stated cut, and nothing of its newest step", () => {
    const messages = talk(10, 3_000);
    const room = estimateTokens(messages) - 1;
    const short = fitted(messages, room);
    assert.ok(estimateTokens(short) <= room * 0.6 + 1_000);
    assert.match(JSON.stringify(short[1]), /2600 more characters were left out to make room/);
    assert.match(JSON.stringify(short[2]), /left out to make room; call the tool again/);
    assert.deepEqual(short.slice(-2), messages.slice(-2));
    assert.deepEqual(short[0], messages[0]);
  });

  it("stays as it was cut, so that the provider's cache can be used", () => {
    const messages = talk(10, 3_000);
    const room = estimateTokens(messages) - 1;
    const short = fitted(messages, room);
    assert.equal(
      fitted([...short, ...step(10, 3_000)], room)
        .slice(0, short.length)
        .every((m, i) => m === short[i]),
      true,
    );
  });

  it("cannot lose what people said, nor short results", () => {
    const messages = talk(3, 100);
    assert.deepEqual(fitted(messages, 10), messages);
  });
});
