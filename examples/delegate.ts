/**
 * Runs a task that delegates and continues: it spawns a subtask from an XML template, a person answers the subtask's
 * question, and a second subtask fails with partial results. Needs no repository, account or network.
 *
 *   npm ci, then: node_modules/.bin/node examples/delegate.ts
 */
import {
  executeTask,
  type FunctionTurn,
  functionHandler,
  TemplateRegistry,
} from "../src/surfaces/library/subtasks.ts"; // In your project: from "skein-agents/subtasks".

const registry = new TemplateRegistry();
registry.registerXml(`
  <task name="proof-read" type="verification">
    <description>Proof-read a text</description>
    <hints><hint>language</hint></hints>
    <inputs><input name="text">What to read</input></inputs>
    <return_expectations>{"type": "object", "required": ["mistakes"]}</return_expectations>
    <max_depth>1</max_depth>
  </task>`);
registry.register({ name: "translate", type: "translation", description: "Translate a text" });

/** Models would be called here: one function handles all tasks. */
function talk({ task, responses }: FunctionTurn) {
  const last = responses.at(-1);
  switch (task.template) {
    case "proof-read":
      if (last === undefined)
        return { status: "NEEDS_INPUT", content: "Which spelling: British or American?" } as const;
      return JSON.stringify({ mistakes: [], spelling: last.result.content });
    case "translate":
      return { status: "FAILED", content: "Bonjour, …", notes: {} } as const;
    default:
      return write(responses);
  }
}

/** The writer: it passes questions on, and handles a failed translation. */
function write(responses: FunctionTurn["responses"]) {
  const last = responses.at(-1);
  const text = "Hello, colour";
  if (last === undefined)
    return spawn({ type: "verification", description: "Proof-read my text", inputs: { text } });
  if (last.name.startsWith("question:"))
    return { status: "NEEDS_INPUT", content: last.result.content } as const;
  if (last.name === "subtask:verification") {
    console.log(`${String(last.result.notes["task_id"])} said ${last.result.content}`);
    return spawn({ type: "translation", description: "Translate it", inputs: { text } });
  }
  const left = last.result.notes.error?.details?.partialResults;
  return `${text}. In French, as far as it came: ${String(left)}`;
}

const spawn = (subtask_request: object) => ({ status: "CONTINUATION", notes: { subtask_request } }) as const;

const { status, content } = await executeTask(
  { name: "write", description: "Write a greeting" },
  { tone: "friendly" },
  {
    handler: functionHandler(talk),
    registry,
    ask: async ({ task, text, passedOnBy }) => {
      console.log(`${task} asks, by way of ${passedOnBy.join()}: ${text}`);
      return "British";
    },
    limits: { maxDepth: 3, chain: { tasks: 10 } },
    signal: AbortSignal.timeout(60_000),
  },
);
console.log(`${status}: ${content}`);
