/** Tests the checks before a release: changelog, licences, manifest and packed files. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { changelogProblems, licenceProblems, manifestProblems, packProblems } from "./release.ts";
import { ROOT } from "./source-files.ts";

test("a version without a section in the changelog, and changes without a version, are named", () => {
  const text = "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-18)\n\n- One.\n";
  assert.deepEqual(changelogProblems("0.2.0", text), []);
  assert.match(changelogProblems("0.3.0", text).join(), /its newest version is "0\.2\.0 /);
  assert.match(
    changelogProblems("0.2.0", text.replace("Unreleased\n", "Unreleased\n\n- Two.\n")).join(),
    /"Unreleased"/,
  );
});

test("a dependency of unknown licence is named; what only developers install is not looked at", () => {
  const packages = {
    "": { license: "none" },
    "node_modules/a": { license: "MIT" },
    "node_modules/b": {},
    "node_modules/c": { license: "Custom" },
    "node_modules/d": { dev: true },
  };
  assert.deepEqual(licenceProblems(JSON.stringify({ packages })), ["b: no licence", "c: Custom"]);
});

test("the licences of all that users install are known", () => {
  assert.deepEqual(licenceProblems(readFileSync(path.join(ROOT, "package-lock.json"), "utf8")), []);
});

test("missing fields and files are named, and files that do not belong", () => {
  assert.ok(manifestProblems({ name: "a" }).includes('package.json has no "repository"'));
  assert.ok(packProblems([]).includes("bin/skein is missing"));
  assert.ok(packProblems(["src/index.ts"]).includes("src/index.ts is in it"));
});
