/**
 * Splits a task with one function and does the parts with another: large parts are split again, failed ones are
 * retried, and the result is one handoff. Needs no repository, account or network.
 *
 *   npm ci, then: node_modules/.bin/node examples/decompose.ts
 */
import { decomposeAndExecute, type PlanBrief, type WorkBrief } from "../src/index.ts"; // In your project: from "skein-agents".

const guide = ["intro.md", "install.md", "first-steps.md", "how-to/deploy.md", "how-to/upgrade.md"];

/** One subtask per file, and one for the whole folder, which is large enough to be split again. */
function plan({ first, spec, depth, news }: PlanBrief) {
  for (const { key, end } of news) console.log(`${"  ".repeat(depth)}heard: ${key} is ${end}`);
  if (!first) return { tasks: [] };
  const isFolder = spec.scope.join() === "how-to/";
  const scopes = isFolder ? guide.filter((file) => file.startsWith("how-to/")) : spec.scope;
  return {
    scratchpad: "each file by itself",
    tasks: scopes.map((file) => ({
      id: file.replaceAll(/\W+/g, "-").replace(/-(?:md)?$/, ""),
      description: `Translate ${file}`,
      acceptance: "nothing of it is left in English",
      scope: [file],
    })),
  };
}

/** A model would be called here, with `signal`. The first attempt at one file fails. */
async function work({ spec, attempt, past }: WorkBrief, { signal }: { readonly signal: AbortSignal }) {
  signal.throwIfAborted();
  if (spec.key === "install" && attempt === 1) throw new Error("the model answered with an empty page");
  const why = past.map(({ failure }) => ` (before: ${failure.message})`).join("");
  return {
    status: "complete" as const,
    summary: `translated${why}`,
    filesChanged: spec.scope,
    metrics: { tokensUsed: 100, linesAdded: 40 },
  };
}

const handoff = await decomposeAndExecute(
  {
    id: "guide",
    description: "Translate the guide",
    scope: [...guide.filter((file) => !file.includes("/")), "how-to/"],
  },
  { plan, work, signal: AbortSignal.timeout(60_000), policy: { capacity: { work: 2 } } },
);

console.log(`\n${handoff.summary}\n`);
console.log(`${handoff.status}: ${handoff.filesChanged.length} files, ${handoff.metrics.tokensUsed} tokens`);
