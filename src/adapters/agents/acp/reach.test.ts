/** Tests that an ACP agent can be checked by opening a session, without a prompt and without leftovers. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { scriptedAcp } from "../../../../test/support/acp-agent/agent.ts";
import type { AcpScript } from "../../../../test/support/acp-agent/script.ts";
import { hearing } from "../../../../test/support/agent-parts.ts";
import { jobId } from "../../../core/job.ts";
import { ROOT } from "../../../core/task.ts";

describe("an agent that is only asked for a session", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "skein-reach-"));
    mkdirSync(path.join(home, "workspace"));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  const never = new AbortController().signal;
  const reach = (script: AcpScript, maxMs = 30_000, signal = never) =>
    scriptedAcp(script, path.join(home, "turns"), hearing()).reach(
      {
        job: jobId({ kind: "plan", task: ROOT, turn: 1 }),
        folder: path.join(home, "workspace"),
        environment: { PATH: process.env["PATH"] ?? "" },
        maxMs,
      },
      signal,
    );
  /** Process groups that may still run are on record in this folder. */
  const left = () => readdirSync(path.join(home, "programs"));

  it("gives one without a prompt", async () => {
    const prompts = [[{ do: "die" }]] as const;
    assert.equal(await reach({ prompts }), undefined);
    assert.deepEqual(left(), []);
  });

  it("wants a login: that is said, with what it offers", async () => {
    const login = { id: "browser", name: "In the browser", description: "run `it login`" };
    const problem = await reach({ prompts: [], login });
    assert.equal(problem?.kind, "authentication");
    assert.match(problem.message, /is not logged in.*run `it login`/);
  });

  it("does not answer: it is waited for so long and no longer, and nothing of it is left", async () => {
    assert.equal((await reach({ prompts: [], greets: "never" }, 400))?.kind, "timed-out");
    const stop = AbortSignal.timeout(200);
    assert.equal((await reach({ prompts: [], greets: "never" }, 30_000, stop))?.kind, "interrupted");
    assert.deepEqual(left(), []);
  });
});
