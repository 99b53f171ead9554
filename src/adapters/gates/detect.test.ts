/** Tests which gate commands are detected from the files at the top of a tree. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { detectGate } from "./detect.ts";

const gateOf = (files: Record<string, string>) => {
  const { commands, found } = detectGate((name) => files[name]);
  return { lines: commands.map(({ name, command }) => `${name}: ${command.join(" ")}`), found };
};
const manifest = (scripts: Record<string, string>) => JSON.stringify({ scripts });

describe("the gate that a tree names", () => {
  it("is the scripts build, types and test, by the package manager whose lock file is there", () => {
    const scripts = { test: "node --test", lint: "biome", build: "tsc", start: "node ." };
    assert.deepEqual(gateOf({ "package.json": manifest(scripts) }).lines, [
      "build: npm run build",
      "test: npm run test",
    ]);
    const withTypes = manifest({ typecheck: "tsc", test: "vitest" });
    assert.deepEqual(gateOf({ "package.json": withTypes, "pnpm-lock.yaml": "" }).lines, [
      "typecheck: pnpm run typecheck",
      "test: pnpm run test",
    ]);
    assert.deepEqual(gateOf({ "package.json": withTypes, "yarn.lock": "" }).lines[1], "test: yarn run test");
    for (const lockFile of ["bun.lock", "bun.lockb"])
      assert.deepEqual(gateOf({ "package.json": withTypes, [lockFile]: "" }).lines[1], "test: bun run test");
  });

  it("is pytest in the environment that uv or poetry makes of a lock file", () => {
    const settings = { "pyproject.toml": "[tool.pytest.ini_options]\n" };
    assert.deepEqual(gateOf({ ...settings, "uv.lock": "" }).lines, ["test: uv run pytest -q"]);
    assert.deepEqual(gateOf({ ...settings, "poetry.lock": "" }).lines, ["test: poetry run pytest -q"]);
    const group = { "pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]\n', "uv.lock": "" };
    assert.deepEqual(gateOf(group).lines, ["test: uv run pytest -q"]);
    assert.deepEqual(gateOf({ "pyproject.toml": "[project]\n", "uv.lock": "" }).lines, []);
  });

  it("takes what npm init writes for no test", () => {
    const scripts = { test: 'echo "Error: no test specified" && exit 1' };
    assert.deepEqual(gateOf({ "package.json": manifest(scripts) }).lines, []);
  });

  for (const [file, text, lines] of [
    [
      "Cargo.toml",
      "[package]",
      ["build: cargo build --quiet --all-targets", "test: cargo test --quiet --no-fail-fast"],
    ],
    ["go.mod", "module m", ["build: go build ./...", "vet: go vet ./...", "test: go test ./..."]],
    ["pytest.ini", "[pytest]", ["test: python3 -m pytest -q"]],
    ["pyproject.toml", "[project]\n[tool.pytest.ini_options]\n", ["test: python3 -m pytest -q"]],
    ["Makefile", "all:\n\ttrue\ntest: all\n\ttrue\n", ["test: make test"]],
    ["Makefile", "check:\n\ttrue\ntest:\n\ttrue\n", ["check: make check"]],
    ["Makefile", "test := no target\n", []],
    ["pyproject.toml", "[project]\n", []],
    ["package.json", "{ not json", []],
    ["package.json", '{"scripts": ["test"]}', []],
  ] as const)
    it(`of a tree with ${file} ${JSON.stringify(text)} is ${lines.length === 0 ? "none" : lines.join("; ")}`, () => {
      assert.deepEqual(gateOf({ [file]: text }).lines, lines);
    });

  it("says so when there is none", () => {
    assert.match(gateOf({}).found, /^no gate was found/);
  });

  it("prefers the language's own tool to a makefile, and goes on looking where a manifest names no script", () => {
    const makefile = { Makefile: "test:\n\ttrue\n" };
    assert.deepEqual(
      gateOf({ ...makefile, "Cargo.toml": "" }).lines[1],
      "test: cargo test --quiet --no-fail-fast",
    );
    assert.deepEqual(gateOf({ ...makefile, "package.json": "{}" }).lines, ["test: make test"]);
  });
});
