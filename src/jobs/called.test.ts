/** Tests how a worker's call is checked and filled in from its template. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { TemplateRegistry } from "../subtasks/registry.ts";
import { readCall } from "./called.ts";

const VALUE = "hunter2-hunter2";
const redact = (text: string) => text.replaceAll(VALUE, "[redacted]");
const read = (tool: "spawn_subtask" | "ask", input: unknown, templates = new TemplateRegistry()) =>
  readCall({ is: "called", tool, input }, templates, redact);
const why = (call: ReturnType<typeof read>) =>
  call.is === "refused" ? JSON.stringify(call.response.result.notes) : `not refused: ${JSON.stringify(call)}`;

describe("what a worker calls for", () => {
  it("is a subtask with defaults where no template fits, and with its template's where one does", () => {
    const plain = read("spawn_subtask", { type: "review", description: "Look at it" });
    assert.ok(plain.is === "subtask");
    assert.deepEqual(
      [plain.order.subtype, plain.order.inputs, plain.order.context.fresh_context],
      ["subtask", "{}", "enabled"],
    );
    const templates = new TemplateRegistry();
    templates.register({
      ...{ name: "review", type: "review", description: "Look", instructions: "Be strict", max_depth: 2 },
      ...{ handler: "reviewer", return_expectations: "json", inputs: { file: { required: true } } },
    });
    assert.match(
      why(read("spawn_subtask", { type: "review", description: "x" }, templates)),
      /file is missing/,
    );
    const input = { type: "review", description: "x", inputs: { file: "a" }, max_depth: 5 };
    const made = read("spawn_subtask", input, templates);
    assert.ok(made.is === "subtask");
    const { template, instructions, agent, expectation, maxDepth } = made.order;
    assert.deepEqual(
      [template, instructions, agent, expectation, maxDepth],
      ["review", "Be strict", "reviewer", "json", 2],
    );
  });

  it("has the same signature for the same wish, whatever the order of its inputs", () => {
    const signature = (inputs: object) => {
      const call = read("spawn_subtask", { type: "a", description: "b", inputs });
      return call.is === "subtask" ? call.order.signature : assert.fail();
    };
    assert.equal(signature({ x: 1, y: 2 }), signature({ y: 2, x: 1 }));
    assert.notEqual(signature({ x: 1 }), signature({ x: 2 }));
  });

  it("is refused by name where it cannot be read, is a group, or is too long for a log", () => {
    assert.match(why(read("spawn_subtask", "do it")), /subtask_request/);
    assert.match(why(read("spawn_subtask", { type: "a", description: "b", colour: "red" })), /colour/);
    const long = { type: "a", description: "b", return_expectations: { enum: ["x".repeat(200_000)] } };
    assert.match(why(read("spawn_subtask", long)), /150000 are allowed/);
    const groups = new TemplateRegistry();
    groups.register({ name: "all", type: "a", description: "b", steps: [{ description: "c" }] });
    assert.match(why(read("spawn_subtask", { type: "a", description: "b" }, groups)), /group of tasks/);
    assert.match(why(read("ask", { question: 7 })), /question: must be a text/);
    assert.match(why(read("ask", { question: "?", wait_s: -1 })), /wait_s/);
  });

  it("keeps no secret of a request, a question or a refusal", () => {
    const request = {
      ...{ type: VALUE, subtype: VALUE, description: VALUE, inputs: { key: VALUE } },
      ...{ file_paths: [VALUE], return_expectations: VALUE },
    };
    const calls = [
      read("spawn_subtask", request),
      read("spawn_subtask", { ...request, [VALUE]: 1 }),
      read("ask", { question: `${"x".repeat(9_995)}${VALUE}`, default: VALUE }),
    ];
    assert.deepEqual(
      calls.map(({ is }) => is),
      ["subtask", "refused", "question"],
    );
    assert.doesNotMatch(JSON.stringify(calls), /hunte/);
  });

  it("names files from the root of the workspace, also with a slash in front", () => {
    const call = read("spawn_subtask", { type: "x", description: "y", file_paths: ["/src/main.py", "a.py"] });
    assert.deepEqual(call.is === "subtask" && call.order.filePaths, ["src/main.py", "a.py"]);
  });
});
