/**
 * Tests the published package where it is installed: packs a copy of the checkout, installs the tarball into an empty
 * project, and uses it as a command and as a library. npm itself installs, but offline and with an empty cache: the
 * checkout's dependencies are copied to where npm would put them, and npm keeps those that satisfy the manifest. So the
 * test needs neither a registry nor a warm cache, and still fails if the manifest asks for something that the checkout
 * lacks.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { importsOf } from "../tools/imports.ts";
import { ROOT, sourceFiles } from "../tools/source-files.ts";
import { makeRepository } from "./support/repositories.ts";
import { openTerminal } from "./support/terminal.ts";

type Manifest = { readonly version: string; readonly dependencies?: Record<string, string> };
type Packed = { readonly filename: string; readonly files: readonly { path: string; mode: number }[] };

const readManifest = (folder: string) =>
  JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;

const temporary = mkdtempSync(path.join(tmpdir(), "skein package "));
const clone = path.join(temporary, "clone");
const project = path.join(temporary, "a project");
const installed = path.join(project, "node_modules/skein-agents");
const manifest = readManifest(ROOT);
let packed: Packed;

/** Without npm's own variables, which would make an npm below `npm test` work on this checkout. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
  npm_config_cache: path.join(temporary, "cache"),
  npm_config_offline: "true",
  npm_config_update_notifier: "false",
};

async function run(command: string, args: readonly string[], cwd: string, env = environment) {
  const options = {
    cwd,
    env,
    timeout: 300_000,
    killSignal: "SIGKILL",
    maxBuffer: 1 << 26,
  } as const;
  return await promisify(execFile)(command, args, options);
}

describe("the published package", () => {
  // In a suite of its own: a hook outside of any suite would run before every test of every file.
  before(prepare);
  after(() => rmSync(temporary, { recursive: true, force: true }));

  test("the tarball holds the command, the build, its types, the licence and the readme", () => {
    const files = new Map(packed.files.map((file) => [file.path, file.mode]));
    const expected = [
      "bin/skein",
      "bin/package.json",
      "demo/project/SPEC.md",
      "demo/work/command/bin/almanac.js",
      "dist/main.js",
      "dist/index.js",
      "dist/graph.js",
      "dist/planning.js",
      "dist/subtasks.js",
      "dist/scripted-program.js",
      "dist/types/index.d.ts",
      "docs/README.md",
      "planning/words.json",
      "prompts/worker.md",
      "schema/skein-yaml.v1.json",
    ];
    for (const file of [...expected, "CHANGELOG.md", "LICENSE", "README.md", "package.json"])
      assert.ok(files.has(file), file);
    assert.equal((files.get("bin/skein") ?? 0) & 0o111, 0o111);
  });

  test("the tarball holds no test, no source, no tool and nothing of an earlier build", () => {
    const unwanted = packed.files
      .map((file) => file.path)
      .filter((file) => /^(?!demo\/).*\.test\.|^(?:src|test|bench|tools)\/|stale|(?<!\.d)\.ts$/.test(file));
    assert.deepEqual(unwanted, []);
  });

  test("what is built imports only files that exist, and packages that the manifest declares", () => {
    for (const { path: file, text } of sourceFiles(installed, ["dist"])) {
      for (const { specifier = "" } of importsOf(text)) {
        if (specifier.startsWith("node:")) continue;
        // Types keep the source's file name (./a.ts), for which the compiler finds a.d.ts.
        const target = specifier.startsWith(".")
          ? existsSync(path.join(installed, path.dirname(file), specifier.replace(/\.ts$/, ".d.ts")))
          : packageOf(specifier) in (manifest.dependencies ?? {});
        assert.ok(target, `${file} imports ${specifier}`);
      }
    }
  });

  test("the installed command says its version on this Node", async () => {
    const bin = path.join(project, "node_modules/.bin/skein");
    const { stdout, stderr } = await run(process.execPath, [bin, "--version"], temporary);
    assert.deepEqual({ stdout, stderr }, { stdout: `${manifest.version}\n`, stderr: "" });
  });

  test("the installed command works on the machine's Node, or says which Node it needs", async () => {
    const node = machineNode() ?? process.execPath;
    const version = (await run(node, ["--version"], temporary)).stdout.trim();
    const bin = path.join(project, "node_modules/.bin/skein");
    const ended = await run(node, [bin, "--version", "--json"], temporary).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
    if (Number.parseInt(version.slice(1), 10) >= 24) {
      assert.deepEqual([ended.code, ended.stdout], [0, `{"version":"${manifest.version}"}\n`]);
    } else {
      assert.deepEqual([ended.code, ended.stdout], [3, ""]);
      assert.ok(
        ended.stderr.startsWith(`skein needs Node 24 or newer; this is Node ${version.slice(1)} (`),
        ended.stderr,
      );
    }
  });

  test("the installed command takes a goal to a landed commit, with the scripted agent", async () => {
    await using repository = await makeRepository({ files: { "a.txt": "old\n" } });
    const script = path.join(temporary, "script.json");
    const end = { handoff: { status: "complete", summary: "wrote it" } };
    const work = { t: [{ steps: [{ do: "write", path: "a.txt", text: "new\n" }], end }] };
    writeFileSync(script, JSON.stringify({ plans: {}, work }));
    const bin = path.join(project, "node_modules/.bin/skein");
    const args = [bin, "run", "say new", "--script", script, "--gate", "test -f a.txt", "--json"];
    const env = { ...environment, SKEIN_STATE_DIR: path.join(temporary, "state") };
    const { stdout } = await run(process.execPath, args, repository.folder, env);
    const events = stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { type: string });
    assert.equal(events.at(-1)?.type, "run.closed");
    assert.equal(events.filter(({ type }) => type === "batch.landed").length, 1);
    const onTerminal = [process.execPath, ...args.slice(0, -1)];
    await using terminal = openTerminal(onTerminal, { folder: repository.folder, env });
    assert.equal(await terminal.exited, 0, terminal.screen());
    assert.match(terminal.raw(), /1049h[\s\S]*Landing: [\s\S]*1049l[\s\S]* deliver /);
  });

  test("strict TypeScript programs, and what the readme and three pages show, compile against its types", async () => {
    const [subtasks = ""] = shownIn("docs/subtasks.md");
    const shown = ["README.md", "docs/library.md", "docs/graph.md"].flatMap(shownIn);
    const readme = shown.map((code, i) => [`readme-${i}.ts`, code]);
    assert.equal(readme.length, 5);
    const programs = { "embedding.ts": EMBEDDING, "subtasks.ts": subtasks };
    assert.equal(await compile({ ...programs, ...Object.fromEntries(readme) }), "");
    const said = async (file: string) => (await run(process.execPath, [file], project)).stdout;
    assert.match(await said("readme-4.js"), /^debugger did fix, after 1 retries/);
    assert.equal(
      await said("embedding.js"),
      "complete a.md\npolicy config: workers must be a whole number from 1, not 0\n",
    );
    assert.equal(await said("subtasks.js"), "COMPLETE: written, and no mistakes\n");
  });

  test("its types compile in a plain project: no settings but the module's, no types of Node", async () => {
    const plain = "--strict --module nodenext --skipLibCheck false --noEmit";
    const program = { "plain.ts": PLAIN_PROGRAM };
    assert.equal(await compile(program, `${plain} --target es2022`), "");
    assert.equal(await compile(program, `${plain} --module preserve --target esnext`), "");
  });

  test("importing it loads little, and no other package", async () => {
    const loaded = await loadedBy("skein-agents");
    const unwanted = /node_modules\/(?!skein-agents\/)|^node:(?:sqlite|child_process)/;
    assert.deepEqual(
      loaded.filter((url) => unwanted.test(url)),
      [],
    );
    const files = loaded.filter((url) => url.startsWith("file:"));
    const bytes = files.map((url) => statSync(new URL(url)).size).reduce((a, b) => a + b, 0);
    assert.ok(files.length > 1 && bytes < 150_000, `${files.length} files, ${bytes} bytes`);
  });

  test("the graph of tasks is one file, the same that the main entry hands on", async () => {
    const loaded = await loadedBy("skein-agents/graph");
    const files = loaded.filter((url) => url.startsWith("file:"));
    assert.equal(files.length, 1, files.join());
    assert.ok(statSync(new URL(files[0]!)).size < 60_000);
    const code =
      'import * as a from "skein-agents/graph"; import * as b from "skein-agents"; ' +
      "console.log(Object.keys(a).length, Object.keys(a).every((name) => a[name] === b[name]));";
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", code], project);
    assert.match(stdout, /^[1-9]\d* true$/m);
  });

  for (const name of ["task-graph", "decompose", "delegate", "refine", "embed-run"])
    test(`the example ${name} runs in a project that has installed the package`, async () => {
      for (const file of [name, "throwaway-repository"]) {
        const text = readFileSync(path.join(ROOT, "examples", `${file}.ts`), "utf8");
        const installedNames = text
          .replaceAll('"../src/index.ts"', '"skein-agents"')
          .replaceAll(/"\.\.\/src\/surfaces\/library\/(\w+)\.ts"/g, '"skein-agents/$1"');
        assert.doesNotMatch(installedNames, /\.\.\/src/);
        writeFileSync(path.join(project, `${file}.ts`), installedNames);
      }
      const env = { ...environment, SKEIN_STATE_DIR: path.join(temporary, `state of ${name}`) };
      const { stdout } = await run(process.execPath, [`${name}.ts`], project, env);
      assert.notEqual(stdout, "");
    });

  test("the installed command shows the demo, from its first plan to the last landing", async () => {
    const env = { ...environment, SKEIN_STATE_DIR: path.join(temporary, "state of demo"), TMPDIR: temporary };
    const bin = path.join(project, "node_modules/.bin/skein");
    const { stdout } = await run(process.execPath, [bin, "demo"], temporary, env);
    assert.match(stdout, /landed/);
  });

  test("the installed command finds the words that plans are made by", async () => {
    const bin = path.join(project, "node_modules/.bin/skein");
    const plan = await run(process.execPath, [bin, "plan", "add a search", "--by", "rules"], project);
    assert.match(plan.stdout, /add a search/i);
  });

  test("a program that the types forbid does not compile", async () => {
    const said = await compile({ "wrong.ts": WRONG_PROGRAM, "misspelt.ts": MISSPELT_PROGRAM });
    assert.match(said, /'"asleep"' is not assignable to type 'TaskStatus'/);
    assert.match(said, /'worker' does not exist in type/);
  });
});

async function prepare() {
  mkdirSync(clone);
  const published = [
    "bin",
    "demo",
    "planning",
    "src",
    "tools",
    "package.json",
    "tsconfig.json",
    "tsconfig.build.json",
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "docs",
    "prompts",
    "schema",
  ];
  for (const name of published.filter((name) => existsSync(path.join(ROOT, name))))
    cpSync(path.join(ROOT, name), path.join(clone, name), { recursive: true });
  symlinkSync(path.join(ROOT, "node_modules"), path.join(clone, "node_modules"));
  mkdirSync(path.join(clone, "dist"));
  writeFileSync(path.join(clone, "dist/stale.js"), "");

  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", temporary], clone);
  // Output of the package's own scripts can come before the JSON.
  [packed] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [Packed];

  mkdirSync(project);
  writeFileSync(path.join(project, "package.json"), '{ "private": true, "type": "module" }');
  // The dependencies are copied from here as well, so no registry is asked.
  const needed = [...closure(Object.keys(manifest.dependencies ?? {}))].map((name) =>
    path.join(ROOT, "node_modules", name),
  );
  const options = ["--json", "--ignore-scripts", "--pack-destination", temporary];
  const pack = await run("npm", ["pack", ...options, ...needed], temporary);
  const tarballs = [packed, ...(JSON.parse(pack.stdout) as Packed[])].map(({ filename }) =>
    path.join(temporary, filename),
  );
  await run("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...tarballs], project);
  mkdirSync(path.join(project, "node_modules/@types"));
  symlinkSync(path.join(ROOT, "node_modules/@types/node"), path.join(project, "node_modules/@types/node"));
}

/** Gives the compiler's messages. It checks the types of libraries as well, which include Skein's own. */
async function compile(programs: Readonly<Record<string, string>>, options = STRICT): Promise<string> {
  for (const [file, text] of Object.entries(programs)) writeFileSync(path.join(project, file), text);
  const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
  const done = run(process.execPath, [compiler, ...options.split(" "), ...Object.keys(programs)], project);
  return await done.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

const STRICT = "--strict --module nodenext --target esnext --lib esnext --types node --skipLibCheck false";

const shownIn = (page: string): readonly string[] =>
  Array.from(
    readFileSync(path.join(ROOT, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm),
    ([, code = ""]) => code,
  );

/** The packages with everything that they depend on. */
function closure(names: readonly string[]): ReadonlySet<string> {
  const all = new Set(names);
  for (const name of all) // A set that grows while it is iterated is iterated to its end.
    for (const needed of Object.keys(readManifest(path.join(ROOT, "node_modules", name)).dependencies ?? {}))
      all.add(needed);
  return all;
}

const packageOf = (specifier: string) => specifier.match(/^(?:@[^/]+\/)?[^/]+/)?.[0] ?? specifier;

/** The Node on the PATH outside of npm's scripts, which put the checkout's own Node first. */
function machineNode(): string | undefined {
  const { PATH = "" } = process.env;
  const folders = PATH.split(path.delimiter).filter((folder) => !folder.includes("node_modules"));
  return folders.map((folder) => path.join(folder, "node")).find((file) => existsSync(file));
}

const PLAIN_PROGRAM = `
import { createOrchestrator, hasFailed, type DeliveryEnd, type RunEnded } from "skein-agents";
import * as planning from "skein-agents/planning";

const skein = createOrchestrator({ repository: ".", config: { workers: 2 } });
const run = await skein.run({ goal: "write a" });
if (!hasFailed(run)) {
  const end: RunEnded = await run.ended;
  const delivered: DeliveryEnd | { failure: unknown } = await run.deliver();
  console.log(end.is, delivered, Object.keys(planning));
}
`;

const WRONG_PROGRAM = `
import { type PlannedTask } from "skein-agents";
export const task: PlannedTask = { id: "a", description: "", dependencies: [], status: "asleep" };
`;

const MISSPELT_PROGRAM = `
import { createOrchestrator } from "skein-agents";
export const skein = createOrchestrator({ repository: ".", config: { worker: 4 } });
`;

const EMBEDDING = `
import {
  createOrchestrator, decomposeAndExecute, hasFailed,
  type Handoff, type Orchestrator, type PlanFunction, type RunEvent, type WorkFunction,
} from "skein-agents";


const planner: PlanFunction = ({ first, spec }) => ({
  tasks: first ? [{ id: "a", description: "Write a", acceptance: "it is there", scope: [...spec.scope] }] : [],
});
const worker: WorkFunction = async ({ spec }) => ({ status: "complete", summary: "did it", filesChanged: spec.scope });
const events: RunEvent[] = [];
const handoff: Handoff = await decomposeAndExecute(
  { id: "all", description: "Write all", scope: ["a.md"] },
  {
    plan: (brief) => ({ tasks: brief.first ? [{ id: "a", description: "Write a", acceptance: "ok", scope: ["a.md"] }] : [] }),
    work: ({ spec }) => ({ status: "complete", summary: "did it", filesChanged: spec.scope }),
    policy: { retry: { maxFailed: 1 }, sharedFiles: [] },
    signal: AbortSignal.timeout(60_000),
    onEvent: (event) => events.push(event),
  },
);
console.log(handoff.status, handoff.filesChanged.join());

const skein: Orchestrator = createOrchestrator({
  repository: ".",
  config: { workers: 0, gate: "none", retry: { first: "1s" }, workspace: { pass: ["MY_KEY"] } },
  planner,
  worker,
});
const run = await skein.run({ goal: "write a" });
console.log(hasFailed(run) ? \`\${run.failure.kind} \${run.failure.message}\` : "started");
`;

const loadedBy = async (name: string): Promise<readonly string[]> => {
  const args = ["--input-type=module", "-e", LIST_LOADED.replace("NAME", name)];
  return (await run(process.execPath, args, project)).stdout.trim().split("\n");
};

const LIST_LOADED = `
import { registerHooks } from "node:module";
const load = (url, context, next) => (console.log(url), next(url, context));
registerHooks({ load });
await import("NAME");
`;
