/** Tests that agreements are private, survive concurrent writers, and count as none if they are damaged. */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../../test/support/folders.ts";
import { hasFailed } from "../core/result.ts";
import { askId, type TrustAsk } from "../ports/trust.ts";
import { trustStore } from "./trust-store.ts";

const ask = (name: string, value: unknown = "secret-value-4711"): TrustAsk => ({
  ...{ is: "setting", from: "skein.yaml", name, value, words: `sets ${name}` },
});

describe("what was agreed to", () => {
  it("is nothing at first, is kept for its owner alone and without its values, and can be taken back", async () => {
    const state = path.join(newFolder(), "state");
    const store = trustStore(state);
    assert.deepEqual(await store.agreed(), []);
    assert.equal(await store.agree([ask("a"), ask("b")], "terminal"), undefined);
    assert.deepEqual(
      [...((await store.agreed()) as string[])].sort(),
      [askId(ask("a")), askId(ask("b"))].sort(),
    );
    const folder = path.join(state, "trust");
    for (const name of await readdir(folder)) {
      const file = path.join(folder, name);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      assert.doesNotMatch(await readFile(file, "utf8"), /4711/);
    }
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    assert.equal(await store.revoke(), 2);
    assert.deepEqual(await store.agreed(), []);
  });

  it("is whole after many processes agreed at once", async () => {
    const state = newFolder();
    const names = Array.from({ length: 20 }, (_, i) => `key${i % 10}`);
    const ended = await Promise.all(names.map((name) => trustStore(state).agree([ask(name)], "terminal")));
    assert.deepEqual(ended.filter(Boolean), []);
    assert.equal(((await trustStore(state).agreed()) as string[]).length, 10);
  });

  it("is not known where a file is damaged, of another format, or lies: nothing is trusted, nothing is lost", async () => {
    for (const text of ["", "{", '{"format":2}', '{"format":1,"id":"other"}', "[]"]) {
      const state = newFolder();
      const store = trustStore(state);
      await store.agree([ask("a"), ask("b")], "terminal");
      const file = path.join(state, "trust", `${askId(ask("a"))}.json`);
      await writeFile(file, text);
      const read = await store.agreed();
      assert.ok(hasFailed(read), text);
      assert.ok(read.failure.message.includes(file));
      assert.equal((await readdir(path.join(state, "trust"))).length, 2);
      assert.equal(await store.agree([ask("a")], "terminal"), undefined);
      assert.equal(((await store.agreed()) as string[]).length, 2);
    }
  });

  it("cannot be given where nothing can be written, and the failure says so", async () => {
    const state = newFolder();
    await writeFile(path.join(state, "trust"), "a file in the way");
    const failed = await trustStore(state).agree([ask("a")], "terminal");
    assert.match(failed?.failure.message ?? "", /cannot be kept in .*trust/);
  });

  it("is not read through a link to a file of the repository", async () => {
    const [state, elsewhere] = [newFolder(), newFolder()];
    await mkdir(path.join(state, "trust"));
    const id = askId(ask("a"));
    await writeFile(path.join(elsewhere, "mine.json"), JSON.stringify({ format: 1, id }));
    await symlink(path.join(elsewhere, "mine.json"), path.join(state, "trust", `${id}.json`));
    assert.ok(hasFailed((await trustStore(state).agreed()) as object));
  });
});
