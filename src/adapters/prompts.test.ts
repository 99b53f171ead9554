/** Tests which prompts are loaded, and how unusable ones are refused. */
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import { readHandoff } from "../core/answers/handoff-answer.ts";
import { hasFailed } from "../core/result.ts";
import type { Prompts } from "../ports/prompts.ts";
import { loadPrompts } from "./prompts.ts";

const MAX = { timeout: 20_000 };

function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = newFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

async function loaded(...folders: readonly string[]): Promise<Prompts> {
  const prompts = await loadPrompts(folders);
  assert.ok(!hasFailed(prompts), JSON.stringify(prompts));
  return prompts;
}

async function refusal(...folders: readonly string[]): Promise<string> {
  const prompts = await loadPrompts(folders);
  assert.ok(hasFailed(prompts));
  assert.equal(prompts.failure.kind, "policy");
  return prompts.failure.message;
}

describe("the prompts of a run", MAX, () => {
  it("are those of the package unless told", async () => {
    const prompts = await loaded();
    assert.match(prompts["root-planner"], /^# You are the root planner/);
    assert.match(prompts.subplanner, /^# You are a subplanner/);
    assert.match(prompts.worker, /^# You are a worker/);
    assert.match(prompts["execution-planner"], /^# You make an execution plan/);
  });

  it("are replaced one by one, and a later folder wins", async () => {
    const first = folderWith({ "worker.md": "first worker", "subplanner.md": "first subplanner" });
    const second = folderWith({ "worker.md": "second worker", "README.md": "not a prompt" });
    const prompts = await loaded(first, second);
    assert.equal(prompts.worker, "second worker");
    assert.equal(prompts.subplanner, "first subplanner");
    assert.match(prompts["root-planner"], /^# You are the root planner/);
    const names = ["execution-planner", "root-planner", "subplanner", "subtask", "worker"];
    assert.deepEqual(Object.keys(prompts).sort(), names);
  });

  it("are refused with the name of what is wrong", async () => {
    const missing = path.join(newFolder(), "none");
    assert.equal(await refusal(missing), `there is no folder of prompts at ${missing}`);
    const other = folderWith({ "planner.md": "x" });
    assert.ok((await refusal(other)).includes(`${other} contains none of root-planner.md, subplanner.md`));
    const cases = [
      [folderWith({ "worker.md": " \n" }), "is empty"],
      [folderWith({ "worker.md": "x".repeat(100_001) }), "is longer than 100000 bytes"],
      [folderWith({ "worker.md": new Uint8Array([0x61, 0xff, 0x62]) }), "is not UTF-8"],
    ] as const;
    for (const [folder, why] of cases)
      assert.equal(await refusal(folder), `the prompt ${path.join(folder, "worker.md")} ${why}`);
  });

  it("are the package's own in a folder that has only the prompt of the reconciler, which is gone", async () => {
    assert.deepEqual(await loaded(folderWith({ "reconciler.md": "You mend." })), await loaded());
  });

  it("can be replaced by the one that docs/prompts.md shows", async () => {
    const page = readFileSync(path.join(import.meta.dirname, "../../docs/prompts.md"), "utf8");
    const [, shown = ""] = /worker\.md <<'END'\n([\s\S]*?)^END$/m.exec(page) ?? [];
    const { worker } = await loaded(folderWith({ "worker.md": shown }));
    const read = readHandoff(worker, "t.1");
    assert.equal(read.is === "handoff" && read.handoff.status, "complete");
  });

  it("are not read through a link, nor from what is no file", async () => {
    const folder = newFolder();
    symlinkSync("/dev/zero", path.join(folder, "worker.md"));
    assert.match(await refusal(folder), /worker\.md is not a plain file/);
    const nested = newFolder();
    mkdirSync(path.join(nested, "subtask.md"));
    assert.match(await refusal(nested), /subtask\.md is not a plain file/);
  });
});
