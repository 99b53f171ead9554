/** Proposes how a workspace gets what the gate needs, from the files of a tree and from the user's checkout. */
import type { SetupFacts } from "../../ports/inspection.ts";
import type { TopFiles } from "./detect.ts";

/** What is installed in the user's checkout and ignored by git. */
export type Installed = {
  readonly hasNodeModules?: boolean;
  /** The folder of a virtual environment; `isEditable`: the checkout itself is installed in it by a link. */
  readonly venv?: { readonly name: string; readonly isEditable: boolean };
};

type SetupProposal = SetupFacts & {
  /** Whether it also installs programs, such as `mocha` or `pytest`. */
  readonly hasPrograms: boolean;
};

/** The first proposal that fits, in the order in which a gate is detected. */
export function proposeSetup(files: TopFiles, installed: Installed = {}): SetupProposal | undefined {
  return javascript(files, installed) ?? rustOrGo(files) ?? python(files, installed);
}

/** In the order in which the gate looks for lock files. Newer Yarn has its own configuration file and option. */
const INSTALLS: readonly { readonly lockFile: string; readonly command: string; readonly beside?: string }[] =
  [
    { lockFile: "pnpm-lock.yaml", command: "pnpm install --frozen-lockfile" },
    { lockFile: "yarn.lock", beside: ".yarnrc.yml", command: "yarn install --immutable" },
    { lockFile: "yarn.lock", command: "yarn install --frozen-lockfile" },
    { lockFile: "bun.lock", command: "bun install --frozen-lockfile" },
    { lockFile: "bun.lockb", command: "bun install --frozen-lockfile" },
    { lockFile: "package-lock.json", command: "npm ci" },
    { lockFile: "npm-shrinkwrap.json", command: "npm ci" },
  ];

/** `node_modules` is copied unless the configuration says otherwise. */
function javascript(files: TopFiles, { hasNodeModules = false }: Installed): SetupProposal | undefined {
  const manifest = files("package.json");
  if (manifest === undefined) return undefined;
  const has = (name: string) => files(name) !== undefined;
  const found =
    INSTALLS.find(({ lockFile, beside }) => has(lockFile) && (!beside || has(beside))) ??
    (/"(?:dev)?[dD]ependencies"\s*:\s*\{\s*"/.test(manifest)
      ? { lockFile: "package.json", command: "npm install" }
      : undefined);
  if (found === undefined) return undefined;
  const { command, lockFile } = found;
  const why = hasNodeModules
    ? "What you have installed is copied (see copy), so this is usually not needed."
    : "Nothing is installed that could be copied. Faster: install it here, and leave this out; it is copied then.";
  return { command, lockFile, isNeeded: !hasNodeModules, why, hasPrograms: true };
}

/** Both tools download what they need if the network is allowed. */
function rustOrGo(files: TopFiles): SetupProposal | undefined {
  const found = [
    { lockFile: "Cargo.lock", command: "cargo fetch --locked" },
    { lockFile: "Cargo.toml", command: "cargo fetch" },
    { lockFile: "go.mod", command: "go mod download" },
  ].find(({ lockFile }) => files(lockFile) !== undefined);
  return found && { ...found, isNeeded: false, why: BY_ITSELF, hasPrograms: false };
}

const BY_ITSELF =
  "What is needed is fetched by itself where there is a network, so this is usually not needed.";

/**
 * An environment in which the checkout itself is installed is useless in a workspace, whose tests would import the
 * user's files. Any other can be copied, because Python finds packages relative to itself.
 */
function python(files: TopFiles, { venv }: Installed): SetupProposal | undefined {
  const has = (name: string) => files(name) !== undefined;
  if (has("uv.lock"))
    return {
      ...PYTHON,
      command: "uv sync",
      lockFile: "uv.lock",
      isNeeded: false,
      why: "`uv run` does it by itself.",
    };
  if (has("poetry.lock"))
    return { ...PYTHON, command: "poetry install", lockFile: "poetry.lock", isNeeded: true, why: NOT_THERE };
  const lists = REQUIREMENTS.filter(has);
  const project = ["pyproject.toml", "setup.py", "setup.cfg"].find(
    (name) =>
      has(name) && (name !== "pyproject.toml" || /^\[(?:project|build-system)\]/m.test(files(name) ?? "")),
  );
  const lockFile = lists[0] ?? project;
  if (lockFile === undefined) return undefined;
  const wanted = [
    ...lists.map((list) => `-r ${list}`),
    ...(project === undefined ? [] : ["-e ."]),
    ...(lists.some((list) => /pytest/.test(files(list) ?? "")) ? [] : ["pytest"]),
  ];
  // Files that agents leave are committed, so the folder must ignore itself.
  const command = `python3 -m venv .venv && echo "*" > .venv/.gitignore && .venv/bin/pip install ${wanted.join(" ")}`;
  const own = { ...PYTHON, command, lockFile, isNeeded: venv !== undefined };
  if (venv === undefined) return { ...own, why: MAYBE_THERE, gate: gateIn(".venv") };
  const { name, isEditable } = venv;
  if (!isEditable)
    return {
      ...own,
      why: `What ${name} has can be copied.`,
      copy: ["node_modules", name],
      gate: gateIn(name),
    };
  const why = `${name} has your checkout itself installed: tests in a workspace would import your files, not theirs.`;
  return { ...own, why, gate: gateIn(".venv") };
}

const PYTHON = { hasPrograms: true } as const;
const NOT_THERE = "A workspace has no environment of its own without it.";
const MAYBE_THERE = "Not needed where your python3 has these packages.";
const gateIn = (venv: string) => `${venv}/bin/python -m pytest -q`;

const REQUIREMENTS = [
  "requirements.txt",
  "requirements-dev.txt",
  "requirements_dev.txt",
  "dev-requirements.txt",
  "requirements-test.txt",
];

export const SETUP_FILES: readonly string[] = [
  ...["package.json", ".yarnrc.yml", ...INSTALLS.map(({ lockFile }) => lockFile)],
  ...[
    "Cargo.lock",
    "Cargo.toml",
    "go.mod",
    "uv.lock",
    "poetry.lock",
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
  ],
  ...REQUIREMENTS,
];

export function yamlOf({ command, copy, gate, isNeeded }: SetupProposal): string {
  const workspace = copy ? `  copy: [${copy.join(", ")}]` : `  setup: ${command}`;
  const lines = ["workspace:", workspace, ...(gate && isNeeded ? ["gate:", `  - ${gate}`] : [])];
  return lines.join("\n");
}
