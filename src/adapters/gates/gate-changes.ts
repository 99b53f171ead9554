/** Does a change touch the gate itself? The scripts that it runs, the files that they name, the settings of its tools. */
import { type Failed, hasFailed } from "../../ports/repository.ts";
import { git } from "../git/git.ts";
import type { GateRules } from "./rules.ts";

/** In words, by place; nothing if the gate means the same on both sides. */
export async function gateChanges(
  folder: string,
  rules: GateRules,
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const before = await rules.of(from, signal);
  if (hasFailed(before)) return before;
  if (before.commands.length === 0) return []; // There is nothing that could be got around.
  const after = await rules.of(to, signal);
  if (hasFailed(after)) return after;
  const places = new Set([...before.meaning.keys(), ...after.meaning.keys()]);
  const meant = [...places].filter((place) => before.meaning.get(place) !== after.meaning.get(place));

  const texts = [...before.meaning.values(), ...before.commands.map(({ command }) => command.join(" "))];
  const files = [...TOOL_SETTINGS, ...new Set(texts.flatMap(filesIn))];
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--", ...files];
  const differing = await git({ folder, args }, signal);
  if (!differing.ok) return { failure: differing.failure };
  return [...meant, ...differing.out.split("\0").filter((name) => name !== "")];
}

/** Each can make a tool run something else, or nothing: npm's `script-shell`, for instance. */
const TOOL_SETTINGS = [
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".cargo/config",
  ".cargo/config.toml",
  "rust-toolchain.toml",
  "go.work",
  "conftest.py",
  "pytest.ini",
  "tox.ini",
  "setup.cfg",
  ".mocharc.json",
  ".mocharc.yml",
  "jest.config.js",
  "jest.config.ts",
  "vitest.config.js",
  "vitest.config.ts",
];

/** "node test/all.js && ./check" names test/all.js and check. */
const filesIn = (text: string): readonly string[] =>
  (text.match(/[\w@./-]+/g) ?? [])
    .map((word) => word.replace(/^(?:\.\/)+/, ""))
    .filter((word) => /[./]/.test(word) && !/^(?:\/|-)|\.\./.test(word))
    .slice(0, MAX_FILES);

const MAX_FILES = 100;
