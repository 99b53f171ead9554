/** Tests that the libraries of models are not loaded before a model is called. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";

/** The packages that a process has loaded after importing these modules. */
function loaded(modules: readonly string[]): readonly string[] {
  const urls = modules.map((file) => new URL(file, import.meta.url).href);
  const program = `
    import { registerHooks } from "node:module";
    const seen = new Set();
    registerHooks({ load: (url, context, next) => { seen.add(url); return next(url, context); } });
    for (const url of ${JSON.stringify(urls)}) await import(url);
    console.log(JSON.stringify([...seen].filter((url) => url.includes("/node_modules/"))));
  `;
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  );
}

describe("the libraries of models", () => {
  it("are not loaded before a model is called", () => {
    const files = [
      "./model-agent.ts",
      "../../models/providers.ts",
      "../../models/errors.ts",
      "../../models/prices.ts",
    ];
    assert.deepEqual(loaded(files), []);
  });

  it("would be seen, were they loaded", () => {
    assert.ok(loaded(["../tools/tools.ts"]).some((url) => /node_modules\/ai\//.test(url)));
  });
});
