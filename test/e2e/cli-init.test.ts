/** Tests `skein init`: it writes the right configuration for each kind of project, and no other file. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { readConfig } from "../../src/config/index.ts";
import { type Files, makeRepository } from "../support/repositories.ts";
import { makePlace, type Place } from "./cli-place.ts";

const LIMIT = { timeout: 60_000 };
const SCRIPTS = JSON.stringify({ scripts: { build: "true", test: "true" } });
const fileIn = (place: Place, name = "skein.yaml") => path.join(place.repository.folder, name);
const textIn = (place: Place) => readFile(fileIn(place), "utf8");

function configOf(text: string) {
  const read = readConfig({ file: { name: "skein.yaml", text }, env: {}, sets: [], flags: {} });
  assert.ok("config" in read, JSON.stringify(read));
  return read.config;
}
const DEFAULTS = configOf("");

type Kind = { readonly files: Files; readonly finds: string; readonly setup?: string };
const KINDS: Readonly<Record<string, Kind>> = {
  npm: {
    files: { "package.json": SCRIPTS, "package-lock.json": "{}" },
    finds: "package.json: npm run build, test",
    setup: "npm ci",
  },
  "npm without a lock file": {
    files: { "package.json": SCRIPTS },
    finds: "package.json: npm run build, test",
  },
  pnpm: {
    files: { "package.json": SCRIPTS, "pnpm-lock.yaml": "", "package-lock.json": "{}" },
    finds: "package.json: pnpm run build, test",
    setup: "pnpm install --frozen-lockfile",
  },
  yarn: {
    files: { "package.json": SCRIPTS, "yarn.lock": "" },
    finds: "package.json: yarn run build, test",
    setup: "yarn install --frozen-lockfile",
  },
  "the newer yarn": {
    files: { "package.json": SCRIPTS, "yarn.lock": "", ".yarnrc.yml": "" },
    finds: "package.json: yarn run build, test",
    setup: "yarn install --immutable",
  },
  cargo: {
    files: { "Cargo.toml": "", "Cargo.lock": "" },
    finds: "Cargo.toml: cargo build --quiet --all-targets; cargo test --quiet --no-fail-fast",
  },
  go: {
    files: { "go.mod": "module x\n", "go.sum": "" },
    finds: "go.mod: go build ./...; go vet ./...; go test ./...",
  },
  pytest: { files: { "pytest.ini": "" }, finds: "pytest.ini: python3 -m pytest -q" },
  make: { files: { Makefile: "check:\n\ttrue\n" }, finds: "Makefile: make check" },
  "no gate": { files: { "README.md": "" }, finds: 'Here "auto" finds nothing' },
};

describe("skein init", { concurrency: 2 }, () => {
  for (const [kind, { files, finds, setup }] of Object.entries(KINDS))
    it(`writes what was found, and otherwise the defaults: ${kind}`, LIMIT, async () => {
      await using place = await makePlace({ files });
      const ended = await place.skein("init");
      assert.equal(ended.code, 0, ended.err);
      const text = await textIn(place);
      assert.ok(text.includes(finds), text);
      const wanted = setup === undefined ? {} : { setup };
      assert.deepEqual(configOf(text), { ...DEFAULTS, workspace: { ...DEFAULTS.workspace, ...wanted } });
      assert.equal(await place.repository.git("status", "--porcelain"), "?? skein.yaml");
      assert.match(ended.out, /^wrote .*skein\.yaml$/m);
      assert.match(ended.out, kind === "no gate" ? /^gate {4}none found/m : /^gate {4}detected: /m);
      if (setup !== undefined) assert.ok(ended.out.includes(setup));
      assert.match(
        ended.out,
        /doctor --gate {2}# check whether a run could start now, and whether the gate passes/,
      );
    });

  it("is the real command, and doctor reads what it wrote", LIMIT, async () => {
    await using place = await makePlace({ files: KINDS["npm"]!.files });
    const ended = await place.skein("init", "--json");
    assert.equal(ended.code, 0, ended.err);
    const said = JSON.parse(ended.out);
    assert.deepEqual([said.file, said.isWritten, said.isReplaced], [fileIn(place), true, false]);
    assert.equal(said.text, await textIn(place));
    assert.deepEqual(said.setup, {
      command: "npm ci",
      lockFile: "package-lock.json",
      isNeeded: true,
      why: "Nothing is installed that could be copied. Faster: install it here, and leave this out; it is copied then.",
    });
    assert.deepEqual(said.gate.commands, ["npm run build", "npm run test"]);
    assert.equal((await stat(fileIn(place))).mode & 0o777, 0o666 & ~process.umask());
    const { out } = await place.skein("doctor", "--agent", place.agent);
    assert.match(out, /^ {2}workspace\.setup +skein\.yaml:\d+ +npm ci$/m);
  });

  it("names what the set-up that it proposes does not install", LIMIT, async () => {
    await using place = await makePlace({ files: { ...KINDS["npm"]!.files, "web/package-lock.json": "" } });
    const { out } = await place.skein("init");
    assert.match(out, /^ +It does not install web\/package-lock\.json: add what your gate needs$/m);
    assert.match(await textIn(place), /^ {2}# .*It does not install web\/package-lock\.json\.$/m);
    const { setup } = JSON.parse((await place.skein("doctor", "--agent", place.agent, "--json")).out);
    assert.deepEqual(setup.lacks, ["web/package-lock.json"]);
  });

  it("needs no set-up command where something is installed that is copied", LIMIT, async () => {
    await using place = await makePlace({
      files: { ...KINDS["npm"]!.files, ".gitignore": "node_modules\n" },
    });
    await mkdir(path.join(place.repository.folder, "node_modules"));
    assert.match((await place.skein("init")).out, /^set-up {2}not set: What you have installed is copied/m);
    const text = await textIn(place);
    assert.match(text, /^ {2}# setup: npm ci$/m);
    assert.deepEqual(configOf(text), DEFAULTS);
  });

  const PYTHON = { "pytest.ini": "", "requirements.txt": "flask\n", ".gitignore": ".venv\n" };

  it(
    "copies a virtual environment, but not one in which the checkout itself is installed",
    LIMIT,
    async () => {
      await using place = await makePlace({ files: PYTHON });
      const packages = ".venv/lib/python3.11/site-packages";
      await place.repository.write({ ".venv/pyvenv.cfg": "", [`${packages}/other.pth`]: "/elsewhere/src\n" });
      assert.match((await place.skein("init")).out, /^set-up {2}a copy of node_modules, \.venv: /m);
      const copied = configOf(await textIn(place));
      assert.deepEqual(copied.workspace.copy, ["node_modules", ".venv"]);
      assert.equal(copied.workspace.setup, undefined);
      const gate = ".venv/bin/python -m pytest -q";
      assert.deepEqual(copied.gate, [{ name: gate, run: gate }]);

      await place.repository.write({
        [`${packages}/__editable__.shop.pth`]: `${place.repository.folder}/src\n`,
      });
      const { out } = await place.skein("init", "--force");
      assert.match(out, /^set-up {2}python3 -m venv \.venv && .*\.venv has your checkout itself installed/ms);
      const made = configOf(await textIn(place));
      assert.deepEqual(made.workspace.copy, DEFAULTS.workspace.copy);
      assert.match(made.workspace.setup ?? "", /pip install -r requirements\.txt pytest$/);
      assert.deepEqual(made.gate, [{ name: gate, run: gate }]);
      await rm(fileIn(place));
      const doctor = await place.skein("doctor", "--agent", place.agent);
      assert.match(doctor.out, /^warn {2}set-up +found requirements\.txt, but workspaces are not set up\./m);
    },
  );

  it("leaves a file that is there, unless it may replace it", LIMIT, async () => {
    await using place = await makePlace();
    await writeFile(fileIn(place), "workers: 3\n");
    const refused = await place.skein("init");
    assert.equal(refused.code, 1);
    assert.match(refused.err, /skein\.yaml already exists; nothing was written\ntry: .*--force replaces it/);
    const { error } = JSON.parse((await place.skein("init", "--json")).err);
    assert.deepEqual([error.kind, error.exitCode], ["configuration", 1]);
    assert.equal(await textIn(place), "workers: 3\n");
    const printed = await place.skein("init", "--print");
    assert.equal(printed.code, 0);
    assert.equal(await textIn(place), "workers: 3\n");
    const replaced = await place.skein("init", "--force");
    assert.equal(replaced.code, 0, replaced.err);
    assert.match(replaced.out, /^replaced /);
    assert.equal(await textIn(place), printed.out);
    assert.deepEqual((await readdir(place.repository.folder)).sort(), [".git", "README.md", "skein.yaml"]);
  });

  it("lets only the first of several write", LIMIT, async () => {
    await using place = await makePlace();
    const ended = await Promise.all(["a", "b", "c", "d"].map(() => place.skein("init")));
    assert.deepEqual(ended.map(({ code }) => code).sort(), [0, 1, 1, 1]);
    const refused = ended.filter(({ code }) => code === 1);
    for (const { err } of refused) assert.match(err, /already exists; nothing was written/);
    assert.deepEqual((await readdir(place.repository.folder)).sort(), [".git", "README.md", "skein.yaml"]);
  });

  it("never writes through a link: the link is refused, or replaced itself", LIMIT, async () => {
    await using place = await makePlace();
    const outside = path.join(place.folder, "outside.yaml");
    await symlink(outside, fileIn(place)); // The link's target does not exist yet.
    assert.equal((await place.skein("init")).code, 1);
    assert.equal(existsSync(outside), false);
    await writeFile(outside, "workers: 3\n");
    assert.equal((await place.skein("init")).code, 1);
    assert.equal(await readlink(fileIn(place)), outside);
    assert.equal((await place.skein("init", "--force")).code, 0);
    assert.equal(await readFile(outside, "utf8"), "workers: 3\n");
    assert.ok((await lstat(fileIn(place))).isFile());
  });

  it("does not make a second configuration beside skein.yml", LIMIT, async () => {
    await using place = await makePlace();
    await writeFile(fileIn(place, "skein.yml"), "workers: 3\n");
    for (const args of [["init"], ["init", "--force"]]) {
      const refused = await place.skein(...args);
      assert.equal(refused.code, 1);
      assert.match(
        refused.err,
        /skein\.yml exists, and only one of the two names is allowed; nothing was written/,
      );
    }
    assert.equal(existsSync(fileIn(place)), false);
  });

  it("goes to the top of the work tree, from a folder below and in a linked one", LIMIT, async () => {
    await using place = await makePlace({ files: { "deep/er/x.txt": "x\n", Makefile: "test:\n\ttrue\n" } });
    const linked = path.join(place.folder, "linked");
    await place.repository.git("worktree", "add", "-q", "--detach", linked);
    const below = path.join(linked, "deep", "er");
    assert.equal((await place.skein("init", "--repo", below)).code, 0);
    assert.match(await readFile(path.join(linked, "skein.yaml"), "utf8"), /make test/);
    assert.equal(existsSync(fileIn(place)), false);
    assert.equal(existsSync(path.join(below, "skein.yaml")), false);
  });

  it("is refused where there is no repository, no commit or no work tree", LIMIT, async () => {
    await using place = await makePlace();
    const nowhere = path.join(place.folder, "home");
    const refused = await place.with({ folder: nowhere }).skein("init");
    assert.equal(refused.code, 3);
    assert.match(refused.err, /is not in a git repository\ntry: /);
    assert.deepEqual(await readdir(nowhere), []);
    await using empty = await makeRepository();
    const inEmpty = await place.skein("init", "--repo", empty.folder);
    assert.deepEqual([inEmpty.code, /has no commit/.test(inEmpty.err)], [3, true]);
    await using bare = await makeRepository({ bare: true });
    const tree = await bare.git("hash-object", "-t", "tree", "-w", "/dev/null");
    await bare.git("update-ref", "HEAD", await bare.git("commit-tree", tree, "-m", "x"));
    const inBare = await place.skein("init", "--repo", bare.folder);
    assert.equal(inBare.code, 1, inBare.out);
    assert.match(inBare.err, /is not a work tree, so a skein\.yaml there would not be read/);
    assert.equal(existsSync(path.join(bare.folder, "skein.yaml")), false);
    assert.equal((await place.skein("init", "--print", "--repo", bare.folder)).code, 0);
  });

  it("leaves nothing behind where it cannot write", LIMIT, async () => {
    await using place = await makePlace();
    // With this limit no file may grow, which root obeys as well.
    const { code, err } = await inShell(place, "trap '' XFSZ; ulimit -f 0");
    assert.equal(code, 1, err);
    assert.match(err, /skein\.yaml cannot be written: EFBIG.*\ntry: /);
    assert.deepEqual((await readdir(place.repository.folder)).sort(), [".git", "README.md"]);
    await mkdir(fileIn(place));
    const refused = await place.skein("init", "--force");
    assert.equal(refused.code, 1);
    assert.match(refused.err, /skein\.yaml cannot be written: /);
    assert.deepEqual((await readdir(place.repository.folder)).sort(), [".git", "README.md", "skein.yaml"]);
  });

  it("mentions ignored settings that workspaces do not have, by name alone", LIMIT, async () => {
    await using place = await makePlace({ files: { ".gitignore": ".env*\nbuild/\n", "app/x.txt": "x\n" } });
    await place.repository.write({
      ".env": "WORD=xyzzy-xyzzy\n",
      "app/.env.local": "",
      "build/out.txt": "",
      "environment.txt": "",
    });
    const { out } = await place.skein("init");
    assert.match(out, /^hint {4}git ignores \.env, app\/\.env\.local, so .* \.worktreeinclude/m);
    assert.ok(!out.includes("xyzzy"));
    assert.ok(!(await textIn(place)).includes("xyzzy"));
    await place.repository.write({ ".worktreeinclude": ".env\n" });
    assert.doesNotMatch((await place.skein("init", "--force")).out, /hint/);
  });
});

/** Runs the command in a shell, after the commands in `before`. */
function inShell(place: Place, before: string): Promise<{ code: number; err: string }> {
  const skein = fileURLToPath(new URL("../../bin/skein", import.meta.url));
  const { promise, resolve } = Promise.withResolvers<{ code: number; err: string }>();
  const env = { ...process.env, SKEIN_STATE_DIR: place.state };
  const args = ["-c", `${before}; exec "$@"`, "sh", process.execPath, skein, "init"];
  execFile("sh", args, { cwd: place.repository.folder, env }, (error, _, err) =>
    resolve({ code: error === null ? 0 : Number(error.code), err }),
  );
  return promise;
}
