/** Tests which permission requests of an ACP agent are allowed: inside the workspace, the output file, a planner's. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { rootOf } from "../tools/reach.ts";
import { permit } from "./permission.ts";

const home = mkdtempSync(path.join(tmpdir(), "skein-permission-"));
const folder = path.join(home, "workspace");
mkdirSync(path.join(folder, "src"), { recursive: true });
writeFileSync(path.join(home, "secret"), "s");
symlinkSync(home, path.join(folder, "out"));
after(() => rmSync(home, { recursive: true }));

const WORKER: Parameters<typeof permit>[1] = {
  root: rootOf(folder),
  permissions: "deny-outside",
  readsOnly: false,
};
const OPTIONS = [
  { optionId: "1", kind: "allow_always" },
  { optionId: "2", kind: "allow_once" },
  { optionId: "3", kind: "reject_once" },
];

const chosen = async (
  toolCall: object,
  policy: Partial<Parameters<typeof permit>[1]> = {},
  options: unknown = OPTIONS,
) => {
  const { outcome, isAllowed } = await permit({ toolCall, options }, { ...WORKER, ...policy });
  assert.equal(isAllowed, outcome["optionId"] === "1" || outcome["optionId"] === "2");
  return outcome["optionId"] ?? outcome["outcome"];
};

describe("what an agent with an output file asks for", () => {
  const pad = path.join(home, "pad");
  const [mine, theirs] = [path.join(pad, "mine.md"), path.join(pad, "theirs.md")];
  mkdirSync(pad);
  for (const file of [mine, theirs]) writeFileSync(file, "");
  const given = { pad: { root: rootOf(pad), output: rootOf(mine).real } };
  const at = (file: string, kind: string, more = {}) =>
    chosen({ kind, locations: [{ path: file }] }, { ...given, ...more });

  it("is allowed for that file, and for reading its neighbours", async () => {
    for (const kind of ["edit", "read", "other"]) assert.equal(await at(mine, kind), "2", kind);
    assert.equal(await at(theirs, "read"), "2");
    for (const kind of ["edit", "delete", "execute", ""]) assert.equal(await at(theirs, kind), "3", kind);
    assert.equal(await at(path.join(pad, "../secret"), "read"), "3");
    assert.equal(await at(path.join(home, "secret"), "edit"), "3");
  });

  it("is allowed for that file alone, where the role only reads", async () => {
    const reader = { readsOnly: true };
    assert.equal(await at(mine, "edit", reader), "2");
    assert.equal(await at(theirs, "read", reader), "2");
    assert.equal(await at(path.join(folder, "src/a.ts"), "edit", reader), "3");
    assert.equal(await at(mine, "execute", reader), "3");
    assert.equal(await chosen({ kind: "edit" }, { ...given, ...reader }), "3", "who says not where");
  });
});

describe("what an agent asks for", () => {
  it("is allowed once, inside the workspace", async () => {
    assert.equal(await chosen({ kind: "edit", locations: [{ path: path.join(folder, "src/a.ts") }] }), "2");
    assert.equal(await chosen({ kind: "execute", rawInput: { command: "npm test", cwd: folder } }), "2");
    assert.equal(await chosen({ kind: "edit", rawInput: { filePath: "src/new/b.ts" } }), "2");
    assert.equal(await chosen({}), "2");
  });

  it("is refused outside of it, wherever the path is written and whatever leads there", async () => {
    for (const call of [
      { locations: [{ path: "/etc/passwd" }] },
      { content: [{ type: "diff", path: path.join(home, "secret"), newText: "" }] },
      { rawInput: { filePath: "../secret" } },
      { rawInput: { file_path: path.join(folder, "out/secret") } },
      { rawInput: { edits: [{ path: "~/.ssh/config" }] } },
      { rawInput: { paths: ["src/a.ts", "/etc/passwd"] } },
      { rawInput: { directories: { path: "file:///etc" } } },
      { rawInput: { cwd: home, command: "ls" } },
      { locations: Array.from({ length: 2_000 }, () => ({ path: "src/a.ts" })) },
    ]) {
      assert.equal(await chosen({ kind: "edit", ...call }), "3", JSON.stringify(call).slice(0, 200));
    }
  });

  it("is allowed anywhere where the user said so, also for good if nothing less is offered", async () => {
    const allow = { permissions: "allow" } as const;
    assert.equal(await chosen({ locations: [{ path: "/etc/passwd" }] }, allow), "2");
    assert.equal(await chosen({}, allow, OPTIONS.slice(0, 1)), "1");
  });

  it("is never allowed for good where paths are looked at", async () => {
    assert.equal(await chosen({}, {}, [OPTIONS[0], OPTIONS[2]]), "3");
  });

  it("is refused to a planner, unless it only looks, and inside", async () => {
    const planner = { readsOnly: true };
    for (const kind of ["edit", "delete", "move", "execute", "fetch", "other", "", "of a new kind"]) {
      assert.equal(await chosen({ kind }, planner), "3", kind);
    }
    assert.equal(await chosen({ kind: "read", rawInput: { filePath: "src/a.ts" } }, planner), "2");
    const outside = { kind: "read", rawInput: { filePath: "/etc/passwd" } };
    assert.equal(await chosen(outside, planner), "3");
    assert.equal(await chosen({ kind: "edit" }, { ...planner, permissions: "allow" }), "3");
  });

  it("is answered also where the options make no sense", async () => {
    for (const options of [
      [],
      "yes",
      [null, { optionId: 7, kind: "allow_once" }],
      [{ optionId: "a", kind: "allow_forever" }],
      [
        { optionId: "a", kind: "allow_once" },
        { optionId: "a", kind: "reject_once" },
      ],
    ]) {
      assert.equal(await chosen({}, {}, options), "cancelled", JSON.stringify(options));
    }
    assert.deepEqual((await permit(undefined, WORKER)).outcome, { outcome: "cancelled" });
  });
});
