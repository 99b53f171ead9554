import assert from "node:assert/strict";
import { test } from "node:test";
import { LiveArea } from "./live-area.ts";

const ESCAPE = "\u001b";

/** What a terminal of `columns` columns shows after what was written: enough of one for what we use. */
class Screen {
  columns = 20;
  readonly #lines: string[] = [""];

  readonly size = () => ({ columns: this.columns, rows: 10 });
  readonly hasColours = false;
  readonly write = (text: string): void => {
    for (const part of text.replaceAll(ESCAPE, "<").split(/(\r?<\[\d*[AJ]|\n)/)) this.#put(part);
  };

  get lines(): readonly string[] {
    return this.#lines.slice(0, -1);
  }

  #put(part: string): void {
    const up = /<\[(\d+)A/.exec(part)?.[1];
    if (part === "\n") this.#lines.push("");
    else if (up !== undefined) this.#lines.splice(-1 - Number(up), Number(up) + 1, "");
    else if (!part.endsWith("J")) this.#lines[this.#lines.length - 1] += part;
  }
}

test("lines stay above the area, which is replaced", () => {
  const screen = new Screen();
  const area = new LiveArea(screen);
  area.show(["working", "0 done"]);
  area.print("first");
  area.show(["1 done"]);
  area.print("second");
  assert.deepEqual(screen.lines, ["first", "second", "1 done"]);
  area.clear();
  assert.deepEqual(screen.lines, ["first", "second"]);
});

test("a line of the area never takes two rows", () => {
  const screen = new Screen();
  new LiveArea(screen).show(["x".repeat(50), "日".repeat(30)]);
  assert.deepEqual(screen.lines, [`${"x".repeat(18)}…`, `${"日".repeat(9)}…`]);
});

test("the area is cut to the height of the terminal", () => {
  const screen = new Screen();
  new LiveArea(screen).show(Array.from({ length: 50 }, (_, i) => `line ${i}`));
  assert.equal(screen.lines.length, 9);
});

test("nothing is written when nothing changed", () => {
  let writes = 0;
  const area = new LiveArea({
    hasColours: false,
    size: () => ({ columns: 80, rows: 24 }),
    write: () => {
      writes += 1;
    },
  });
  area.show(["a"]);
  area.show(["a"]);
  assert.equal(writes, 1);
});

test("an area that a narrower terminal has folded is erased whole", () => {
  const written: string[] = [];
  let columns = 40;
  const area = new LiveArea({
    hasColours: false,
    size: () => ({ columns, rows: 24 }),
    write: (t) => written.push(t),
  });
  area.show(["x".repeat(30), "y"]);
  columns = 20;
  area.clear();
  assert.equal(written.at(-1), "\r\u001b[3A\u001b[J");
});
