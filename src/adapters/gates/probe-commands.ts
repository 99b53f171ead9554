/** Which commands of a gate run tests? */
import { type GateCommand, lineOf } from "./gate-command.ts";

/** The only command of a gate runs the tests, too, unless it says that it does something else. */
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

/** By an old habit this runs the tests; elsewhere "check" is a compiler's or a linter's word. */
const MAKE_CHECK = /\b(?:g?make|ninja|just)\s(?:[^;&|\n]*\s)?check\b/;

/** One tool that reads files and runs none, also where these are tests: `eslint test`. */
const ONLY_READS =
  /^\s*(?:(?:npx|bunx|npm exec|(?:pnpm|yarn)(?: exec)?|(?:uv|poetry|pdm) run|python[\d.]* -m)\s+)*(?:eslint|tsc|biome|prettier|stylelint|ruff|flake8|black|isort|pylint|mypy|pyright|shellcheck|clang-format|golangci-lint|rustfmt|cargo (?:fmt|clippy|check|build)|go (?:vet|build))\b[^;&|\n]*$/;
