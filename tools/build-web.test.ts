/** Tests the size of the page's script, and that the page's simpler indexes fold a run to the same state. */
import assert from "node:assert/strict";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { evolve } from "../src/core/log/evolve.ts";
import { emptyState } from "../src/core/log/state.ts";
import { digest } from "../test/simulation/digest.ts";
import { tell } from "../test/simulation/story.ts";
import { buildPage, MAX_SCRIPT_KB, plainIndexes } from "./build-web.ts";
import { ROOT } from "./source-files.ts";

const makeFolder = () => mkdtempDisposable(path.join(tmpdir(), "skein-page-"));

type Fold = { readonly evolve: typeof evolve; readonly emptyState: typeof emptyState };

test("the page's script stays below its limit", async () => {
  await using folder = await makeFolder();
  const kB = await buildPage(folder.path);
  assert.ok(kB <= MAX_SCRIPT_KB, `${kB} kB`);
});

test("a run folds to the same state with the plain indexes of the page, after every event", async () => {
  await using folder = await makeFolder();
  const outfile = path.join(folder.path, "fold.mjs");
  const contents = 'export * from "./evolve.ts"; export * from "./state.ts";';
  await build({
    stdin: { contents, resolveDir: path.join(ROOT, "src/core/log") },
    outfile,
    bundle: true,
    format: "esm",
    tsconfigRaw: {},
    plugins: [plainIndexes],
  });
  const page: Fold = await import(pathToFileURL(outfile).href);
  for (const seed of [3, 14, 160, 201, 900_937]) {
    const { events } = await tell(seed);
    const [here, there] = [emptyState(), page.emptyState()];
    for (const [at, event] of events.entries()) {
      evolve(here, event);
      page.evolve(there, event);
      assert.deepEqual(digest(there), digest(here), `seed ${seed}, event ${at}`);
    }
  }
});
