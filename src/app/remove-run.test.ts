/** Tests what removing a run deletes, in which order, and when it is refused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CoreRun, task } from "../../test/support/core-run.ts";
import type { Event } from "../core/log/event.ts";
import { hasFailed } from "../core/result.ts";
import type { OwnRef } from "../ports/own-refs.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Parts } from "./parts.ts";
import { removeRun } from "./remove-run.ts";

const NEVER = new AbortController().signal;
const CLOSED: Event = { type: "run.closed", how: "cancelled", at: 1, left: [] } as never;
const TASK: OwnRef = { ref: "refs/heads/skein/a/task/t.1.1-one", commit: "1" };
const NOTES: OwnRef = { ref: "refs/notes/skein/a", commit: "2" };

type Made = { readonly pid?: number; readonly isOpen?: true; readonly refs?: readonly OwnRef[] };

function run({ pid, isOpen, refs = [TASK, NOTES] }: Made) {
  const done: string[] = [];
  const events = CoreRun.planned([task("one")]).log;
  const home = {
    record: { run: "a", goal: "g", base: "b", createdAt: 0, settings: { workers: "many" } },
    log: {
      async *read() {
        yield* isOpen ? events : [...events, CLOSED];
      },
    },
    isThere: () => true,
    hasJobs: async () => true,
    owner: async () => (pid === undefined ? undefined : { pid, since: 0 }),
    lock: async () => ({ release: async () => {}, discard: async () => void done.push("folder") }),
  } as unknown as RunHome;
  const parts = {
    project: { runs: { finishRemoval: async () => false, open: async () => home } },
    git: async () => undefined,
    refs: {
      list: async () => refs,
      onlyIn: async (_: unknown, commits: readonly string[]) => new Set(commits),
      remove: async (gone: readonly OwnRef[]) => void done.push(...gone.map(({ ref }) => ref)),
    },
    salvage: { list: async () => [] },
  } as unknown as Parts;
  return { parts, done };
}

describe("a run that is to be removed", () => {
  it("loses its refs first and its folder last, and what was lost is named", async () => {
    const { parts, done } = run({});
    const end = await removeRun({ run: "a", yes: true }, parts, NEVER);
    assert.ok(!hasFailed(end) && end.is === "removed");
    assert.deepEqual(done, [TASK.ref, NOTES.ref, "folder"]);
    assert.deepEqual(end.unlanded, [{ commit: "1", what: "skein/a/task/t.1.1-one" }]);
  });

  it("stays while it is not over, is driven, or has a branch that is checked out", async () => {
    const taken = { ...TASK, checkedOutIn: "/elsewhere" };
    for (const [made, is, said] of [
      [{ isOpen: true }, "open", /stopped/],
      [{ isOpen: true, pid: 7 }, "open", /process 7/],
      [{ pid: 7 }, "open", /process 7/],
      [{ refs: [taken] }, "taken", /\/elsewhere/],
    ] as const) {
      const { parts, done } = run(made);
      const end = await removeRun({ run: "a", yes: true }, parts, NEVER);
      assert.ok(!hasFailed(end) && end.is === is && "message" in end);
      assert.match(end.message, said);
      assert.deepEqual(done, []);
    }
  });

  it("is removed only with a yes, and never where nobody can be asked", async () => {
    const { parts, done } = run({});
    const declined = await removeRun({ run: "a", confirm: async () => false }, parts, NEVER);
    assert.ok(!hasFailed(declined) && declined.is === "declined");
    const unasked = await removeRun({ run: "a" }, parts, NEVER);
    assert.ok(!hasFailed(unasked) && unasked.is === "unasked" && unasked.next === "skein remove a --yes");
    assert.deepEqual(done, []);
    const agreed = await removeRun({ run: "a", confirm: async () => true }, parts, NEVER);
    assert.ok(!hasFailed(agreed) && agreed.is === "removed");
  });
});
