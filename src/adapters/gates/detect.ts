/** Detects the gate's commands from the files at the top of a tree. */
import type { GateCommand } from "./gate-command.ts";
import { scriptsOf } from "./package-json.ts";

/** The text of a file at the top, by name; undefined if the tree does not have it. */
export type TopFiles = (name: string) => string | undefined;

export type Detected = {
  readonly commands: readonly GateCommand[];
  /** Where the commands were found, in words for people; or that none were found. */
  readonly found: string;
};

export const GATE_FILES = [
  "package.json",
  "package-lock.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "uv.lock",
  "poetry.lock",
  "Cargo.toml",
  "go.mod",
  "pytest.ini",
  "pyproject.toml",
  "tox.ini",
  "setup.cfg",
  "conftest.py",
  "Makefile",
  "makefile",
  "GNUmakefile",
] as const;

export const isLockFile = (name: string) => /lock/.test(name);

/** Takes the first tool that has something to run. A makefile comes last, because it often only calls the others. */
export function detectGate(files: TopFiles): Detected {
  for (const look of [fromPackageJson, fromCargo, fromGo, fromPytest, fromMake]) {
    const found = look(files);
    if (found) return found;
  }
  const found = "no gate was found: no test script, Cargo.toml, go.mod, pytest settings or make target";
  return { commands: [], found };
}

/** In this order, because a tree that does not build cannot be tested. */
const SCRIPTS = ["build", "typecheck", "types", "type-check", "test"];

function fromPackageJson(files: TopFiles): Detected | undefined {
  const text = files("package.json");
  if (text === undefined) return undefined;
  const scripts = scriptsOf(text);
  const wanted = SCRIPTS.filter((name) => isReal(scripts.get(name)));
  if (wanted.length === 0) return undefined;
  const manager = MANAGERS.find(([lockFile]) => files(lockFile) !== undefined)?.[1] ?? "npm";
  return {
    commands: wanted.map((name) => ({ name, command: [manager, "run", name] })),
    found: `package.json: ${manager} run ${wanted.join(", ")}`,
  };
}

/** Package managers by their lock file. npm's comes last, because other tools leave it behind. */
const MANAGERS = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
] as const;

/** The placeholder script of `npm init` is not a test. */
const isReal = (script: string | undefined) => script !== undefined && !/no test specified/.test(script);

function fromCargo(files: TopFiles): Detected | undefined {
  if (files("Cargo.toml") === undefined) return undefined;
  return fixed("Cargo.toml", [
    { name: "build", command: ["cargo", "build", "--quiet", "--all-targets"] },
    { name: "test", command: ["cargo", "test", "--quiet", "--no-fail-fast"] },
  ]);
}

function fromGo(files: TopFiles): Detected | undefined {
  if (files("go.mod") === undefined) return undefined;
  return fixed("go.mod", [
    { name: "build", command: ["go", "build", "./..."] },
    { name: "vet", command: ["go", "vet", "./..."] },
    { name: "test", command: ["go", "test", "./..."] },
  ]);
}

function fromPytest(files: TopFiles): Detected | undefined {
  const runner = ["uv", "poetry"].find((name) => files(`${name}.lock`) !== undefined);
  const where = [
    files("pytest.ini") !== undefined && "pytest.ini",
    files("conftest.py") !== undefined && "conftest.py",
    /^\[tool\.pytest\b/m.test(files("pyproject.toml") ?? "") && "pyproject.toml",
    /^\[(?:tool:)?pytest\]/m.test(files("setup.cfg") ?? "") && "setup.cfg",
    /^\[pytest\]/m.test(files("tox.ini") ?? "") && "tox.ini",
    runner !== undefined && /\bpytest\b/.test(files("pyproject.toml") ?? "") && `${runner}.lock`,
  ].find((name) => name !== false);
  if (where === undefined) return undefined;
  // Each runner brings an environment of the workspace's own, in which the tree itself is installed.
  const start = runner ? ([runner, "run"] as const) : (["python3", "-m"] as const);
  return fixed(where, [{ name: "test", command: [...start, "pytest", "-q"] }]);
}

function fromMake(files: TopFiles): Detected | undefined {
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => files(name) !== undefined);
  if (file === undefined) return undefined;
  const text = files(file)!;
  const target = ["check", "test"].find((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(text));
  if (target === undefined) return undefined;
  return {
    commands: [{ name: target, command: ["make", target] }],
    found: `${file}: make ${target}`,
  };
}

const fixed = (file: string, commands: readonly GateCommand[]): Detected => ({
  commands,
  found: `${file}: ${commands.map(({ command }) => command.join(" ")).join("; ")}`,
});
