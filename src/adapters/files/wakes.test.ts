/** Tests that a reader of a log is woken when the file changes, without the polling timer, which is stopped here. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { Wakes } from "./wakes.ts";

const never = () => new AbortController().signal;
const MAX = { timeout: 10_000 };

describe("a wake", () => {
  it("comes at once for a change while nobody waited", MAX, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const file = path.join(newFolder(), "events.db");
    const [early, late] = [new Wakes(file), new Wakes(file)];
    const seen = late.next(never());
    writeFileSync(`${file}-wal`, "x");
    await seen; // Both watch one folder, so the other has been notified as well.
    await early.next(never());
    early.close();
    late.close();
  });

  it("comes at once for one who was stopped", MAX, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const wakes = new Wakes(path.join(newFolder(), "events.db"));
    await wakes.next(AbortSignal.abort());
    wakes.close();
  });

  it("comes for a folder that was made later, from the next wait on", MAX, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const file = path.join(newFolder(), "later", "events.db");
    const wakes = new Wakes(file);
    mkdirSync(path.dirname(file));
    const woken = wakes.next(never());
    writeFileSync(file, "x");
    await woken;
    wakes.close();
  });

  it("does not come for another file of the folder", MAX, async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const folder = newFolder();
    const [ours, theirs] = [new Wakes(path.join(folder, "events.db")), new Wakes(path.join(folder, "other"))];
    let woken = 0;
    const next = ours.next(never()).then(() => {
      woken += 1;
    });
    const seen = theirs.next(never());
    writeFileSync(path.join(folder, "other"), "x");
    await seen;
    assert.equal(woken, 0);
    t.mock.timers.tick(1_000);
    await next;
    assert.equal(woken, 1, "the safety net");
    ours.close();
    theirs.close();
  });
});
