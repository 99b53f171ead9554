/** The contract suite of criteria: they run in their task's workspace, and a red one is told from a broken machine. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Criteria } from "../../src/ports/criteria.ts";
import type { Workspace } from "../../src/ports/workspaces.ts";
import { newFolder } from "../support/folders.ts";
import { isRunning } from "./programs.ts";

export const SECRET = "s3cret-value-of-a-test";

/** `make` gives criteria with that time limit, which redact the secret. */
export function criteriaContract(name: string, make: (maxMs: number) => Criteria): void {
  describe(`criteria ${name}`, () => {
    const workspaceIn = (folder: string): Workspace => ({
      job: "work:t.1#1" as JobId,
      folder,
      commit: "c0",
      environment: { PATH: process.env["PATH"] ?? "", TMPDIR: folder, MINE: "yes" },
      notices: [],
    });
    const never = new AbortController().signal;
    const tried = async (command: string, folder = newFolder(), signal = never) =>
      make(60_000).try(command, workspaceIn(folder), signal);
    const detailOf = async (command: string, maxMs = 60_000) => {
      const end = await make(maxMs).try(command, workspaceIn(newFolder()), never);
      assert.ok(!hasFailed(end) && end.is === "red", JSON.stringify(end));
      return end.detail;
    };

    it("pass where the command ends with 0, read by a shell, in the workspace, with its environment", async () => {
      const folder = newFolder();
      const command = 'test "$MINE" = yes && { echo here > made.txt | cat; }';
      assert.deepEqual(await tried(command, folder), { is: "passed" });
      assert.ok(existsSync(path.join(folder, "made.txt")));
    });

    it("are red where it does not, with the end of what it wrote and without secrets", async () => {
      const detail = await detailOf(`echo one; echo two ${SECRET} >&2; exit 3`);
      assert.match(detail, /^one\ntwo .*\n\[exit code 3\]$/s);
      assert.ok(!detail.includes(SECRET));
      assert.equal(await detailOf("false"), "[exit code 1]");
      assert.match(await detailOf("no-such-program-here"), /not found(?:.|\n)*\[exit code 127\]$/);
      assert.match(await detailOf("-c"), /\[exit code 127\]$/);
      const long = await detailOf("yes x | head -c 200000; echo the end; exit 1");
      assert.ok(long.length < 10_000 && long.includes("the end"));
    });

    it("are red where it is killed, does not end, or cannot be a command", async () => {
      assert.match(await detailOf("kill -9 $$"), /\[(killed by SIGKILL|exit code 137)\]$/);
      assert.match(await detailOf("exec sleep 600", 100), /\[stopped: it did not end within 0 s\]$/);
      assert.match(await detailOf("true\0"), /zero byte/);
      assert.match(await detailOf(`true ${"x".repeat(200_000)}`), /more than \d+ bytes/);
    });

    it("say nothing of the command where they are stopped, or the workspace is gone", async () => {
      const stopped = await tried("true", newFolder(), AbortSignal.abort());
      assert.ok(hasFailed(stopped) && stopped.failure.kind === "interrupted");
      const gone = await tried("true", path.join(newFolder(), "gone"));
      assert.ok(hasFailed(gone) && gone.failure.kind === "repository");
    });

    it("leave nothing running that they started", async () => {
      const folder = path.join(newFolder(), "w");
      mkdirSync(folder);
      assert.deepEqual(await tried("sleep 600 & echo $! > pid", folder), { is: "passed" });
      const pid = Number(readFileSync(path.join(folder, "pid"), "utf8"));
      assert.equal(isRunning(pid), false);
    });
  });
}
