/** Tests `skein doctor`: it names every obstacle to a run, goes on after each one, and shows no secret. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { promisify, stripVTControlCharacters } from "node:util";
import { inspect } from "../../src/app/inspect.ts";
import { inspectParts } from "../../src/compose/inspection.ts";
import { main } from "../../src/surfaces/cli/main.ts";
import { SILENT } from "../../src/surfaces/cli/output.ts";
import { makeRepository, openRepository, withScriptedGit } from "../support/repositories.ts";
import { agree, makePlace } from "./cli-place.ts";
import { badOf, examine, type Said, textsOf } from "./doctor-place.ts";

const LIMIT = { timeout: 60_000 };

describe("skein doctor", () => {
  it("says that a run could start, and changes nothing", LIMIT, async () => {
    await using place = await makePlace({ files: { Makefile: "test:\n\ttrue\n" } });
    const before = await place.repository.git("for-each-ref");
    const { code, out, err } = await place.skein("doctor", "--agent", place.agent);
    assert.equal(code, 0, out + err);
    assert.match(out, /^ok {4}git +2\.\d+.* \(2\.38 or newer is needed\)$/m);
    assert.match(out, /^ok {4}repository +\S.*, main at [0-9a-f]{10}, no uncommitted changes$/m);
    assert.match(out, /^ok {4}agent +\S.*agent\.sh works and plans$/m);
    assert.match(out, /^ok {4}gate +Makefile: make test$/m);
    assert.match(out, /^ok {4}isolation +each agent works in its own clone, outside your checkout; /m);
    assert.match(
      out,
      /^warn {2}isolation +(?:there is no sandbox for the agent|the agent itself does not run in the sandbox): it runs as you/m,
    );
    assert.match(
      out,
      /^ok {4}disk +.* free for the state folder; 15 workspaces of 4\.1 kB take up to 61 kB/m,
    );
    assert.match(out, /^ {2}agent {2}--agent {2}\["\/.*agent\.sh"\]$/m);
    assert.match(out, /^ {2}\d+ keys have their default; --all shows them$/m);
    assert.match(out, /^A run could start now, with 1 warning\.\n$/m);
    assert.ok(!out.includes("\u001b"), "no colours where there is no terminal");
    assert.equal(await place.repository.git("for-each-ref"), before);
    assert.equal(await place.repository.git("status", "--porcelain"), "");
    assert.equal(existsSync(place.state), false);
  });

  it("says what to do where there is no agent, or one that cannot be started", LIMIT, async () => {
    await using place = await makePlace();
    const mute = path.join(place.folder, "mute.sh");
    await writeFile(mute, "#!/bin/sh\n", { mode: 0o644 });
    await chmod(mute, 0o644);
    const script = path.join(place.folder, "script.json");
    await writeFile(script, "no script");
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [["--set", "lookFor=keys"], /^no agent is configured, and none was found$/],
      [["--agent", "no-such-agent"], /^no-such-agent was not found on the PATH$/],
      [["--agent", mute], /mute\.sh is not executable$/],
      [["--script", "nowhere.json"], /^there is no script .*nowhere\.json$/],
      [["--script", script], /^the script .*script\.json cannot be used: /],
      [["--agent", place.agent, "--planner", "no-such-planner"], /^no-such-planner was not found/],
    ];
    for (const [args, text] of cases) {
      const said = await examine(place, ...args);
      const [problem, ...others] = badOf(said);
      assert.match(problem?.text ?? "", text);
      assert.equal(problem?.name, args.includes("--planner") ? "planner" : "agent");
      assert.ok(problem?.next, `${problem?.text}: what to do?`);
      assert.deepEqual(others, []);
    }
  });

  it("goes on with the rest where there is no repository, no git, or an old one", LIMIT, async () => {
    await using place = await makePlace();
    const home = path.join(place.folder, "home");
    const outside = await examine(place, "--repo", home);
    assert.match(badOf(outside)[0]!.text, /is not in a git repository$/);
    assert.match(textsOf(outside, "state")[0]!, /^ok: .*\/state, /);
    const above = await examine(place, "--repo", place.folder);
    assert.match(textsOf(above, "state")[0]!, /^ok: .*\/state, /, "it is inside of no repository");
    const bin = path.join(place.folder, "bin");
    await mkdir(bin);
    const { PATH } = process.env; // Programs are looked up on the PATH of this process.
    using _back = { [Symbol.dispose]: () => void Object.assign(process.env, { PATH }) };
    process.env["PATH"] = bin;
    const run = place.with({ env: { PATH: bin } }).skein;
    const missing = await run("doctor", "--agent", place.agent);
    assert.equal(missing.code, 1, missing.err);
    assert.equal(missing.err, "");
    assert.match(missing.out, /^bad {3}git +.*git is not on the PATH.*\n +try: install git 2\.38 or newer$/m);
    assert.match(missing.out, /^bad {3}repository +not checked: git is missing$/m);
    assert.match(missing.out, /^ok {4}state /m);
    await writeFile(path.join(bin, "git"), "#!/bin/sh\necho git version 2.30.2\n", { mode: 0o755 });
    const old = await run("doctor");
    assert.equal(old.code, 1);
    assert.match(old.out, /^bad {3}git +git 2\.30 is too old$/m);
  });

  it("does not wait for a git that hangs", LIMIT, async () => {
    await using place = await makePlace();
    const folder = place.repository.folder;
    const request = {
      folder,
      configure: async () => ({ kind: "configuration", message: "not read" }) as const,
      node: { version: process.versions.node, path: process.execPath },
      maxMs: 100,
    };
    const { facts } = await withScriptedGit("exec tail -f /dev/null", () =>
      inspect(request, inspectParts({})),
    );
    assert.ok("failure" in facts.git && "failure" in facts.repository);
    assert.match(facts.git.failure.message, /git did not answer within 0\.1 s/);
  });

  it("names every mistake of the configuration with its place, and goes on", LIMIT, async () => {
    await using place = await makePlace();
    const file = path.join(place.repository.folder, "skein.yaml");
    await writeFile(file, "workers: many\nplaner: none\n");
    const wrong = await examine(place, "--agent", place.agent);
    assert.deepEqual(
      badOf(wrong).map(({ text }) => text.slice(0, 30)),
      ["skein.yaml:2:1: planer is not ", "skein.yaml:1:1: workers must b"],
    );
    assert.match(textsOf(wrong, "gate")[0]!, /correct the configuration first/);
    assert.match(textsOf(wrong, "state")[0]!, /^ok: /);
    await writeFile(file, "a: [\n");
    assert.match(badOf(await examine(place))[0]!.text, /is not valid YAML/);
    await rm(file);
    const base = await examine(place, "--agent", place.agent, "--base", "nowhere");
    assert.deepEqual(
      badOf(base).map(({ name, text }) => [name, text]),
      [["base", 'there is no commit "nowhere"']],
    );
  });

  it("does not wait for a configuration that is a pipe", { timeout: 90_000 }, async () => {
    await using place = await makePlace();
    await promisify(execFile)("mkfifo", [path.join(place.repository.folder, "skein.yaml")]);
    const { code, out } = await place.skein("doctor"); // Runs in a process of its own, which can be killed if it hangs.
    assert.equal(code, 1, out);
    assert.match(out, /^bad {3}configuration .*skein\.yaml cannot be read: it is not a file$/m);
  });

  it("does not take a link that leads nowhere for no configuration", LIMIT, async () => {
    await using place = await makePlace();
    await symlink("../moved/skein.yaml", path.join(place.repository.folder, "skein.yaml"));
    assert.match(badOf(await examine(place))[0]!.text, /^skein\.yaml is a link that leads nowhere$/);
    const { code, err } = await place.skein("run", "x", "--agent", place.agent);
    assert.deepEqual(
      [code, err],
      [3, "skein: skein.yaml is a link that leads nowhere\ntry: fix the link, or remove it\n"],
    );
  });

  it("shows every setting with where it comes from, and variables that have no effect", LIMIT, async () => {
    await using place = await makePlace();
    await writeFile(
      path.join(place.repository.folder, "skein.yaml"),
      "# first\nworkers: 3\ngate:\n  - 'true'\n",
    );
    await agree(place);
    const env = { SKEIN_TIMEOUT_WORK: "90m", SKEIN_COLOUR_OF_MONEY: "1" };
    const args = ["doctor", "--agent", place.agent, "--set", "replanAfter=5"];
    const { out, code } = await place.with({ env }).skein(...args);
    assert.equal(code, 0, out);
    assert.match(out, /^ {2}workers +skein\.yaml:2 +3$/m);
    assert.match(out, /^ {2}gate +skein\.yaml:3 +\[\{"name":"true","run":"true"\}\]$/m);
    assert.match(out, /^ {2}timeout\.work +SKEIN_TIMEOUT_WORK +90m$/m);
    assert.match(out, /^ {2}replanAfter +--set +5$/m);
    assert.doesNotMatch(out, /gateTimeout/);
    assert.match(out, /^warn {2}configuration SKEIN_COLOUR_OF_MONEY is set, but is not a key of skein.yaml/m);
    const all = (await place.skein(...args, "--all")).out;
    assert.match(all, /^ {2}gateTimeout +default +15m$/m);
    assert.match(all, /^ {2}budget\.tokens +default +not set$/m);
    assert.doesNotMatch(all, /--all shows them/);
  });

  it("shows no secret: of the environment, of what is handed on, or of a command line", LIMIT, async () => {
    await using place = await makePlace();
    const env = {
      MY_API_KEY: "plugh-plugh-plugh",
      MODEL_DOOR: "xyzzy-xyzzy-xyzzy",
      SKEIN_AGENT: JSON.stringify([
        place.agent,
        "plugh-plugh-plugh",
        "--token",
        "frotz",
        "xyzzy-xyzzy-xyzzy",
      ]),
      SKEIN_WORKSPACE_PASS: "MODEL_DOOR",
      SKEIN_WORKSPACE_SETUP: "echo plugh-plugh-plugh",
      SKEIN_GATE: '["test xyzzy-xyzzy-xyzzy"]',
    };
    for (const form of [["--all"], ["--json"]]) {
      const { out, code } = await place.with({ env }).skein("doctor", ...form);
      assert.equal(code, 0, out);
      assert.doesNotMatch(out, /plugh|xyzzy|frotz/);
      assert.match(out, /MODEL_DOOR/);
      assert.match(out, /\[redacted\]/);
    }
  });

  it("refuses a state folder that cannot be written, or is inside the repository", LIMIT, async () => {
    await using place = await makePlace();
    const file = path.join(place.folder, "a-file");
    await writeFile(file, "");
    const at = async (folder: string) => {
      const { out, code } = await place
        .with({ env: { SKEIN_STATE_DIR: folder } })
        .skein("doctor", "--json", "--agent", place.agent);
      assert.equal(code, 1, out);
      return badOf(JSON.parse(out) as Said);
    };
    const [blocked, ...others] = await at(path.join(file, "state"));
    assert.match(blocked!.text, /^cannot write to .*: .*a-file is not a folder$/);
    assert.match(blocked!.next!, /SKEIN_STATE_DIR/);
    assert.deepEqual(others, []);
    assert.match(
      (await at(path.join(place.repository.folder, "state")))[0]!.text,
      /is inside the repository/,
    );
    assert.match((await at("relative"))[0]!.text, /is not absolute/);
  });

  it("says of what kind a repository is", LIMIT, async () => {
    await using place = await makePlace({ files: { "a.txt": "a\n" } });
    const { git, folder } = place.repository;
    await place.repository.commit({ "b.txt": "b\n" });
    const look = (repo: string) => examine(place, "--agent", place.agent, "--repo", repo);
    const is = (said: Said) => said["repository"] as Record<string, unknown>;
    const well = await look(folder);
    assert.deepEqual(
      ["isBare", "isClean", "isShallow", "isPartial", "isLinked", "objectFormat", "branch"].map(
        (key) => is(well)[key],
      ),
      [false, true, false, false, false, "sha1", "main"],
    );
    await place.repository.write({ "a.txt": "changed\n" });
    const dirty = await look(folder);
    assert.equal(is(dirty)["isClean"], false);
    assert.match(textsOf(dirty, "repository")[1]!, /^warn: the checkout has 1 change that is not committed/);
    assert.doesNotMatch(textsOf(dirty, "repository")[0]!, /no uncommitted changes/);
    const linked = path.join(place.folder, "linked");
    await git("worktree", "add", "-q", "--detach", linked);
    const detached = await look(linked);
    assert.deepEqual([is(detached)["isLinked"], is(detached)["branch"]], [true, null]);
    assert.match(textsOf(detached, "repository").join("\n"), /HEAD is detached/);
    await git("config", "uploadpack.allowFilter", "true");
    const source = `file://${folder}`;
    const shallow = path.join(place.folder, "shallow");
    await git("clone", "-q", "--depth=1", source, shallow);
    assert.equal(is(await look(shallow))["isShallow"], true);
    const partial = path.join(place.folder, "partial");
    await git("clone", "-q", "--no-checkout", "--filter=blob:none", source, partial);
    const sparse = await look(partial);
    assert.equal(is(sparse)["isPartial"], true);
    assert.match(textsOf(sparse, "repository").join("\n"), /this is a partial clone/);
    const blobs = await openRepository(partial).git("rev-list", "--objects", "--missing=print", "HEAD");
    assert.match(blobs, /^\?/m, "nothing was fetched by looking");
    const bare = path.join(place.folder, "bare.git");
    await git("clone", "-q", "--bare", source, bare);
    assert.equal(is(await look(bare))["isBare"], true);
    await using other = await makeRepository({ format: "sha256", files: { "x.txt": "x\n" } });
    assert.match(textsOf(await look(other.folder), "repository")[0]!, /sha256 objects/);
  });

  it("finds a repository that is broken", LIMIT, async () => {
    await using place = await makePlace({ files: { Makefile: "test:\n\ttrue\n" } });
    const tree = await place.repository.git("rev-parse", "HEAD^{tree}");
    await rm(path.join(place.repository.folder, ".git", "objects", tree.slice(0, 2), tree.slice(2)));
    const said = await examine(place, "--agent", place.agent);
    assert.ok(badOf(said).some(({ name }) => name === "gate" || name === "repository"));
    assert.match(textsOf(said, "state")[0]!, /^ok: /);
  });

  it("says that there is no gate, and warns of programs of it that are not there", LIMIT, async () => {
    await using place = await makePlace();
    const gates = (...run: readonly string[]) =>
      examine(place, "--agent", place.agent, ...run.flatMap((line) => ["--gate", line])).then((said) =>
        textsOf(said, "gate"),
      );
    const [none] = await gates();
    assert.match(none!, /^warn: no gate was found: .*; tasks will land untested$/);
    assert.match((await gates("none"))[0]!, /^warn: the gate is switched off in the configuration; /);
    assert.deepEqual(await gates("FAST=1 no-such-tool --all", "./no-such-file"), [
      "ok: configured: FAST=1 no-such-tool --all, ./no-such-file",
      "bad: no-such-tool was not found on the PATH: the gate cannot run, and a run would stop at once",
      "warn: ./no-such-file was not found: until it is there, the gate has nothing to run",
    ]);
    assert.deepEqual(await gates("cd nowhere && ./x", "if true; then y; fi", "exit 0", "sh -c true"), [
      "ok: configured: cd nowhere && ./x, if true; then y; fi, exit 0, sh -c true",
    ]);
  });

  it("has the same keys of JSON whatever is wrong", LIMIT, async () => {
    await using place = await makePlace();
    const well = await examine(place, "--agent", place.agent);
    const outside = await examine(place, "--repo", path.join(place.folder, "home"));
    const wrong = await examine(place, "--set", "workers=many");
    for (const said of [outside, wrong]) assert.deepEqual(Object.keys(said), Object.keys(well));
    assert.deepEqual([outside["repository"], outside["gate"], outside["agents"]], [null, null, null]);
    assert.deepEqual(wrong.settings, []);
    const { problem, spec } = (well["agents"] as { problem: unknown; spec: object }[])[0]!;
    assert.deepEqual([problem, spec], [null, { kind: "command", command: [place.agent] }]);
  });

  it(
    "counts runs, and finds a script that lies at the top of the repository from anywhere",
    LIMIT,
    async () => {
      await using place = await makePlace();
      assert.equal((await place.skein("run", "x", "--agent", place.agent, "--gate", "true")).code, 0);
      assert.match(textsOf(await examine(place, "--agent", place.agent), "state")[0]!, /, 1 run$/);
      const { folder } = place.repository;
      await place.repository.write({
        "skein.yaml": "agent: { kind: scripted, script: script.json }\n",
        "script.json": JSON.stringify({ plans: {}, tasks: {} }),
      });
      const elsewhere = place.with({ folder: path.join(place.folder, "home") });
      const { out } = await elsewhere.skein("doctor", "--repo", folder, "--json");
      assert.doesNotMatch(textsOf(JSON.parse(out), "agent")[0]!, /there is no script/);
      const ran = await elsewhere.skein("run", "x", "--repo", folder, "--set", "workers=0");
      assert.equal(ran.code, 3);
      const started = await elsewhere.skein("run", "x", "--repo", folder);
      assert.doesNotMatch(started.err, /there is no script/);
    },
  );

  it("is coloured on a terminal, and its lines fit", LIMIT, async () => {
    await using place = await makePlace();
    let out = "";
    const sink = {
      write: (text: string) => {
        out += text;
      },
      hasColours: true,
      size: () => ({ columns: 80, rows: 24 }),
    };
    const env = { ...process.env, SKEIN_STATE_DIR: place.state };
    await main(["doctor"], { out: sink, err: SILENT }, { env, folder: place.repository.folder });
    assert.ok(out.includes("\u001b[32mok"));
    assert.ok(out.includes("\u001b[33mbad"));
    const lines = stripVTControlCharacters(out).split("\n");
    const at = lines.findIndex((line) => line.startsWith("ok    isolation     each agent"));
    assert.match(lines[at + 1] ?? "", /^ {20}\S/);
    for (const line of lines) assert.ok(line.length <= 80, line);
  });
});
