/** Tests that a reader of a named pipe gets the writer's line, or fails once the writer has ended without one. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { newFolder } from "./folders.ts";
import { firstLine, makePipe } from "./pipes.ts";

const shell = (script: string, pipe: string) => promisify(execFile)("sh", ["-c", script, "sh", pipe]);

describe("the first line of a named pipe", () => {
  it("is what the writer wrote, although the writer goes on", async () => {
    const [pipe, goOn] = [makePipe(newFolder()), makePipe(newFolder())];
    const writer = shell(`echo 4711 > "$1"; echo more > '${goOn}'`, pipe);
    assert.equal(await firstLine(pipe, writer), "4711");
    assert.equal(await firstLine(goOn, writer), "more");
    await writer;
  });

  it("fails with the writer's end if it ended without one, and holds no thread", async () => {
    const pipe = makePipe(newFolder());
    const ended = shell("echo 'no memory' >&2", pipe);
    await assert.rejects(firstLine(pipe, ended), /ended without a line in pipe: [\s\S]*no memory/);
    await assert.rejects(firstLine(pipe, shell("exit 3", pipe)), { code: 3 });
    // As many reads as Node has threads: if they were still in `open`, no file could be read now.
    await Promise.all(Array.from({ length: 4 }, () => assert.rejects(firstLine(pipe, ended))));
    assert.match(await readFile(import.meta.filename, "utf8"), /^\/\*\*/);
  });
});
