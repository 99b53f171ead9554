/** Tests what a subtask of a run is given to read, and that its result is checked whole before it is cut. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jobPorts, SPEC } from "../../test/support/job-ports.ts";
import type { WorkBrief } from "../core/brief.ts";
import type { JobId } from "../core/job.ts";
import type { Spawn } from "../core/subtask.ts";
import type { TaskId } from "../core/task.ts";
import type { ContextFiles } from "../ports/subtasks.ts";
import { contextFor } from "./subtask.ts";
import { work } from "./work.ts";

const NEVER = new AbortController().signal;

const SPAWN: Spawn = {
  ...{ type: "listing", subtype: "subtask", template: "listing", description: "List all", inputs: "{}" },
  ...{ signature: "s", filePaths: [], base: "onto", session: "work:t.1#1" as JobId, levels: 3 },
  expectation: "json",
  context: {
    ...{ inherit_context: "none", fresh_context: "enabled" },
    ...{ accumulate_data: false, accumulation_format: "notes_only" },
  },
};

const BRIEF: WorkBrief = {
  ...{ kind: "work", run: "r", task: "t.1.1" as TaskId, attempt: 1, branch: "b", base: "onto" },
  ...{ past: [], before: [], steers: [] },
  spec: { ...SPEC, spawn: SPAWN },
};

describe("a subtask of a run", () => {
  it("is given the names of matching files, but not of the file of its own template", async () => {
    const own = ".skein/templates/listing.xml";
    const names = [own, ...Array.from({ length: 20 }, (_, n) => `file-${n}.ts`)];
    const files: ContextFiles = {
      read: async () => assert.fail("only names are given"),
      match: async (_, limit) => names.slice(0, limit),
    };
    const templates = async () => ({ fileOf: (name: string) => (name === "listing" ? own : undefined) });
    const { context } = await contextFor(BRIEF, files, templates, NEVER);
    const given = names.slice(1, 11).join("\n");
    assert.equal(context?.text, `Files that may matter:\n${given}\n\n`);
  });

  it("is checked whole where its result is too long for a conversation, and then cut, with a name", async () => {
    const list = JSON.stringify(Array.from({ length: 10_000 }, (_, n) => n));
    const said = { is: "said", text: JSON.stringify({ status: "complete", summary: list }) } as const;
    const { parts } = jobPorts({ said });
    const { outcome } = await work(BRIEF, parts, NEVER);
    assert.ok(outcome.is === "worked", JSON.stringify(outcome));
    const { summary, artefact } = outcome.handoff;
    assert.match(
      summary,
      /^\[0,1,2,[\s\S]*\[cut: about [\d,]+ of 12,\d+ tokens are shown; the whole is kept as /,
    );
    assert.match(artefact ?? "", /^artefact-[0-9a-f]{16}$/);
  });

  it("fails where its result is not as expected", async () => {
    const said = { is: "said", text: JSON.stringify({ status: "complete", summary: "[1, 2" }) } as const;
    const { outcome } = await work(BRIEF, jobPorts({ said }).parts, NEVER);
    assert.match(JSON.stringify(outcome), /its result is not as expected: not JSON/);
  });
});
