/** Tests which set-up of workspaces is proposed for a tree and the user's checkout. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Installed, proposeSetup, SETUP_FILES, yamlOf } from "./propose-setup.ts";

const DEPENDS = JSON.stringify({ devDependencies: { mocha: "1" } });
const propose = (files: Readonly<Record<string, string>>, installed?: Installed) => {
  for (const name of Object.keys(files)) assert.ok(SETUP_FILES.includes(name), `${name} is not asked for`);
  return proposeSetup((name) => files[name], installed);
};

describe("how a workspace is set up", () => {
  for (const [lockFile, command] of Object.entries({
    "package-lock.json": "npm ci",
    "npm-shrinkwrap.json": "npm ci",
    "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
    "yarn.lock": "yarn install --frozen-lockfile",
    "bun.lock": "bun install --frozen-lockfile",
    "bun.lockb": "bun install --frozen-lockfile",
  }))
    it(`is by ${command}, where there is ${lockFile} and nothing that could be copied`, () => {
      const files = { "package.json": "{}", [lockFile]: "" };
      const proposal = propose(files);
      assert.deepEqual(
        [proposal?.command, proposal?.lockFile, proposal?.isNeeded],
        [command, lockFile, true],
      );
      assert.equal(propose(files, { hasNodeModules: true })?.isNeeded, false);
      assert.equal(propose({ [lockFile]: "" }), undefined);
    });

  it("is by npm install without a lock file, and not at all without dependencies", () => {
    assert.equal(propose({ "package.json": DEPENDS })?.command, "npm install");
    assert.equal(propose({ "package.json": '{"dependencies": {}}' }), undefined);
    assert.equal(propose({ "package.json": "{}" }), undefined);
  });

  it("is mostly done by cargo, go and uv themselves", () => {
    for (const [file, command] of [
      ["Cargo.lock", "cargo fetch --locked"],
      ["go.mod", "go mod download"],
      ["uv.lock", "uv sync"],
    ] as const) {
      const proposal = propose({ [file]: "" });
      assert.deepEqual([proposal?.command, proposal?.isNeeded], [command, false]);
    }
    assert.equal(propose({ "poetry.lock": "" })?.command, "poetry install");
  });

  const PYTHON = { "requirements.txt": "flask\n", "pyproject.toml": "[project]\n" };

  it("copies a virtual environment, and lets the gate use the copy", () => {
    const proposal = propose(PYTHON, { venv: { name: "venv", isEditable: false } });
    assert.equal(
      yamlOf(proposal!),
      "workspace:\n  copy: [node_modules, venv]\ngate:\n  - venv/bin/python -m pytest -q",
    );
  });

  it("makes another where the checkout itself is installed in it: tests would import the user's files", () => {
    const proposal = propose(PYTHON, { venv: { name: ".venv", isEditable: true } });
    assert.equal(proposal?.copy, undefined);
    assert.equal(
      yamlOf(proposal!),
      'workspace:\n  setup: python3 -m venv .venv && echo "*" > .venv/.gitignore && .venv/bin/pip install ' +
        "-r requirements.txt -e . pytest\ngate:\n  - .venv/bin/python -m pytest -q",
    );
  });

  it("is not needed where python3 may have the packages, and installs pytest once", () => {
    const proposal = propose({ "requirements-dev.txt": "pytest\n" });
    assert.deepEqual([proposal?.isNeeded, proposal?.command.match(/pytest/g)], [false, null]);
    assert.equal(propose({ "pyproject.toml": "[tool.black]\n" }), undefined);
    assert.equal(propose({}), undefined);
  });
});
