/** Tests which lines of a text count as forgotten conflict markers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { cpuMs } from "../../test/support/cpu.ts";
import { conflictBlocks } from "./conflict-markers.ts";

const BLOCK = ["<<<<<<< HEAD", "a", "=======", "b", ">>>>>>> branch"];
const found = (...lines: readonly string[]) => conflictBlocks(lines.join("\n"));
const isFound = (...lines: readonly string[]) => found(...lines).length > 0;

describe("a conflict", () => {
  it("is all signs in order, with the lines where they stand", () => {
    assert.deepEqual(found("x", ...BLOCK, "y"), [{ first: 2, middle: 4, last: 6 }]);
    assert.deepEqual(found(...BLOCK, ...BLOCK), [
      { first: 1, middle: 3, last: 5 },
      { first: 6, middle: 8, last: 10 },
    ]);
  });

  it("may show the base between, and headings in its sides", () => {
    assert.ok(isFound("<<<<<<< HEAD", "a", "||||||| abc123", "c", "=======", "b", ">>>>>>> abc (a subject)"));
    assert.ok(isFound("<<<<<<< HEAD", "|||||||", "=======", "Title", "=======", ">>>>>>> x"));
    assert.deepEqual(found("<<<<<<< a", "<<<<<<< b", "=======", ">>>>>>> c"), [
      { first: 2, middle: 3, last: 4 },
    ]);
  });

  it("may end its lines as Windows does", () => {
    assert.deepEqual(conflictBlocks(BLOCK.join("\r\n")), [{ first: 1, middle: 3, last: 5 }]);
  });

  it("is not a heading, half of one, or signs in another order", () => {
    assert.ok(!isFound("Title", "=======", "text"));
    assert.ok(!isFound("<<<<<<< HEAD", ">>>>>>> branch"));
    assert.ok(!isFound("<<<<<<< HEAD", "=======", "b"));
    assert.ok(!isFound(">>>>>>> branch", "=======", "<<<<<<< HEAD"));
    assert.ok(!isFound("=======", "<<<<<<< HEAD", ">>>>>>> branch"));
    assert.ok(!isFound("<<<<<<< a", "||||||| b", "||||||| c", "=======", ">>>>>>> d"));
  });

  it("has seven signs at the start of the line, and a label on both sides", () => {
    for (const [at, line] of [
      [0, "<<<<<<<< HEAD"],
      [0, "<<<<<<HEAD"],
      [0, "<<<<<<<"],
      [0, "<<<<<<<  "],
      [0, " <<<<<<< HEAD"],
      [0, "// <<<<<<< HEAD"],
      [2, "========"],
      [2, "======= x"],
      [2, " ======="],
      [4, ">>>>>>>"],
      [4, ">>>>>>>branch"],
      [4, ">>>>>>>> branch"],
    ] as const) {
      assert.ok(!isFound(...BLOCK.with(at, line)), line);
    }
  });

  it("is not what stands in a text over several lines", () => {
    assert.ok(!isFound("const text = `", ...BLOCK, "`;"));
    assert.ok(!isFound('TEXT = """', ...BLOCK, '"""'));
    assert.ok(!isFound("TEXT = '''", ...BLOCK, "'''"));
    assert.ok(!isFound("say(", '"', ...BLOCK, '"', ");"));
    assert.ok(!isFound('let text = r#"', ...BLOCK, '"#;'));
    assert.ok(!isFound("cat > file <<-'END'", ...BLOCK, "END"));
    assert.ok(!isFound("text = <<~EOS", ...BLOCK, "  EOS"));
  });

  it("is not what stands in a comment over several lines", () => {
    assert.ok(!isFound("/* Such a file:", ...BLOCK, "*/", "f();"));
    assert.ok(!isFound("<!--", ...BLOCK, "-->"));
  });

  it("is what stands between texts and comments", () => {
    assert.ok(isFound("const a = `x`; /* one */", ...BLOCK, "/* two */ const b = `y`;"));
    assert.ok(isFound("/** one */", ...BLOCK, "/** two */"));
    assert.ok(isFound('const some = "src/*";', ...BLOCK, "f();"));
    assert.ok(isFound("f();", ...BLOCK, 'const some = "**/a";'));
    assert.ok(isFound("/* one", "*/", ...BLOCK, "f();"));
    assert.ok(isFound("// don't use ` here", ...BLOCK, "f();"));
    assert.ok(isFound("x = 1 << SIZE", ...BLOCK, "f();"));
    assert.ok(isFound("cat <<EOF", "EOF", ...BLOCK, "cat <<EOF", "EOF"));
  });

  it("is found in a long text without taking long", () => {
    const start = cpuMs();
    const many = Array.from({ length: 20_000 }, () => BLOCK).flat();
    assert.equal(found(...many).length, 20_000);
    found(`${"<<a".repeat(300_000)}`, ...BLOCK, `${'"'.repeat(1_000_000)}`, `${"\\`".repeat(500_000)}`);
    assert.ok(cpuMs() - start < 2_000);
  });
});
