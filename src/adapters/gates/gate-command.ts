/** Defines one command of a gate, the class of its failures, and whether it runs tests. */
import type { ProblemClass } from "../../core/rules/repair.ts";

/** `name` is the same in every run: failures are compared by it. */
export type GateCommand = {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
  /** Added to the variables of its workspace, and stronger than they are. */
  readonly env?: Readonly<Record<string, string>>;
};

export const shellCommand = (name: string, run: string, env?: GateCommand["env"]): GateCommand => ({
  name,
  command: ["/bin/sh", "-c", run],
  ...(env && { env }),
});

/** The command as a person would type it, without the shell that reads it. */
export const lineOf = ({ command }: GateCommand): string =>
  command[0] === "/bin/sh" && command[1] === "-c" ? command.slice(2).join(" ") : command.join(" ");

/** The class of a command's failures, by the words in its name. It decides what is repaired first. */
export function classOf(name: string): ProblemClass {
  if (/\b(?:types?|typecheck|tsc|mypy|pyright)\b/i.test(name)) return "types";
  if (/\b(?:build|compile|check|vet|lint)\b/i.test(name)) return "build";
  return "tests";
}

/**
 * The commands that run tests. A gate's only command counts as well, unless its words say that it does something
 * else.
 */
export const testCommands = (commands: readonly GateCommand[]): readonly GateCommand[] =>
  commands.filter((command) => runsTests(command) || (commands.length === 1 && saysNothingElse(command)));

const runsTests = (command: GateCommand): boolean => {
  const line = lineOf(command);
  const text = `${command.name}\n${line}`;
  return (TEST_WORDS.test(text) || MAKE_CHECK.test(text)) && !ONLY_READS.test(line);
};

const saysNothingElse = (command: GateCommand): boolean =>
  [command.name, lineOf(command)].every((text) => !OTHER_WORDS.test(text) && !ONLY_READS.test(text));

const TEST_WORDS =
  /(?:^|[^a-z])(?:(?:go|unit|c)?tests?|gotestsum|specs?|pytest|nosetests|tox|nox|jest|vitest|mocha|jasmine|karma|ava|tap|rspec|phpunit|bats|cypress|playwright)(?![a-z])/im;

const OTHER_WORDS = /\b(?:types?|typecheck|tsc|build|compile|vet|lint|format|audit)\b/i;

/** By convention this runs the tests; elsewhere "check" means compiling or linting. */
const MAKE_CHECK = /\b(?:g?make|ninja|just)\s(?:[^;&|\n]*\s)?check\b/;

/** A single tool that only reads files, even if these are tests: `eslint test`. */
const ONLY_READS =
  /^\s*(?:(?:npx|bunx|npm exec|(?:pnpm|yarn)(?: exec)?|(?:uv|poetry|pdm) run|python[\d.]* -m)\s+)*(?:eslint|tsc|biome|prettier|stylelint|ruff|flake8|black|isort|pylint|mypy|pyright|shellcheck|clang-format|golangci-lint|rustfmt|cargo (?:fmt|clippy|check|build)|go (?:vet|build))\b[^;&|\n]*$/;
