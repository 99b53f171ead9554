/** Tests the scratchpad in a folder and criteria run by a shell: their contracts, and what is particular to them. */
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { CommandCriteria } from "../../src/adapters/criteria.ts";
import { FolderOutbox } from "../../src/adapters/outboxes.ts";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import { noSandbox } from "../../src/adapters/sandboxes/sandbox.ts";
import { failure } from "../../src/core/failure.ts";
import type { JobId } from "../../src/core/job.ts";
import { hasFailed } from "../../src/core/result.ts";
import type { Workspace } from "../../src/ports/workspaces.ts";
import { hearing } from "../support/agent-parts.ts";
import { newFolder } from "../support/folders.ts";
import { sandboxFor, whyNoSandbox } from "../support/tool-places.ts";
import { criteriaContract, SECRET } from "./criteria.ts";
import { outboxContract } from "./outbox.ts";

type CommandCriteriaParts = ConstructorParameters<typeof CommandCriteria>[0];

outboxContract("in a folder", (folder) => new FolderOutbox({ folder }));

const SIZES = { maxOutputBytes: 1_000_000, maxFileBytes: 1_000_000 };

const made = (more: Partial<CommandCriteriaParts> = {}) =>
  new CommandCriteria({
    programs: new LocalPrograms({ folder: path.join(newFolder(), "programs") }),
    transcripts: hearing().transcripts,
    limits: { maxMs: 60_000, ...SIZES },
    scratchpad: newFolder(),
    sandbox: async () => noSandbox("a test"),
    redact: (text) => text.replaceAll(SECRET, "***"),
    ...more,
  });

criteriaContract("by a shell", (maxMs) => made({ limits: { maxMs, ...SIZES } }));

const never = new AbortController().signal;
const workspace = (): Workspace => {
  const folder = newFolder();
  const environment = { PATH: process.env["PATH"] ?? "", TMPDIR: folder };
  return { job: "work:t.1#1" as JobId, folder, commit: "c0", environment, notices: [] };
};

it("a criterion can look at the results of others", async () => {
  const scratchpad = newFolder();
  writeFileSync(path.join(scratchpad, "a.md"), "PASS\n");
  const command = 'grep -q PASS "$CLAUDE_SCRATCHPAD_DIR/a.md"';
  assert.deepEqual(await made({ scratchpad }).try(command, workspace(), never), { is: "passed" });
});

it("the sandbox of criteria is opened once, by the first; where it must be there and is not, none is tried", async () => {
  let openings = 0;
  const why = failure("policy", "a sandbox is required");
  const criteria = made({
    sandbox: async () => {
      openings += 1;
      return { failure: why };
    },
  });
  assert.equal(openings, 0);
  const place = workspace();
  for (const _ of [1, 2]) {
    const end = await criteria.try("touch made", place, never);
    assert.deepEqual(end, { failure: why });
  }
  assert.equal(openings, 1);
});

if ((await whyNoSandbox()) === false) {
  it("a criterion in a sandbox sees the scratchpad, and changes nothing but its workspace", async () => {
    const [state, repository] = [newFolder(), newFolder()];
    const scratchpad = path.join(state, "scratchpad");
    mkdirSync(scratchpad);
    writeFileSync(path.join(scratchpad, "a.md"), "PASS\n");
    const criteria = made({ scratchpad, sandbox: () => sandboxFor({ state, repository }) });
    const place = workspace();
    const command = 'touch here && grep -q PASS "$CLAUDE_SCRATCHPAD_DIR/a.md"';
    assert.deepEqual(await criteria.try(command, place, never), { is: "passed" });
    for (const wrong of ['echo x > "$CLAUDE_SCRATCHPAD_DIR/a.md"', `ls ${JSON.stringify(repository)}/.git`]) {
      const end = await criteria.try(wrong, place, never);
      assert.ok(!hasFailed(end) && end.is === "red", wrong);
    }
  });
}
