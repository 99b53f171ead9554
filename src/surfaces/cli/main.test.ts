import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
import { main } from "./main.ts";

const run = (...args: string[]) => runOn({ hasColours: false }, ...args);

async function runOn({ hasColours }: { hasColours: boolean }, ...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await main(args, {
    out: { write: (text) => void out.push(text), hasColours },
    err: { write: (text) => void err.push(text), hasColours },
  });
  return { code, out: out.join(""), err: err.join("") };
}

test("--version says what package.json says, and nothing else", async () => {
  const manifest = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  assert.deepEqual(await run("--version"), { code: EXIT.done, out: `${manifest.version}\n`, err: "" });
  assert.deepEqual(await run("-V"), await run("--version"));
});

test("--help says what skein is, gives examples, and explains every exit code", async () => {
  const { code, out, err } = await run("--help");
  assert.equal(code, EXIT.done);
  assert.equal(err, "");
  assert.match(out, /coding agents in parallel/);
  assert.match(out, /Examples:\n {2}skein /);
  for (const [number, meaning] of Object.entries(EXIT_MEANINGS))
    assert.match(out, new RegExp(`^ {2}${number} +${meaning}$`, "m"));
});

test("the exit codes are those that scripts rely on", () => {
  assert.deepEqual(Object.values(EXIT), [0, 1, 2, 3, 4, 5, 75, 130]);
});

test("help is the same as --help, and help of a verb is that verb's", async () => {
  assert.deepEqual(await run("help"), await run("--help"));
  assert.match((await run("help", "help")).out, /^Usage: skein help/);
});

test("no verb at all shows the help on standard error and exits with 2", async () => {
  const { code, out, err } = await run();
  assert.equal(code, EXIT.usage);
  assert.equal(out, "");
  assert.equal(err, (await run("--help")).out);
});

for (const args of [["hepl"], ["hepl", "--loud"], ["--", "hepl"], ["help", "hepl"]])
  test(`an unknown verb is named, with what was probably meant: skein ${args.join(" ")}`, async () => {
    const { code, out, err } = await run(...args);
    assert.equal(code, EXIT.usage);
    assert.equal(out, "");
    assert.equal(err, "skein: unknown command 'hepl'\n(Did you mean help?)\nsee skein --help\n");
  });

test("a verb like no other is refused without a guess", async () => {
  assert.equal((await run("frobnicate")).err, "skein: unknown command 'frobnicate'\nsee skein --help\n");
});

test("an unknown option is named, before and after a verb", async () => {
  for (const args of [["--verison"], ["help", "--wat"]]) {
    const { code, err } = await run(...args);
    assert.equal(code, EXIT.usage);
    assert.match(err, new RegExp(`^skein: unknown option '${args.at(-1)}'`));
  }
  assert.match((await run("--verison")).err, /Did you mean --version\?/);
});

test("with --json an error is one JSON object on standard error", async () => {
  for (const [args, message] of [
    [["--json", "frobnicate"], "unknown command 'frobnicate'"],
    [["--json", "--frob"], "unknown option '--frob'"],
    [["--json"], "no command given"],
  ] as const) {
    const { code, out, err } = await run(...args);
    assert.equal(code, EXIT.usage);
    assert.equal(out, "");
    assert.deepEqual(JSON.parse(err), {
      error: { kind: "usage", message, exitCode: 2, see: "skein --help" },
    });
  }
});

test("--json after -- is an argument, not an option", async () => {
  assert.match((await run("--", "frobnicate", "--json")).err, /^skein: unknown command/);
});

test("colours appear only where the output can show them", async () => {
  assert.ok((await runOn({ hasColours: true }, "--help")).out.includes("\u001b["));
  assert.ok(!(await run("--help")).out.includes("\u001b["));
});
