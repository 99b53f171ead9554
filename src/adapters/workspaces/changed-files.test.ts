/** What a worker left in folders that nobody may enter. The tests may run as one whom no mode keeps out. */
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
