/**
 * Runs groups of tasks: a loop that improves a draft until a script and an evaluator accept it, then a map over files
 * with a reduce. Needs no repository, account or network.
 *
 *   npm ci, then: node_modules/.bin/node examples/refine.ts
 */
import { executeTask, functionHandler, type Iteration } from "../src/surfaces/library/subtasks.ts"; // In your project: from "skein-agents/subtasks".

/** Models would be called here. The director's first draft has a mistake, which the script finds. */
const handler = functionHandler(({ task: { template, inputs } }) => {
  switch (template) {
    case "director":
      return inputs["feedback"] === undefined
        ? "const add = (a, b) => a - b;"
        : "const add = (a, b) => a + b;";
    case "evaluator": {
      const { exit_code, stdout } = inputs["script"] as { exit_code: number; stdout: string };
      const content = exit_code === 0 ? "good" : `mend it: ${stdout}`;
      return { status: "COMPLETE", content, notes: { success: exit_code === 0 } };
    }
    case "count":
      return String(String(inputs["item"]).length);
    default:
      return (inputs["results"] as { content: string }[]).map(({ content }) => content).join(" + ");
  }
});

const loop = await executeTask(
  {
    description: "Write a function that adds",
    director: { name: "director", description: "Write the function" },
    script: "add(2, 3) === 5",
    evaluator: { name: "evaluator", description: "Judge the function" },
    max_iterations: 3,
  },
  { goal: "add two numbers" },
  {
    handler,
    // Your own program: a test run, a compiler. The evaluator judges its exit code.
    runScript: async (script, draft) => {
      const isRight = new Function(`${draft} return ${script};`)() === true;
      return { exit_code: isRight ? 0 : 1, stdout: isRight ? "passed" : `${script} is false`, stderr: "" };
    },
  },
);
for (const { iteration, script, evaluator } of loop.notes["history"] as readonly Iteration[])
  console.log(`iteration ${iteration}: script ${script?.exit_code}, evaluator: ${evaluator}`);
console.log(`${loop.status}: ${loop.content}`);

const map = await executeTask(
  {
    description: "Count the letters",
    each: { name: "count", description: "Count the letters of a word" },
    over: "words",
    reduce: { name: "sum", description: "Put the counts together" },
  },
  { words: ["one", "three", "eleven"] },
  { handler },
);
console.log(`${map.status}: ${map.content}`);
