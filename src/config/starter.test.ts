/** Tests the skein.yaml that `skein init` writes. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeKeys, readConfig, starterText } from "./index.ts";

const read = (text: string) =>
  readConfig({ file: { name: "skein.yaml", text }, env: {}, sets: [], flags: {} });
function configOf(text: string) {
  const result = read(text);
  assert.ok("config" in result, JSON.stringify(result));
  return result.config;
}
const DEFAULTS = configOf("");
const SETUP = { command: "npm ci", lockFile: "package-lock.json", why: "Nothing is installed." };
const GATE = { found: "package.json: npm run test", commands: ["npm run test"] };
const NO_GATE = { found: "no gate was found", commands: [] };

/** A line that is a key with its value, commented out. */
const COMMENTED = /^( *)# (\w+: .*)$/;
const isKeyLine = (line: string) => {
  const [, , key = ""] = COMMENTED.exec(line) ?? [];
  return describeKeys().some(({ key: name }) => name.split(".").at(-1) === key.split(":")[0]);
};
const uncomment = (line: string) => (isKeyLine(line) ? line.replace(COMMENTED, "$1$2") : line);

describe("a first skein.yaml", () => {
  it("says nothing but the defaults, unless a set-up command is needed", () => {
    assert.deepEqual(configOf(starterText({ gate: GATE })), DEFAULTS);
    assert.deepEqual(configOf(starterText({ gate: NO_GATE })), DEFAULTS);
    assert.deepEqual(configOf(starterText({ gate: GATE, setup: { ...SETUP, isNeeded: false } })), DEFAULTS);
    const set = configOf(starterText({ gate: GATE, setup: { ...SETUP, isNeeded: true } }));
    assert.deepEqual(set, { ...DEFAULTS, workspace: { ...DEFAULTS.workspace, setup: "npm ci" } });
  });

  it("copies what is installed instead, and takes a gate that uses it", () => {
    const gate = { found: "pytest.ini: python3 -m pytest -q", commands: ["python3 -m pytest -q"] };
    const copy = ["node_modules", ".venv"];
    const setup = { ...SETUP, isNeeded: true, copy, gate: ".venv/bin/python -m pytest -q" };
    const { workspace, gate: commands } = configOf(starterText({ gate, setup }));
    assert.deepEqual([workspace.copy, workspace.setup], [copy, undefined]);
    assert.deepEqual(commands, [{ name: setup.gate, run: setup.gate }]);
    assert.equal(configOf(starterText({ gate: GATE, setup })).gate, "auto");
    assert.deepEqual(configOf(starterText({ gate, setup: { ...setup, isNeeded: false } })), DEFAULTS);
  });

  it("stays valid with any one of its lines taken in, and with all of them", () => {
    for (const gate of [GATE, NO_GATE]) {
      const lines = starterText({ gate, setup: { ...SETUP, isNeeded: false } }).split("\n");
      const found = lines.filter(isKeyLine);
      assert.ok(found.length >= 12, `${found.length} keys`);
      for (const one of found)
        configOf(lines.map((line) => (line === one ? uncomment(line) : line)).join("\n"));
      configOf(lines.map(uncomment).join("\n"));
    }
  });

  it("shows the default of every key that has one", () => {
    const all = configOf(
      starterText({ gate: GATE })
        .split("\n")
        .map((line) => (/(?:agent|planner|setup|pass|dollars): /.test(line) ? line : uncomment(line)))
        .join("\n"),
    );
    assert.deepEqual(all, DEFAULTS);
  });

  it("explains each key in the words of the schema", () => {
    const lines = starterText({ gate: GATE }).split("\n");
    for (const [i, line] of lines.entries()) {
      if (!isKeyLine(line)) continue;
      const name = line.replace(COMMENTED, "$2").split(":")[0]!;
      const abouts = describeKeys().filter(({ key }) => key.split(".").at(-1) === name);
      const above = lines.slice(Math.max(0, i - 2), i).map((text) => text.replace(/^ *# /, ""));
      assert.ok(
        abouts.some(({ description }) => above.includes(description)),
        `${name} is not explained: ${above.join(" / ")}`,
      );
    }
  });

  it("says what the gate is, or that there is none", () => {
    assert.match(
      starterText({ gate: GATE }),
      /^# Here "auto" finds package\.json: npm run test\n# gate: auto$/m,
    );
    assert.match(starterText({ gate: NO_GATE }), /"auto" finds nothing, so landings are not gated/);
  });
});
