/** Tests transcripts in files: the contract, and what is particular to files. */
import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { FileTranscripts } from "../../src/adapters/transcripts.ts";
import { temporaryFolder } from "./programs.ts";
import { MAX_BYTES, SECRET, transcriptsContract } from "./transcripts.ts";

transcriptsContract("in files", async (body, isBroken = false) => {
  await using folder = await temporaryFolder();
  const place = join(folder.path, "transcripts");
  if (isBroken) await writeFile(place, "");
  const transcripts = new FileTranscripts({ folder: place, secrets: [SECRET], maxBytes: MAX_BYTES });
  await body({ transcripts, read: (name) => readFile(transcripts.pathOf(name), "utf8") });
});

it("a transcript can be read while it grows, by its owner alone, and leaves one file", async () => {
  await using folder = await temporaryFolder();
  const transcripts = new FileTranscripts({ folder: folder.path, secrets: [], maxBytes: MAX_BYTES });
  const transcript = transcripts.open("a");
  transcript.write("one line\n");
  assert.equal(await readFile(transcripts.pathOf("a"), "utf8"), "one line\n");
  assert.equal((await stat(transcripts.pathOf("a"))).mode & 0o777, 0o600);
  for (let count = 0; count < 5_000; count += 1) transcript.write("some more\n");
  const sizes = await Promise.all(
    (await readdir(folder.path)).map(async (name) => (await stat(join(folder.path, name))).size),
  );
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= MAX_BYTES);
  await transcript.close();
  assert.equal((await readdir(folder.path)).length, 1);
});

it("a full disk does not fail the job", async () => {
  if (process.platform !== "linux") return;
  await using folder = await temporaryFolder();
  const transcripts = new FileTranscripts({ folder: folder.path, secrets: [], maxBytes: MAX_BYTES });
  const full = Object.assign(transcripts, { pathOf: () => "/dev/full" });
  const transcript = full.open("a");
  transcript.write("x\n".repeat(MAX_BYTES));
  await transcript.close();
});

it("what earlier runs of the same name wrote stays, and the next one has a number", async () => {
  await using folder = await temporaryFolder();
  const transcripts = new FileTranscripts({ folder: folder.path, secrets: [], maxBytes: MAX_BYTES });
  const names: string[] = [];
  for (const text of ["first", "second", "third"]) {
    const transcript = transcripts.openNext("land#1");
    transcript.write(text);
    await transcript.close();
    names.push(transcript.name);
  }
  assert.deepEqual(names, ["land#1", "land#1.2", "land#1.3"]);
  assert.equal(await readFile(transcripts.pathOf("land#1.2"), "utf8"), "second");
});
