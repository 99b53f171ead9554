/** The contract suite of outboxes, whatever already stands where a file is to be written. */
import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { hasFailed } from "../../src/core/result.ts";
import type { Outbox } from "../../src/ports/outbox.ts";
import { newFolder } from "../support/folders.ts";
import { recordSyncs } from "../support/syncs.ts";

/** `make` gives an outbox that has not used the folder yet. */
export function outboxContract(name: string, make: (folder: string) => Outbox): void {
  describe(`an outbox ${name}`, () => {
    const made = () => {
      const folder = path.join(newFolder(), "not", "there yet");
      return { folder, outbox: make(folder), at: (file: string) => path.join(folder, file) };
    };
    const prepared = async (outbox: Outbox, file: string) => {
      const ready = await outbox.prepare(file);
      assert.ok(!hasFailed(ready), JSON.stringify(ready));
      return ready.file;
    };
    const problemOf = async (outbox: Outbox, file: string) => {
      const read = await outbox.read(file);
      return "problem" in read ? read.problem : "none";
    };

    it("makes an empty file in its folder, and reads what was written there", async () => {
      const { outbox } = made();
      const file = await prepared(outbox, "a.md");
      assert.equal(path.dirname(file), outbox.folder);
      assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mode & 0o777], ["", 0o600]);
      writeFileSync(file, "# All of it\nü\n");
      await using syncs = await recordSyncs();
      assert.deepEqual(await outbox.read("a.md"), { text: "# All of it\nü\n" });
      assert.ok((await syncs.at(file)) >= 0 && (await syncs.at(outbox.folder)) >= 0, "it is on the disk");
    });

    it("keeps what was there beside it, as often as it is asked, and loses nothing", async () => {
      const { outbox, at } = made();
      for (const text of ["first", "second", ""]) {
        writeFileSync(await prepared(outbox, "a.md"), text);
      }
      await prepared(outbox, "a.md");
      assert.deepEqual(
        readdirSync(outbox.folder),
        ["a.md", "a.md.1", "a.md.2"],
        "nothing is kept of nothing",
      );
      assert.deepEqual(
        ["a.md", "a.md.1", "a.md.2"].map((file) => readFileSync(at(file), "utf8")),
        ["", "first", "second"],
      );
    });

    it("moves links and folders out of the way, and follows none", async () => {
      const { outbox, at } = made();
      const secret = path.join(newFolder(), "secret");
      writeFileSync(secret, "mine");
      await prepared(outbox, "other.md");
      symlinkSync(secret, at("a.md"));
      symlinkSync(path.join(newFolder(), "nowhere"), at("b.md"));
      mkdirSync(at("c.md/inside"), { recursive: true });
      for (const file of ["a.md", "b.md", "c.md"]) writeFileSync(await prepared(outbox, file), "new");
      assert.equal(readFileSync(secret, "utf8"), "mine");
      assert.deepEqual(readdirSync(at("c.md.1")), ["inside"]);
    });

    it("says what is wrong with what it cannot read", async () => {
      const { outbox, at } = made();
      assert.match(await problemOf(outbox, "a.md"), /a\.md does not exist$/);
      await prepared(outbox, "a.md");
      assert.match(await problemOf(outbox, "a.md"), /a\.md is empty$/);
      for (const [bytes, why] of [
        [" \n\t\n", /is empty$/],
        [Buffer.from([0x66, 0x00]), /is not UTF-8 text$/],
        [Buffer.from([0xff, 0xfe, 0x41]), /is not UTF-8 text$/],
        ["x".repeat(1_000_001), /has 1000001 bytes; at most 1000000 are read$/],
      ] as const) {
        writeFileSync(at("a.md"), bytes);
        assert.match(await problemOf(outbox, "a.md"), why);
      }
      symlinkSync(at("a.md"), at("link.md"));
      assert.match(await problemOf(outbox, "link.md"), /is a link, and is not followed$/);
      mkdirSync(at("folder.md"));
      assert.match(await problemOf(outbox, "folder.md"), /is not a file$/);
    });

    it("says why where it cannot make a file", async () => {
      const { folder, outbox } = made();
      mkdirSync(path.dirname(folder), { recursive: true });
      writeFileSync(folder, "in the way");
      const ready = await outbox.prepare("a.md");
      assert.ok(hasFailed(ready));
      assert.match(ready.failure.message, /a\.md cannot be created: /);
      assert.equal(ready.failure.kind, "repository");
      assert.notEqual(await problemOf(outbox, "a.md"), "none");
    });
  });
}
