/** Names what a proposed set-up would not install: its program, packages below the top, Python's groups. */
import path from "node:path";
import type { SetupFacts } from "../../ports/inspection.ts";

type Proposed = {
  readonly setup: Pick<SetupFacts, "command" | "lockFile">;
  /** All files of the commit. */
  readonly paths: readonly string[];
  /** The text of a file at the top. */
  readonly textOf: (name: string) => string | undefined;
  /** Why the set-up's program cannot be started here. */
  readonly problem?: string;
};

/** In words, each for a list: "web/package-lock.json". */
export function notInstalled({ setup, paths, textOf, problem }: Proposed): readonly string[] {
  const below = paths.filter((file) => file.includes("/") && isLock(file) && !isAside(file));
  const isWhole = /\b(?:npm|pnpm|yarn|bun)\b/.test(setup.command) && hasWorkspaces(textOf);
  // The lock file of a package that is in a workspace of the top is an old one: the top's lock file includes it.
  const own = isWhole ? below.filter((file) => !SCRIPT_LOCKS.has(path.posix.basename(file))) : below;
  return [
    ...(problem === undefined ? [] : [`anything here: ${problem}`]),
    ...own.slice(0, MAX_NAMED),
    ...(own.length > MAX_NAMED ? [`${own.length - MAX_NAMED} more packages`] : []),
    ...(/\bpip install\b/.test(setup.command) && / -e \./.test(setup.command) ? groupsIn(textOf) : []),
  ];
}

const MAX_NAMED = 5;

const SCRIPT_LOCKS: ReadonlySet<string> = new Set([
  ...["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"],
]);
const isLock = (file: string): boolean => {
  const name = path.posix.basename(file);
  return (
    SCRIPT_LOCKS.has(name) || /^(?:poetry\.lock|uv\.lock|Pipfile\.lock|requirements[\w.-]*\.txt)$/.test(name)
  );
};

/** Folders that a gate at the top does not need, as a rule. */
const isAside = (file: string): boolean =>
  file
    .split("/")
    .some((part) =>
      /^(?:node_modules|vendor|third[_-]party|_*fixtures?_*|testdata|examples?|templates?|docs?)$/i.test(
        part,
      ),
    );

const hasWorkspaces = (textOf: Proposed["textOf"]): boolean =>
  /"workspaces"\s*:/.test(textOf("package.json") ?? "") || textOf("pnpm-workspace.yaml") !== undefined;

/** Groups of dependencies, of which `pip install -e .` installs none. */
function groupsIn(textOf: Proposed["textOf"]): readonly string[] {
  const names: string[] = [];
  let isGroup = false;
  for (const line of (textOf("pyproject.toml") ?? "").split("\n")) {
    if (line.startsWith("["))
      isGroup = /^\[(?:project\.optional-dependencies|dependency-groups)\]/.test(line);
    else if (isGroup) names.push(...(/^"?([\w.-]{1,60})"?\s*=\s*\[/.exec(line)?.slice(1) ?? []));
  }
  return names.length === 0 ? [] : [`the groups of pyproject.toml: ${names.slice(0, MAX_NAMED).join(", ")}`];
}
