/** Does docs/specialists.md say what is so? Its example is read, and its tables are compared. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { specialistOf } from "./specialists.ts";

const page = readFileSync(path.join(import.meta.dirname, "../../docs/specialists.md"), "utf8");

describe("docs/specialists.md", () => {
  it("shows a specialist that can be used as it stands", () => {
    const [, example = ""] = /^```markdown\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const read = specialistOf(".skein/agents/sql.md", example);
    assert.ok("specialist" in read, JSON.stringify(read));
    assert.deepEqual(read.remarks, []);
    const { name, tools, keywords, prompt, isReadOnly } = read.specialist;
    assert.deepEqual([name, isReadOnly, keywords.length], ["sql-migrator", false, 5]);
    assert.deepEqual(tools, ["read", "grep", "find", "edit", "write", "bash"]);
    assert.match(prompt, /^You write migrations\..*hand off\.$/s);
  });
});
