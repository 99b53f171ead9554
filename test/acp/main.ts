/** `npm run acp`: drives third-party agents of the Agent Client Protocol through a real run, on a scripted model. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { install } from "./install.ts";
import { RECIPES } from "./recipes.ts";
import { record } from "./record.ts";
import { TASKS, trial } from "./trial.ts";

const NAMES = RECIPES.map(({ name }) => name).join(", ");

const HELP = `Installs an agent from the npm registry, and lets it plan, make and hand off three changes in a real run.

  npm run acp -- opencode                    one of ${NAMES}; several can be named, or all
  npm run acp -- all --record                writes what came of it into test/acp/last-results.json
  npm run acp -- opencode --cache <folder>   keeps what was installed there, for the next time
  npm run acp -- opencode --verbose          each call that the model's server gets

Prints a line of JSON for each. Exit: 0 all of them landed their changes, 1 one did not, 2 usage, 3 one could not be\ninstalled.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    console.error(options);
    return 2;
  }
  await using place = await cacheIn(options.cache);
  let failed = 0;
  for (const recipe of options.recipes) {
    const installed = await install(recipe, place.folder).catch(notInstalled);
    if (!installed) return 3;
    const result = await trial(recipe, installed, options.verbose);
    if (result.exitCode !== 0 || result.landed < TASKS.length) failed += 1;
    if (options.isRecorded) record(recipe, installed, result);
    const { ms, megabytes } = installed;
    const { name, packages } = recipe;
    console.log(JSON.stringify({ agent: name, packages, installMs: ms, megabytes, ...result }));
  }
  return failed === 0 ? 0 : 1;
}

function notInstalled(error: unknown): undefined {
  console.error(`it could not be installed: ${String(error).slice(0, 2_000)}`);
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        cache: { type: "string" },
        record: { type: "boolean", default: false },
        verbose: { type: "boolean", default: false },
      },
    });
    const names = positionals.flatMap((name) =>
      name === "all" ? RECIPES.map((recipe) => recipe.name) : name,
    );
    const recipes = names.map((name) => RECIPES.find((recipe) => recipe.name === name) ?? name);
    const known = recipes.filter((recipe) => typeof recipe !== "string");
    if (known.length === 0 || known.length < recipes.length) return HELP;
    return { recipes: known, cache: values.cache, verbose: values.verbose, isRecorded: values.record };
  } catch (error) {
    return `${String(error)}\n\n${HELP}`;
  }
}

/**
 * Gives the folder for installed agents. A folder that the user named is kept; a temporary one is removed at the end.
 */
async function cacheIn(given: string | undefined): Promise<AsyncDisposable & { readonly folder: string }> {
  if (given !== undefined) return { folder: path.resolve(given), [Symbol.asyncDispose]: async () => {} };
  const folder = await mkdtemp(path.join(tmpdir(), "skein-acp-"));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }) };
}
