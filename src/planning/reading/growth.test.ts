import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/support/cpu.ts";
import { WORDS } from "../../../test/support/reading.ts";
import { scoreOf } from "../rules/score.ts";
import { readRequest } from "./read-request.ts";

const read = (text: string) => scoreOf(readRequest(text, WORDS), WORDS);

const HOSTILE: readonly string[] = [
  ",",
  "and ",
  "(",
  "()",
  '"',
  "'a ",
  "` ",
  "add ",
  "add a, ",
  "x with ",
  "a: ",
  "- a\n",
  "- add a\n",
  "<!--\n",
  "fix it then ",
  "finally fix it. ",
  "after fixing a, fix b. ",
  "fix x. once x is done, fix y. ",
  "don't do and ",
  "a.",
  "a/",
  "| ",
  "\u0301",
  "the app ",
  '"""\n',
  "when ",
];

const repeated = (unit: string, chars: number) => unit.repeat(Math.floor(chars / unit.length));

for (const unit of HOSTILE) {
  test(`the time for ${JSON.stringify(unit)} over and over grows with the text, not with its square`, () => {
    // Alone, and as what follows a verb.
    const both = (chars: number) => [read(repeated(unit, chars)), read(`fix a ${repeated(unit, chars)}b`)];
    const small = leastMs(() => both(2_500));
    const large = leastMs(() => both(19_990));
    // Eight times the text: 8 times as long, or 64 times if it were the square. Half a ms, for the clock.
    assert.ok(large < 32 * (small + 0.5), `${small} ms became ${large} ms`);
  });
}

test("a megabyte takes no longer than what is read of it", () => {
  const small = leastMs(() => read(repeated("fix a, ", 20_000)));
  const large = leastMs(() => read(repeated("fix a, ", 1_000_000)));
  assert.ok(large < 3 * small + 5, `${small} ms became ${large} ms`);
});

function leastMs(run: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const start = cpuMs();
    run();
    return cpuMs() - start;
  });
  return Math.min(...times);
}

test("whatever is written is read without a throw, within the limits, and each waits for earlier ones", () => {
  const pieces = [
    ...HOSTILE,
    "Fix ",
    "the bug",
    ". ",
    "\n",
    "\n\n",
    "# ",
    "1. ",
    "```\n",
    "`",
    "src/a.ts",
    "Before ",
  ];
  const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 8 }));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
      const { clauses, text } = readRequest(parts.join(""), WORDS);
      assert.ok(text.isWellFormed());
      clauses.forEach(({ after, items, itemsAre }, index) => {
        assert.ok(after.every((one) => one < index));
        assert.equal(itemsAre !== undefined, items.length > 0);
      });
    }),
    { numRuns: 500 },
  );
});
