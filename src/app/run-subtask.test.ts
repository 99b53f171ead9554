/** Tests a task that runs outside of any run: its result, its failures, and that its parts are closed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { defaultConfig } from "../config/read.ts";
import { failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { LoneAgent } from "../ports/lone-agent.ts";
import type { HandledTaskResult } from "../ports/subtasks.ts";
import { MemoryArtefacts } from "../subtasks/artefacts.ts";
import { TemplateRegistry } from "../subtasks/registry.ts";
import { runSubtask } from "./run-subtask.ts";

const NEVER = new AbortController().signal;

/** An agent with this answer, in parts that count how often they were closed. */
function machine(answer: HandledTaskResult, why?: ReturnType<typeof failure>) {
  const said: string[] = [];
  let closed = 0;
  const alone = {
    workspaces: { take: async () => ({ folder: "/shown", environment: {} }) },
    redact: (text: string) => text.replaceAll("secret", "[redacted]"),
    artefacts: new MemoryArtefacts(),
    taskHandlers: async ({ onFailure }: { onFailure: (one: object) => void }) => ({
      handler: {
        open: () => ({}),
        prompt: () => {
          if (why) onFailure(why);
          return answer;
        },
        addToolResponse: () => {},
      },
      handlers: {},
    }),
    close: async () => {
      closed += 1;
      return ["/left"];
    },
  } as unknown as LoneAgent;
  const parts = {
    project: { located: { top: "/here", gitDir: "/here/.git", head: "h", notices: async () => [] } },
    openAlone: async () => alone,
    specialists: async () => [],
    filesIn: () => ({ read: async () => ({ text: "" }), match: async () => [] }),
  };
  const request = {
    config: defaultConfig(),
    spec: { kind: "command", command: ["./a.sh"] } as const,
    template: { name: "one", type: "one", description: "Do one" },
    inputs: {},
    allowCode: false,
    registry: new TemplateRegistry(),
    say: (line: string) => said.push(line),
  };
  return { request, parts, said, closed: () => closed };
}

describe("a task outside of a run", () => {
  it("gives its result without secrets, and its place is closed", async () => {
    const { request, parts, said, closed } = machine({ content: "a secret", status: "COMPLETE", notes: {} });
    const end = await runSubtask(request, parts, NEVER);
    assert.ok(!hasFailed(end));
    assert.deepEqual([end.result.status, end.result.content], ["COMPLETE", "a [redacted]"]);
    assert.deepEqual([closed(), said], [1, ["could not be removed: /left"]]);
  });

  it("says what was wrong with the agent itself, if it failed", async () => {
    const why = failure("authentication", "the key is wrong");
    const { request, parts } = machine({ content: "", status: "FAILED", notes: {} }, why);
    const end = await runSubtask(request, parts, NEVER);
    assert.ok(!hasFailed(end) && end.cause === why);
  });

  it("has not begun where the agent has no place", async () => {
    const { request, parts } = machine({ content: "", status: "COMPLETE", notes: {} });
    const openAlone = async () => ({ failure: failure("repository", "no room") });
    const end = await runSubtask(request, { ...parts, openAlone }, NEVER);
    assert.ok(hasFailed(end) && end.failure.message === "no room");
  });
});
