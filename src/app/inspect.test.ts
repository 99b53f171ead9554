/** Tests that `skein doctor` reports without a repository, and with looks that hang or throw. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { failure } from "../core/failure.ts";
import type { InspectParts } from "./inspect/parts.ts";
import { inspect } from "./inspect.ts";

const NONE = { failure: failure("repository", "/here is not in a git repository") };
const NODE = { version: "24.1.0", path: "/bin/node" };

const parts = {
  env: {},
  repository: { git: async () => ({ version: "2.50.1" }), around: async () => NONE },
  places: { state: async () => ({ folder: "/state", isThere: false, runs: 0, brokenRuns: 0 }) },
} as unknown as InspectParts;
const configure = async () => ({ kind: "configuration", message: "not read" }) as const;
const REQUEST = { folder: "/here", configure, node: NODE };

describe("what doctor finds", () => {
  it("without a repository is said, and nothing is looked at that needs one", async () => {
    const { facts, findings } = await inspect(REQUEST, parts);
    assert.equal(facts.gate, undefined);
    const bad = findings.filter(({ level }) => level === "bad").map(({ text }) => text);
    assert.deepEqual(bad, ["/here is not in a git repository", "not read"]);
  });

  it("does not wait for what hangs, and goes on where something throws", async () => {
    const repository = {
      ...parts.repository,
      git: () => new Promise<never>(() => {}),
      around: async () => assert.fail("it broke"),
    };
    const { facts } = await inspect({ ...REQUEST, maxMs: 10 }, { ...parts, repository });
    assert.ok("failure" in facts.git && /git did not answer within 0\.01 s/.test(facts.git.failure.message));
    assert.ok("failure" in facts.repository && /it broke/.test(facts.repository.failure.message));
  });
});
