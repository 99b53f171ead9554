/**
 * Executes a graph of tasks, each given to a matching specialist and retried on failure. Needs no repository, account
 * or network.
 *
 *   npm ci, then: node_modules/.bin/node examples/task-graph.ts
 */
import { DelegationEngine, TaskGraph } from "../src/surfaces/library/graph.ts"; // In your project: from "skein-agents/graph".

const graph = new TaskGraph([
  { id: "design", description: "Plan the architecture of the importer" },
  { id: "parse", description: "Implement the parser", dependencies: ["design"] },
  { id: "store", description: "Implement the store", dependencies: ["design"] },
  { id: "test", description: "Run the tests", dependencies: ["parse", "store"] },
]);
const delegation = new DelegationEngine({ maxRetries: 2, retryDelayMs: 1 });

/** Your own agent: a model, a program, a person. This one fails once, at the store. */
let drops = 1;
async function ask(specialist: string, task: { readonly id: string }) {
  if (task.id === "store" && drops-- > 0) return { success: false, output: "", error: "lost the connection" };
  return { success: true, output: `${specialist} did it` };
}

graph.on("task.started", ({ task }) => console.log(`${task.id} starts`));

const { success, results } = await graph.execute(async (task, { signal }) => {
  const { result, retries } = await delegation.executeWithRetry(task, ({ subagent }) => ask(subagent, task), {
    signal,
  });
  console.log(`${task.id}: ${result.output}, after ${retries} retries`);
  return result;
});

console.log(success ? `all ${results.size} done` : "something failed");
