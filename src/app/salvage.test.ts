/** Tests restoring, dropping and finding kept work. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { Salvage } from "../ports/salvage.ts";
import { dropSalvaged, restoreSalvaged } from "./salvage.ts";

const NEVER = new AbortController().signal;
const ENTRY = {
  ...{ ref: "refs/skein/salvage/1115-k7qd/t.3.1", run: "1115-k7qd", task: "t.3", attempt: 1 },
  ...{ commit: "c".repeat(40), atMs: 0, subject: "half of it" },
};

function kept() {
  const done: string[] = [];
  const salvage: Salvage = {
    list: async () => [ENTRY],
    restore: async ({ commit }, branch) => {
      if (branch === "taken") return { failure: failure("repository", "the branch taken exists already") };
      done.push(`${branch} at ${commit[0]}`);
      return {};
    },
    drop: async ({ ref }) => {
      done.push(`drop ${ref}`);
      return {};
    },
  };
  return { parts: { salvage }, done };
}

describe("kept work", () => {
  it("comes back as a branch named after it, or as another", async () => {
    const { parts, done } = kept();
    const entry = "1115-k7qd/t.3.1";
    assert.deepEqual(await restoreSalvaged({ entry }, parts, NEVER), {
      branch: `skein-salvage/${entry}`,
      commit: ENTRY.commit,
    });
    await restoreSalvaged({ entry: ENTRY.ref, branch: "mine" }, parts, NEVER);
    assert.deepEqual(done, [`skein-salvage/${entry} at c`, "mine at c"]);
  });

  it("is refused where the branch is taken, and dropped by its name", async () => {
    const { parts, done } = kept();
    const end = await restoreSalvaged({ entry: "1115-k7qd/t.3.1", branch: "taken" }, parts, NEVER);
    assert.ok(hasFailed(end) && end.because === "run");
    assert.deepEqual(await dropSalvaged({ entry: "1115-k7qd/t.3.1" }, parts, NEVER), {
      commit: ENTRY.commit,
    });
    assert.deepEqual(done, [`drop ${ENTRY.ref}`]);
  });

  it("is found by its whole name only, and what is near is said", async () => {
    const end = await dropSalvaged({ entry: "1115-k7qd/t.3.2" }, kept().parts, NEVER);
    assert.ok(hasFailed(end) && end.because === "usage");
    assert.match(end.failure.message, /did you mean 1115-k7qd\/t\.3\.1\?/);
  });
});
