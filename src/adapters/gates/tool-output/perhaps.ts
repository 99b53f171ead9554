/** Names a possible reason of a command's failure besides the tree, if it cannot be known for certain. */
import type { Manifest } from "./named-packages.ts";

type Failing = {
  /** The command as a person would type it. */
  readonly line: string;
  readonly text: string;
  readonly files: readonly string[];
  readonly manifests: readonly Manifest[];
};

/** A sentence with the lines of skein.yaml to choose from. It changes no verdict. */
export function perhapsNotTheTree(failing: Failing): string | undefined {
  return wantsColours(failing) ?? unlockedLinter(failing);
}

/**
 * A test that compares escape sequences may fail because the gate writes to a file, for which many libraries leave
 * colours out.
 */
function wantsColours({ line, text }: Failing): string | undefined {
  if (!/(?:\\u001[bB]|\\x1[bB]|\\033|\\e)\[\d/.test(text)) return undefined;
  const entry = `- { name: ${JSON.stringify(line.slice(0, 60))}, run: ${JSON.stringify(line)}, env: { FORCE_COLOR: "1" } }`;
  return `these tests may want the colours of a terminal; to choose, in skein.yaml:\ngate:\n  ${entry}`;
}

const LINTERS = ["eslint", "standard", "xo", "stylelint", "tslint", "prettier", "@biomejs/biome", "oxlint"];
const LOCKS = /^(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/;

/**
 * Without a lock file, a set-up installs the newest version of a linter, with rules that the tree was never
 * checked by.
 */
function unlockedLinter({ line, text, files, manifests }: Failing): string | undefined {
  const top = manifests.find(({ path }) => path === "package.json");
  if (!top || files.some((file) => LOCKS.test(file))) return undefined;
  const isNamed = (linter: string) => top.text.includes(`"${linter}"`);
  const isRun = (linter: string) => {
    const program = linter.replace("@biomejs/", "");
    return new RegExp(`(?:^|\\n> |[\\s;&])${program}(?:\\s|$)`).test(`${line}\n${text.slice(0, MAX_CHARS)}`);
  };
  const linter = LINTERS.find((one) => isNamed(one) && isRun(one));
  if (linter === undefined) return undefined;
  return (
    `no lock file says which version of ${linter} to install, so this may be the work of a newer one; to choose, in ` +
    `skein.yaml:\ngate:\n  - <the commands without ${linter}>\nworkspace:\n  setup: npm install && npm install --no-save ${linter}@<version>`
  );
}

/** npm prints the script that it runs first. */
const MAX_CHARS = 100_000;
