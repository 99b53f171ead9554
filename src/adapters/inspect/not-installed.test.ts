/** Tests what is reported that a proposed set-up would not install. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { proposeSetup } from "../gates/propose-setup.ts";
import { notInstalled } from "./not-installed.ts";

/** What the proposed set-up for these files at the top leaves out. */
function lacksOf(top: Readonly<Record<string, string>>, below: readonly string[] = [], problem?: string) {
  const textOf = (name: string) => top[name];
  const setup = proposeSetup(textOf);
  assert.ok(setup);
  const paths = [...Object.keys(top), ...below];
  return notInstalled({ setup, paths, textOf, ...(problem !== undefined && { problem }) });
}

const NPM = { "package.json": "{}", "package-lock.json": "" };

test("packages below the top that have a lock file of their own are named, whatever installs them", () => {
  const below = ["web/package-lock.json", "tools/py/requirements.txt", "src/lock.js"];
  assert.deepEqual(lacksOf(NPM, below), ["web/package-lock.json", "tools/py/requirements.txt"]);
  assert.deepEqual(lacksOf(NPM, ["src/a.js"]), []);
  const many = Array.from({ length: 8 }, (_, i) => `p${i}/package-lock.json`);
  assert.deepEqual(lacksOf(NPM, many).slice(-2), ["p4/package-lock.json", "3 more packages"]);
});

test("what a workspace of the top installs, and what no gate needs, is not named", () => {
  const workspaces = { ...NPM, "package.json": '{"workspaces":["web"]}' };
  assert.deepEqual(lacksOf(workspaces, ["web/package-lock.json"]), []);
  assert.deepEqual(lacksOf(workspaces, ["api/poetry.lock"]), ["api/poetry.lock"]);
  const aside = ["test/fixtures/a/package-lock.json", "examples/b/yarn.lock", "docs/requirements.txt"];
  assert.deepEqual(lacksOf(NPM, aside), []);
});

test("groups of a Python project that pip leaves out are named, and a program that is not here", () => {
  const project = [
    ...["[project]", 'name = "a"', "[project.optional-dependencies]", 'test = ["x"]', '"dev" = ["y"]'],
    ...["[tool.z]", "other = []", "[dependency-groups]", "lint = ["],
  ];
  const found = lacksOf({ "pyproject.toml": project.join("\n") });
  assert.deepEqual(found, ["the groups of pyproject.toml: test, dev, lint"]);
  const missing = lacksOf(
    { "package.json": "{}", "pnpm-lock.yaml": "" },
    [],
    "pnpm was not found on the PATH",
  );
  assert.deepEqual(missing, ["anything here: pnpm was not found on the PATH"]);
});
