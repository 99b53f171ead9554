/** Tests which tools planners and workers get, and what a model reads when a tool fails. */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { it } from "node:test";
import { plainPlace, use } from "../../../../test/support/tool-places.ts";
import { plannerTools, workerTools } from "./tools.ts";

const names = (tools: object) => Object.keys(tools).sort();

it("gives a planner nothing that writes or runs a command", () => {
  assert.deepEqual(names(plannerTools(plainPlace())), ["find", "git", "grep", "ls", "read"]);
});

it("gives a worker all tools, or those of its role that there are", () => {
  const all = ["bash", "edit", "find", "grep", "ls", "read", "write"];
  assert.deepEqual(names(workerTools(plainPlace())), all);
  assert.deepEqual(names(workerTools(plainPlace(), ["read", "grep", "WebFetch"])), ["grep", "read"]);
  assert.deepEqual(names(workerTools(plainPlace(), ["read", "git"])), ["git", "read"]);
  assert.deepEqual(names(workerTools(plainPlace(), [])), []);
});

it("answers with the error and never throws, also where the workspace is gone", async () => {
  const place = plainPlace();
  const tools = { ...workerTools(place), ...plannerTools(place) };
  rmSync(place.folder, { recursive: true });
  for (const [name, input] of [
    ["read", { path: "a" }],
    ["write", { path: "a", content: "" }],
    ["edit", { path: "a", old_text: "a", new_text: "b" }],
    ["ls", {}],
    ["find", { glob: "*" }],
    ["grep", { pattern: "a" }],
    ["git", { args: ["log"] }],
    ["bash", { command: "ls" }],
  ] as const) {
    assert.match(await use(tools, name, input), /^error: /, name);
  }
});

it("writes down what was asked, and gives a sign of life", async () => {
  let written = "";
  let signs = 0;
  const place = plainPlace({ write: (text) => (written += text), onSign: () => (signs += 1) });
  const tools = workerTools(place);
  await use(tools, "write", { path: "a.txt", content: "one" });
  await use(tools, "read", { path: "a.txt" });
  assert.deepEqual([written, signs], ["[write a.txt]\n[read a.txt]\n", 2]);
});

it("ends a command when the model's turn is given up", async () => {
  const stop = new AbortController();
  const write = (text: string) => text === "begun\n" && stop.abort();
  const tools = workerTools(plainPlace({ write }));
  const options = { toolCallId: "1", messages: [], context: undefined, abortSignal: stop.signal };
  const answer = await tools["bash"]?.execute?.({ command: "echo begun; sleep 60" }, options);
  assert.equal(answer, "begun\n[stopped]");
});
