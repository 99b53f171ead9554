/**
 * Controls a run while it goes on: pauses and steers it, gives a task up, stops it in the middle and resumes it. It
 * makes a repository of its own and removes it at the end.
 *
 *   npm ci, then: node_modules/.bin/node examples/steer-a-run.ts
 */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createOrchestrator, hasFailed, type RunHandle } from "../src/index.ts"; // In your project: from "skein-agents".
import { throwawayRepository } from "./throwaway-repository.ts";

await using repository = await throwawayRepository({ "README.md": "# Pages\n" });

const page = (id: string) => ({
  id,
  description: `Write the page ${id}`,
  acceptance: `${id}.md is there`,
  scope: [`${id}.md`],
});

/** Resolves when a worker has begun a page. */
const begun = new Map(["slow", "huge", "extra"].map((id) => [id, Promise.withResolvers<void>()]));
let isPatient = true;

await using skein = createOrchestrator({
  repository: repository.folder,
  env: repository.env,
  config: { gate: "none" },
  planner: ({ first, steers }) => {
    for (const message of steers) console.log(`planner hears: ${message}`);
    if (first) return { tasks: [page("slow"), page("huge")] };
    return { tasks: steers.length > 0 ? [page("extra")] : [] };
  },
  worker: async ({ spec }, { folder, signal }) => {
    begun.get(spec.key)?.resolve();
    // These two never end by themselves: one will be given up, the other is done after the run was stopped.
    if (spec.key === "huge" || (spec.key === "slow" && isPatient)) await untilAborted(signal);
    await writeFile(path.join(folder, `${spec.key}.md`), `The page ${spec.key}.\n`);
    return { status: "complete", summary: `wrote ${spec.key}` };
  },
});

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

const started = (run: RunHandle | { failure: { message: string } }): RunHandle => {
  if (hasFailed(run)) throw new Error(run.failure.message);
  return run as RunHandle;
};

const run = started(await skein.run({ goal: "Write the pages" }));
await begun.get("huge")?.promise;

console.log("pause:", (await run.pause()).is, `- the run is ${run.view().is}`);
console.log("steer:", (await run.steer("One more page, please: extra")).is);
console.log("cancel:", (await run.cancel("huge", "nobody reads that much")).is);
console.log("cancel:", await run.cancel("hugh"));
console.log("resume:", (await run.resume()).is);
await begun.get("extra")?.promise;
for await (const { type } of run.events) if (type === "batch.landed") break;
console.log("stop:", (await run.stop()).is, "-", await run.ended);

isPatient = false;
const again = started(await skein.resume(run.run));
console.log("went on:", await again.ended);
for (const { key, word } of again.tasks()) console.log(`  ${key}: ${word}`);
console.log(await repository.git("ls-tree", "--name-only", again.target));
