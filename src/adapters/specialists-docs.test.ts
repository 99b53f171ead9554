/** Tests that the example in docs/specialists.md can be used as a repository's file. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import { readSpecialists } from "./specialists.ts";

const page = readFileSync(path.join(import.meta.dirname, "../../docs/specialists.md"), "utf8");

describe("docs/specialists.md", () => {
  it("shows a specialist that can be used as it stands", async () => {
    const [, example = ""] = /^```markdown\n([\s\S]*?)^```$/m.exec(page) ?? [];
    const top = newFolder();
    mkdirSync(path.join(top, ".skein/agents"), { recursive: true });
    writeFileSync(path.join(top, ".skein/agents/sql.md"), example);
    const { specialists, problems } = await readSpecialists(top);
    assert.deepEqual(problems, []);
    const { name, tools, keywords, prompt, isReadOnly } = specialists[0]!;
    assert.deepEqual([name, isReadOnly, keywords.length], ["sql-migrator", false, 5]);
    assert.deepEqual(tools, ["read", "grep", "find", "edit", "write", "bash"]);
    assert.match(prompt, /^You write migrations\..*hand off\.$/s);
  });
});
