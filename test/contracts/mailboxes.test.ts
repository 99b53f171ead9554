/** Runs every mailbox against the contract of mailboxes, and tests what only mailboxes in files can meet. */
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { FolderMailbox } from "../../src/adapters/mailboxes.ts";
import { hasFailed } from "../../src/core/result.ts";
import { newFolder } from "../support/folders.ts";
import { mailboxContract } from "./mailbox.ts";

mailboxContract("in a folder", () => {
  const folder = path.join(newFolder(), "commands");
  return () => new FolderMailbox(folder);
});

it("a mailbox refuses what is no command, and goes on with the next", { timeout: 20_000 }, async () => {
  const folder = newFolder();
  for (const [i, text] of ["", "{", "null", '{"type":"open"}', '{"type":"steer"}'].entries())
    writeFileSync(path.join(folder, `c0-${i}.json`), text);
  const mailbox = new FolderMailbox(folder);
  const letter = await mailbox.send({ type: "pause" });
  assert.ok(!hasFailed(letter));
  for await (const { command, answer } of mailbox.receive(AbortSignal.timeout(10_000))) {
    assert.deepEqual(command, { type: "pause" });
    await answer({ is: "heard" });
    break;
  }
  assert.equal(readdirSync(folder).filter((name) => name.endsWith(".answer")).length, 6);
});

it("a mailbox that cannot be written says so", async () => {
  const file = path.join(newFolder(), "file");
  writeFileSync(file, "");
  const letter = await new FolderMailbox(path.join(file, "commands")).send({ type: "pause" });
  assert.ok(hasFailed(letter));
  assert.match(letter.failure.message, /could not be left in/);
});
