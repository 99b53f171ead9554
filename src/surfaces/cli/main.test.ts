/** Tests the command line: help, version, unknown commands and options, exit codes, and output that fails. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
import { invocationOf, main } from "./main.ts";

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
  assert.deepEqual(await run("help", "plan", "check"), await run("plan", "check", "--help"));
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

test("a mistake in a verb is explained by that verb's help", async () => {
  assert.match((await run("run", "--wat")).err, /\nsee skein run --help\n$/);
  assert.match((await run("deliver", "a", "b")).err, /\nsee skein deliver --help\n$/);
  assert.match((await run("salvage", "restore")).err, /\nsee skein salvage restore --help\n$/);
  assert.equal(JSON.parse((await run("--json", "cancel")).err).error.see, "skein cancel --help");
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

test("with --json the version is a JSON object", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  for (const args of [
    ["--json", "--version"],
    ["-V", "--json"],
  ])
    assert.deepEqual(await run(...args), { code: EXIT.done, out: `{"version":"${version}"}\n`, err: "" });
});

test("help of what only looks like an option is refused as an unknown command", async () => {
  for (const name of ["--json", "--version", "--help"]) {
    const { code, out, err } = await run("help", "--", name);
    assert.deepEqual([code, out], [EXIT.usage, ""]);
    assert.match(err, new RegExp(`^skein: unknown command '${name}'\n`));
  }
});

test("what was typed is echoed without control characters, and not at length", async () => {
  for (const typed of ["a\u001b[2Jb\nc\r\u0007", "--a\u001b[2Jb\nc\u202e"]) {
    const { err } = await run(typed);
    assert.match(err, /^skein: unknown (?:command|option) '.*'\nsee skein --help\n$/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for control characters.
    assert.doesNotMatch(err, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  }
  for (const typed of ["x".repeat(100_000), `--${"x".repeat(100_000)}`]) {
    assert.match((await run(typed)).err, /^skein: unknown (?:command|option) '.{80}…'\nsee skein --help\n$/);
    assert.ok((await run("--json", typed)).err.length < 300);
  }
});

test("output that cannot be written gives one line and a failure", {
  skip: !existsSync("/dev/full") && "there is no /dev/full",
}, () => {
  const skein = fileURLToPath(new URL("../../../bin/skein", import.meta.url));
  const full = openSync("/dev/full", "w");
  try {
    for (const args of [["--help"], ["--version"]]) {
      const { status, stderr } = spawnSync(process.execPath, [skein, ...args], {
        stdio: ["ignore", full, "pipe"],
        encoding: "utf8",
      });
      assert.equal(status, EXIT.notAllDone);
      assert.match(stderr, /^skein: cannot write the output: .*no space left.*\n$/);
    }
    assert.notEqual(
      spawnSync(process.execPath, [skein, "hepl"], { stdio: ["ignore", "pipe", full] }).status,
      0,
    );
  } finally {
    closeSync(full);
  }
});

test("what is loaded before a verb is known is small: no engine, no database, no schema library", () => {
  const loaded = new Set<string>();
  const waiting = ["main.ts", "program.ts"].map((file) => new URL(file, import.meta.url).href);
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    if (!file.startsWith("file:")) continue;
    const text = readFileSync(new URL(file), "utf8");
    for (const [, what = ""] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*?from "([^"]+)";$/gms))
      waiting.push(what.startsWith(".") ? new URL(what, file).href : what);
  }
  const names = [...loaded].map((file) => file.replace(/^.*\/src\//, ""));
  assert.ok(names.includes("surfaces/cli/commands.ts"), "the imports are really followed");
  const heavy = /^(?:zod|yaml|node:sqlite|compose\.ts|(?:config|engine|adapters|jobs)\/)/;
  assert.deepEqual(
    names.filter((name) => heavy.test(name)),
    [],
  );
});

test("a request that is a list is no option", async () => {
  const { code, out } = await run(
    "plan",
    "- Add a --dry flag\n- Fix the crash on start",
    "--by",
    "rules",
    "--json",
  );
  assert.equal(code, EXIT.done);
  assert.equal(JSON.parse(out).tasks.length, 2);
});

test("a command that the shell finds is called by its name, any other by its path", () => {
  assert.equal(invocationOf("/usr/local/bin/skein", "/bin:/usr/local/bin/"), "skein");
  assert.equal(invocationOf("/home/me/skein/bin/skein", "/bin:/usr/bin"), "/home/me/skein/bin/skein");
  assert.equal(invocationOf("/my tools/bin/skein", "/bin"), "'/my tools/bin/skein'");
  assert.equal(invocationOf("/p/some.test.ts", "/bin"), "skein", "started by something else");
});

test("what npm adds to the PATH of its scripts is not there afterwards", () => {
  const file = "/p/node_modules/.bin/skein";
  assert.equal(invocationOf(file, "/p/node_modules/.bin:/bin"), file);
});
