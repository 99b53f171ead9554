/** Tests the examples: each is run as its first lines say, prints what it promises, and leaves nothing behind. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../tools/source-files.ts";
import { newFolder } from "./support/folders.ts";
import { plainEnvironment } from "./support/repositories.ts";

const LIMIT = { timeout: 150_000 };

/** Lines that an example must print, in this order. */
const SHOWN: Readonly<Record<string, readonly RegExp[]>> = {
  "task-graph.ts": [
    /^design starts$/,
    /^design: tech-lead-architect did it, after 0 retries$/,
    /^store: main did it, after 1 retries$/,
    /^test: test-runner did it, after 0 retries$/,
    /^all 4 done$/,
  ],
  "decompose.ts": [
    /^ {2}heard: how-to-(?:deploy|upgrade) is done$/,
    /^heard: how-to is done$/,
    /^"Translate the guide" was split into 4 subtasks: 4 complete, 0 failed, 0 other\.$/,
    /^\[install\] complete: translated \(before: the work function threw: the model answered with an empty page\)$/,
    /^complete: 5 files, 500 tokens$/,
  ],
  "delegate.ts": [
    /^t\.1 asks, by way of t: Which spelling: British or American\?$/,
    /^t\.1 said \{"mistakes":\[\],"spelling":"British"\}$/,
    /^COMPLETE: Hello, colour\. In French, as far as it came: Bonjour, …$/,
  ],
  "refine.ts": [
    /^iteration 1: script 1, evaluator: mend it: add\(2, 3\) === 5 is false$/,
    /^iteration 2: script 0, evaluator: good$/,
    /^COMPLETE: const add = \(a, b\) => a \+ b;$/,
    /^COMPLETE: 3 \+ 5 \+ 6$/,
  ],
  "embed-run.ts": [
    /^t\.1 goes again: breaks the gate/,
    /^t\.1 handed in: changed part\.js$/,
    /^landed, green$/,
    /^the run is done: 2 of 2 tasks done$/,
    /^untouched: exports\.greet = \(name\) => "Hello " \+ name;$/,
    /^delivered to main$/,
    /^now: exports\.greet = \(name\) => "Hello " \+ name \+ "!";$/,
  ],
  "steer-a-run.ts": [
    /^pause: heard - the run is paused$/,
    /^steer: heard$/,
    /^cancel: heard$/,
    /^cancel: .*there is no task "hugh"/,
    /^resume: heard$/,
    /^planner hears: One more page, please: extra$/,
    /^stop: heard - \{ is: 'stopped' \}$/,
    /^went on: \{ is: 'closed', how: 'done', left: \[\] \}$/,
    /^ {2}huge: cancelled$/,
    /^ {2}extra: done$/,
    /^slow\.md$/,
  ],
};

type Ended = { readonly code: number; readonly out: string; readonly err: string };

/** Runs an example with a home and a temporary folder of its own, so that leftovers are seen. */
function run(example: string, place: string): Promise<Ended> {
  const [TMPDIR, HOME] = ["temporary", "home"].map((name) => path.join(place, name));
  for (const folder of [TMPDIR, HOME]) mkdirSync(folder!);
  const env = { ...plainEnvironment(), TMPDIR, HOME };
  const { promise, resolve } = Promise.withResolvers<Ended>();
  const file = path.join(ROOT, "examples", example);
  execFile(process.execPath, [file], { cwd: place, env, timeout: 120_000 }, (error, out, err) =>
    resolve({ code: error === null ? 0 : Number(error.code ?? -1), out, err }),
  );
  return promise;
}

describe("the examples", LIMIT, () => {
  const programs = readdirSync(path.join(ROOT, "examples")).filter(
    (name) => name.endsWith(".ts") && name !== "throwaway-repository.ts",
  );

  it("are those that are looked at here, and that docs/library.md lists", () => {
    assert.deepEqual(programs.toSorted(), Object.keys(SHOWN).toSorted());
    const page = readFileSync(path.join(ROOT, "docs/library.md"), "utf8");
    for (const name of programs) assert.ok(page.includes(`(../examples/${name})`), name);
  });

  it("say what they show, and how they are run", () => {
    for (const name of programs) {
      const text = readFileSync(path.join(ROOT, "examples", name), "utf8");
      assert.match(text, /^\/\*\*\n \* /);
      assert.ok(text.includes(` *   npm ci, then: node_modules/.bin/node examples/${name}\n */`), name);
    }
  });

  for (const name of programs)
    it(`${name} shows what it says, and leaves nothing behind`, async () => {
      const place = newFolder();
      const { code, out, err } = await run(name, place);
      assert.deepEqual([code, err], [0, ""], out);
      let at = -1;
      const lines = out.split("\n");
      for (const wanted of SHOWN[name] ?? []) {
        at = lines.findIndex((line, i) => i > at && wanted.test(line));
        assert.notEqual(at, -1, `${wanted} is not there, or not in its place:\n${out}`);
      }
      const left = readdirSync(place, { recursive: true });
      assert.deepEqual(left.toSorted(), ["home", "temporary"]);
    });
});
