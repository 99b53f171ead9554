/** Tests the ledger of a turn: sums, unknown prices, and files that a kill cut short. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../../test/support/folders.ts";
import { Ledger, readLedger } from "./ledger.ts";

const fileOf = () => path.join(newFolder(), "turns", "a.cost.jsonl");
const cost = (more: Partial<Parameters<Ledger["ended"]>[1]> = {}): Parameters<Ledger["ended"]>[1] => ({
  ...{
    input: 100,
    output: 10,
    cacheRead: 0,
    cacheWrite: 0,
    microdollars: 5,
    toolCalls: 1,
    stop: "tool-calls",
  },
  ...more,
});
const most = { model: "a/b", tokens: 1_000, microdollars: 50 };

describe("the ledger of a turn", () => {
  it("sums what was answered, and charges what was cut off as it was set aside", async () => {
    const file = fileOf();
    const ledger = await Ledger.open(file);
    await ledger.ended(await ledger.opened(most), cost());
    await ledger.refused(await ledger.opened(most));
    await ledger.unknown(await ledger.opened(most));
    await ledger.ended(await ledger.opened({ ...most, model: "c/d" }), cost({ stop: "stop" }));
    await ledger.opened(most);
    const expected = {
      tokens: 220,
      microdollars: 10,
      unaccounted: { calls: 2, tokens: 2_000, microdollars: 100 },
      turn: { model: "a/b", calls: 2, toolCalls: 2, inputTokens: 200, outputTokens: 20, stop: "stop" },
    };
    assert.deepEqual(ledger.spent(), expected);
    await ledger.close();
    assert.deepEqual(await readLedger(file), expected);
  });

  it("knows no sum of money if one price is not known", async () => {
    const ledger = await Ledger.open(fileOf());
    await ledger.ended(await ledger.opened(most), cost());
    const { microdollars: _, ...unpriced } = cost();
    await ledger.ended(await ledger.opened(most), unpriced);
    await ledger.opened({ model: "a/b", tokens: 7 });
    await ledger.opened(most);
    await ledger.close();
    assert.deepEqual(
      [ledger.spent().microdollars, ledger.spent().unaccounted],
      [undefined, { calls: 2, tokens: 1_007 }],
    );
  });

  it("is read wherever a kill cut it short", async () => {
    const file = fileOf();
    const ledger = await Ledger.open(file);
    await ledger.ended(await ledger.opened(most), cost());
    await ledger.opened(most);
    await ledger.close();
    const whole = readFileSync(file, "utf8");
    const [first = "", second = ""] = whole.split("\n");
    for (let length = 0; length <= whole.length; length += 1) {
      writeFileSync(file, whole.slice(0, length));
      const spent = await readLedger(file);
      const lines = [first, `${first}\n${second}`, whole.trimEnd()].filter(
        (text) => text.length <= length,
      ).length;
      assert.equal(spent?.tokens, [undefined, 0, 110, 110][lines], `${length}`);
      assert.equal(spent?.unaccounted?.calls, [undefined, 1, undefined, 1][lines], `${length}`);
    }
  });

  it("is none where no call was opened, or no file is", async () => {
    const file = fileOf();
    assert.equal(await readLedger(file), undefined);
    await (await Ledger.open(file)).close();
    assert.equal(await readLedger(file), undefined);
    writeFileSync(file, 'null\n7\n{"is":"opened"}\n{"is":"odd","call":1}\n');
    assert.equal(await readLedger(file), undefined);
  });
});
