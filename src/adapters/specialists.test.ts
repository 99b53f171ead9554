/** Tests which specialists are read from a repository, including files made to harm their reader. */
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import { readSpecialists } from "./specialists.ts";

/** Makes a repository with these files; its name is the folder's. */
function repositoryWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const top = newFolder();
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(top, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return top;
}

const read = (files: Readonly<Record<string, string | Uint8Array>>) => readSpecialists(repositoryWith(files));

const one = (head: string, body = "Be careful.") =>
  read({ ".claude/agents/x.md": `---\n${head}\n---\n\n${body}\n` });

const MAX = { timeout: 20_000 };

describe("the specialists of a repository", MAX, () => {
  it("are what their files say", async () => {
    const head = [
      "name: db-migrator",
      "description: Moves tables",
      "tools: [Read, Write, MultiEdit, Glob]",
      "model: openai/gpt-5",
      "keywords: migration, table",
    ].join("\n");
    assert.deepEqual(await one(head), {
      specialists: [
        {
          name: "db-migrator",
          description: "Moves tables",
          prompt: "Be careful.",
          tools: ["read", "write", "edit", "find"],
          model: "openai/gpt-5",
          isReadOnly: false,
          keywords: ["migration", "table"],
          source: ".claude/agents/x.md",
        },
      ],
      problems: [],
    });
  });

  it("are none where there is no folder", async () => {
    assert.deepEqual(await read({ "README.md": "" }), { specialists: [], problems: [] });
    assert.deepEqual(await read({ ".claude/agents": "a file" }), { specialists: [], problems: [] });
  });

  it("come from .skein/agents where both folders have one of a name", async () => {
    const of = (words: string) => `---\nname: Writer\ndescription: ${words}\n---\n`;
    const { specialists } = await read({
      ".claude/agents/writer.md": of("theirs"),
      ".claude/agents/other.md": "---\nname: other\n---\nx",
      ".skein/agents/ours.md": of("ours").replace("Writer", "writer"),
    });
    assert.deepEqual(
      specialists.map(({ name, description }) => [name, description]),
      [
        ["other", ""],
        ["writer", "ours"],
      ],
    );
  });

  it("may use all tools if none are named, and change nothing if they only have tools that read", async () => {
    const toolsOf = async (tools: string) => {
      const { specialists } = await one(`name: a\n${tools}`);
      return specialists.map((s) => [s.tools, s.isReadOnly]);
    };
    assert.deepEqual(await toolsOf(""), [[undefined, false]]);
    assert.deepEqual(await toolsOf("tools: '*'"), [[undefined, false]]);
    assert.deepEqual(await toolsOf("tools: Read, Grep, LS"), [[["read", "grep", "ls"], true]]);
    assert.deepEqual(await toolsOf("tools: Read, Bash"), [[["read", "bash"], false]]);
  });

  it("do not get a tool that was limited elsewhere, and it is said", async () => {
    const { specialists, problems } = await one("name: a\ntools: Read, Bash(git log:*), WebFetch");
    assert.deepEqual(specialists[0]?.tools, ["read"]);
    assert.equal(specialists[0]?.isReadOnly, true);
    assert.match(
      problems.join(),
      /x\.md names tools that are not known and are ignored: "Bash\(git log:\*\)", "WebF/,
    );
  });

  it("keep their own model only if it is provider/model or a short name that is known", async () => {
    for (const [model, kept, said] of [
      ["sonnet", "sonnet", /^$/],
      ["gpt", undefined, /names the model "gpt", which is not provider\/model/],
      ["inherit", undefined, /^$/],
      ["ollama/qwen3:8b", "ollama/qwen3:8b", /^$/],
    ] as const) {
      const { specialists, problems } = await one(`name: a\nmodel: ${model}`);
      assert.equal(specialists[0]?.model, kept);
      assert.match(problems.join(), said);
    }
  });

  it("are named by their file if they have no name, and described although a colon breaks the YAML", async () => {
    const { specialists } = await one("description: Use it when: tests fail\nmodel: inherit");
    assert.equal(specialists[0]?.name, "x");
    assert.equal(specialists[0]?.description, "Use it when: tests fail");
  });

  it("are left out, with the reason, if they cannot be used", async () => {
    const { specialists, problems } = await read({
      ".claude/agents/a.md": "no front matter",
      ".claude/agents/b.md": "---\nname: 'two words'\n---\n",
      ".claude/agents/c.md": "---\nname: general-purpose\n---\n",
      ".claude/agents/d.md": `---\nname: d\n---\n${"x".repeat(70_000)}`,
      ".claude/agents/e.md": "---\n[\n---\n",
      ".claude/agents/f.md": "---\nname: f\ntools: WebSearch\n---\n",
      ".claude/agents/g.md": "---\nname: good\n---\n",
      ".claude/agents/h.md": "---\nname: GOOD\n---\n",
      ".claude/agents/i.md": "---\nname: &a [x]\ndescription: [*a, *a]\n---\n",
      ".claude/agents/notes.txt": "no specialist",
    });
    assert.deepEqual(
      specialists.map(({ name }) => name),
      ["good"],
    );
    for (const [file, why] of [
      ["a", "does not begin with front matter"],
      ["b", 'has the name "two words"'],
      ["c", "is named general-purpose"],
      ["d", "is longer than 65536 bytes"],
      ["e", "has front matter that is not YAML"],
      ["f", 'names no tool that is known, only "WebSearch"'],
      ["h", "has the name of .claude/agents/g.md"],
      ["i", "has the name"],
    ] as const)
      assert.ok(
        problems.some(
          (p) => p.startsWith(`.claude/agents/${file}.md ${why}`) && p.endsWith("; it is left out"),
        ),
        `${file}: ${problems.join("\n")}`,
      );
    assert.equal(problems.length, 8);
  });

  it("are not read through a link, nor from a folder outside", async () => {
    const outside = repositoryWith({ "secret.md": "---\nname: secret\n---\nthe key" });
    const top = repositoryWith({ ".claude/agents/a.md": "---\nname: a\n---\n" });
    symlinkSync(path.join(outside, "secret.md"), path.join(top, ".claude/agents/link.md"));
    symlinkSync(outside, path.join(top, ".skein"));
    mkdirSync(path.join(outside, "agents"));
    writeFileSync(path.join(outside, "agents/b.md"), "---\nname: b\n---\n");
    const { specialists, problems } = await readSpecialists(top);
    assert.deepEqual(
      specialists.map(({ name }) => name),
      ["a"],
    );
    assert.deepEqual(problems, [
      ".claude/agents/link.md is not a plain file; it is left out",
      ".skein/agents leads out of the repository; nothing in it is read",
    ]);
  });

  it("are at most a hundred of a folder", async () => {
    const many = Array.from({ length: 120 }, (_, i) => [`.skein/agents/s${i}.md`, "---\ntools: Read\n---\n"]);
    const { specialists, problems } = await read(Object.fromEntries(many));
    assert.equal(specialists.length, 100);
    assert.deepEqual(problems, [".skein/agents holds 120 files; the first 100 are read"]);
  });
});
