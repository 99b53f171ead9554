/** Tests the names of output files, and which paths of a plan are accepted as such. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { outputNameIn, outputNames } from "./output-name.ts";

describe("an output file's name", () => {
  const NAMES: readonly [string, string][] = [
    ["Review code-cleanup-optimizer", "review_code-cleanup-optimizer.md"],
    ["Create project structure", "create_project_structure.md"],
    ["Fix   the\tlogin!", "fix_the_login.md"],
    ["../../etc/passwd", "etcpasswd.md"],
    ["--force", "force.md"],
    ["Überprüfe 登录", "überprüfe_登录.md"],
    ["हिन्दी", "हिन्दी.md"],
    ["CON", "task-con.md"],
    ["com1", "task-com1.md"],
    ["", "task.md"],
    ["…!?", "task.md"],
    ["__", "task.md"],
    ["a\u0000b\u202ec", "abc.md"],
    ["e\u0301", "é.md"],
  ];
  for (const [subject, name] of NAMES)
    it(`of ${JSON.stringify(subject)} is ${name}`, () => assert.deepEqual(outputNames([subject]), [name]));

  it("is given once, also where case does not count or a number is taken already", () => {
    assert.deepEqual(outputNames(["Fix it", "fix it!", "FIX IT", "fix it-2", "fix it"]), [
      "fix_it.md",
      "fix_it-2.md",
      "fix_it-3.md",
      "fix_it-2-2.md",
      "fix_it-4.md",
    ]);
  });

  it("fits into a file system in any script", () => {
    const names = outputNames(["字".repeat(500), "x".repeat(500), "𠀀".repeat(500)]);
    for (const name of names) {
      assert.ok([...name].length <= 83, name);
      assert.ok(Buffer.byteLength(name) <= 210 && name.isWellFormed(), name);
    }
  });

  it("is found for 100,000 equal subjects in no time", () => {
    const names = outputNames(Array.from({ length: 100_000 }, () => "Same"));
    assert.equal(new Set(names).size, 100_000);
    assert.equal(names.at(-1), "same-100000.md");
  });
});

describe("an output file in a plan", () => {
  const nameOf = (written: string, scratchpad?: string) => {
    const read = outputNameIn(written, scratchpad);
    return "name" in read ? read.name : read.problem;
  };

  it("is a name, or one in the scratchpad", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a shell writes it.
    for (const written of ["$CLAUDE_SCRATCHPAD_DIR/x.md", "${CLAUDE_SCRATCHPAD_DIR}/x.md", "x.md", " x.md "])
      assert.equal(nameOf(written), "x.md");
    assert.equal(nameOf("/tmp/pad/x.md", "/tmp/pad"), "x.md");
    assert.equal(nameOf("/tmp/pad/x.md", "/tmp/pad/"), "x.md");
  });

  for (const [written, why] of [
    ["/tmp/pad/x.md", "not directly in the scratchpad"],
    ["/tmp/other/x.md", "not directly in the scratchpad"],
    ["/tmp/padding/x.md", "not directly in the scratchpad"],
    ["$CLAUDE_SCRATCHPAD_DIR/a/x.md", "not directly in the scratchpad"],
    ["$CLAUDE_SCRATCHPAD_DIR/../x.md", "not directly in the scratchpad"],
    ["$CLAUDE_SCRATCHPAD_DIR/", "names no file"],
    ["$CLAUDE_SCRATCHPAD_DIR", "contains one of"],
    ["..", "starts with a dot"],
    [".git", "starts with a dot"],
    ["-rf", "starts with a dash"],
    ["a\nb.md", "control characters"],
    ["a\u202eb.md", "control characters"],
    ["nul.md", "device"],
    ["a|b.md", "contains one of"],
    ["x.".repeat(300), "bytes"],
  ] as const)
    it(`is not ${JSON.stringify(written.slice(0, 40))}`, () => {
      const scratchpad = written.startsWith("/tmp/pad/") ? undefined : "/tmp/pad";
      const read = outputNameIn(written, scratchpad);
      assert.ok("problem" in read && read.problem.includes(why), JSON.stringify(read));
      // The suggested name must be accepted itself.
      const suggestion = read.next.slice(read.next.indexOf("such as ") + "such as ".length);
      assert.ok("name" in outputNameIn(suggestion), read.next);
    });
});
