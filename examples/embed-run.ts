/**
 * Runs all of Skein inside a program: a real repository, a clone per task, a gate, a merge queue, a log. The planner
 * and the worker are plain functions. It makes a repository of its own and removes it at the end.
 *
 *   npm ci, then: node_modules/.bin/node examples/embed-run.ts
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createOrchestrator, hasFailed } from "../src/index.ts"; // In your project: from "skein-agents".
import { throwawayRepository } from "./throwaway-repository.ts";

await using repository = await throwawayRepository({
  "greet.js": 'exports.greet = (name) => "Hello " + name;\n',
  "check.js":
    'for (const file of ["./greet", "./part"]) try { require(file); } catch (e) { if (e.code !== "MODULE_NOT_FOUND") throw e; }\n',
});

await using skein = createOrchestrator({
  repository: repository.folder,
  env: repository.env,
  config: { gate: ["node check.js"], workers: 2 }, // The keys of skein.yaml.
  planner: ({ first }) => ({
    tasks: first
      ? [
          { id: "part", description: "Add part.js", acceptance: "part() says goodbye", scope: ["part.js"] },
          { id: "shout", description: "Greet loudly", acceptance: "there is a !", scope: ["greet.js"] },
        ]
      : [],
  }),
  worker: async ({ spec, attempt }, { folder }) => {
    const file = path.join(folder, spec.scope[0] ?? "");
    if (spec.key === "shout") {
      const text = await readFile(file, "utf8");
      await writeFile(file, text.replace("+ name", '+ name + "!"'));
    } else {
      // The first attempt does not parse: the gate turns red, and the next attempt is told why.
      await writeFile(file, attempt === 1 ? "exports.part = (;\n" : 'exports.part = () => "Goodbye";\n');
    }
    return { status: "complete", summary: `changed ${spec.scope[0]}` };
  },
});

const run = await skein.run({ goal: "Greet loudly, and say goodbye", signal: AbortSignal.timeout(120_000) });
if (hasFailed(run)) throw new Error(`${run.failure.message}; try: ${run.failure.next}`);

for await (const event of run.events) {
  if (event.type === "task.handed-off") console.log(`${event.task} handed in: ${event.handoff.summary}`);
  if (event.type === "task.retried") console.log(`${event.task} goes again: ${event.failure.message}`);
  if (event.type === "batch.landed") console.log(`landed, ${event.proof}`);
}

const { is, counts } = run.view();
console.log(`the run is ${is}: ${counts.done} of ${counts.total} tasks done`);
console.log(`untouched: ${(await readFile(path.join(repository.folder, "greet.js"), "utf8")).trim()}`);
const delivered = await run.deliver({ intoCheckout: true });
console.log(hasFailed(delivered) ? delivered.failure.message : `${delivered.is} to main`);
console.log(`now: ${(await readFile(path.join(repository.folder, "greet.js"), "utf8")).trim()}`);
