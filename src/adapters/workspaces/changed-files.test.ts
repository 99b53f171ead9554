/** Tests that a worker's files are kept or refused as a whole if git cannot read some; also works for root. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { newFolder } from "../../../test/support/folders.ts";
import { hasFailed } from "../../core/result.ts";
import { changedFiles } from "./changed-files.ts";
import { openFolders, removeAll } from "./folders.ts";
import { slotAt } from "./slot.ts";

const modeOf = (folder: string) => statSync(folder).mode & 0o777;

it("opens folders that git could not enter, and looks again", async () => {
  const slot = slotAt(newFolder(), "agent-1");
  const closed = path.join(slot.tree, "closed");
  mkdirSync(closed, { recursive: true });
  writeFileSync(path.join(closed, "made"), "");
  chmodSync(closed, 0);
  const answers = [
    { out: "", warnings: "warning: could not open directory 'closed/': Permission denied\n" },
    { out: "closed/made\0", warnings: "" },
  ];
  const call = async () => ({ ok: true, isCut: false, ...answers.shift()! }) as const;
  const files = await changedFiles(slot, call, 100);
  assert.ok(!hasFailed(files));
  assert.deepEqual([files.count, answers.length, modeOf(closed)], [1, 0, 0o700]);
});

/** A stand-in for git that lists these paths. */
const listing =
  (...paths: readonly string[]) =>
  async () =>
    ({ ok: true, isCut: false, out: paths.map((name) => `${name}\0`).join(""), warnings: "" }) as const;

it("opens a file that its worker closed: git does not record that", async () => {
  const slot = slotAt(newFolder(), "agent-1");
  mkdirSync(slot.tree, { recursive: true });
  const file = path.join(slot.tree, "closed");
  writeFileSync(file, "all of it");
  chmodSync(file, 0o100);
  const files = await changedFiles(slot, listing("closed"), 100);
  assert.ok(!hasFailed(files));
  assert.deepEqual([files.barred, files.left, modeOf(file)], [[], [], 0o500]);
});

it("keeps nothing where a folder cannot be opened: the rest must not pass for the whole", async () => {
  const slot = slotAt(newFolder(), "agent-1");
  const warnings = "warning: could not open directory 'theirs/': Permission denied\n";
  const files = await changedFiles(slot, async () => ({ ...(await listing("ours")()), warnings }), 100);
  assert.ok(hasFailed(files));
  assert.equal(files.failure.kind, "repository");
  assert.match(files.failure.message, /could not open directory 'theirs\/'/);
});

it("keeps nothing where a file cannot be read, and says which and what to do", async () => {
  const { seteuid } = process;
  if (process.getuid?.() !== 0 || !seteuid) return; // Only root can make a file of another user.
  const folder = newFolder();
  const slot = slotAt(folder, "agent-1");
  mkdirSync(slot.tree, { recursive: true });
  chmodSync(folder, 0o755);
  writeFileSync(path.join(slot.tree, "ours"), "", { mode: 0o644 });
  writeFileSync(path.join(slot.tree, "theirs"), "", { mode: 0o600 });
  try {
    seteuid(65_534);
    const files = await changedFiles(slot, listing("ours", "theirs"), 100);
    assert.ok(hasFailed(files));
    const { kind, message, next } = files.failure;
    assert.deepEqual([kind, message], ["repository", '"theirs" cannot be read']);
    assert.match(next ?? "", /readable for your user, or have git ignore it/);
  } finally {
    seteuid(0);
  }
});

it("opens folders in folders, whatever they are called, and leaves files and open ones as they are", async () => {
  const top = newFolder();
  const inner = path.join(top, "-closed", "new\nline");
  mkdirSync(inner, { recursive: true });
  mkdirSync(path.join(top, "open"), { mode: 0o755 });
  writeFileSync(path.join(inner, "file"), "", { mode: 0o400 });
  for (const folder of [inner, path.dirname(inner)]) chmodSync(folder, 0o055);
  await openFolders(top);
  assert.deepEqual([modeOf(path.dirname(inner)), modeOf(inner)], [0o755, 0o755]);
  assert.deepEqual([modeOf(path.join(top, "open")), modeOf(path.join(inner, "file"))], [0o755, 0o400]);
  await removeAll(top);
  assert.throws(() => statSync(top));
});
