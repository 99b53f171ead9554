/** Makes a gate's run from the results of its commands: the report, the problems, the lines that say why. */
import type { FailedCommand } from "../../core/base-look.ts";
import type { Failure } from "../../core/failure.ts";
import type { CommandReport, GateReport } from "../../core/gate.ts";
import { PROBLEM_CLASSES, type Problem } from "../../core/rules/repair.ts";
import type { GateRun } from "../../ports/gate.ts";
import { classOf } from "./gate-command.ts";
import type { ToolProblem } from "./tool-output/found.ts";

/** The result of one command. */
export type EndedGateCommand = {
  readonly name: string;
  readonly line: string;
  readonly green: boolean;
  readonly failures: readonly ToolProblem[];
  /** The number of failures that are not in the list. */
  readonly more?: number;
  /** Set if the output names none of the failures in the list. */
  readonly unnamed?: true;
  readonly tail: string;
  /** How many tests the runner counted, including files that could not be loaded. */
  readonly counted?: number;
  /** How many tests ran. */
  readonly tests?: number;
  readonly isOfPackages?: true;
  readonly names?: readonly string[];
  readonly hiding?: number;
  readonly blocked?: string;
  readonly nothingYet?: true;
  /** Why it could not be run; `isSilent`: it passed without running any of the existing tests. */
  readonly setup?: Failure;
  readonly isSilent?: true;
  /** What besides the tree may be the reason of its failure. */
  readonly perhaps?: string;
};

export function runOf(ran: readonly EndedGateCommand[], output?: string): GateRun {
  const report: GateReport = {
    commands: ran.map(commandReport),
  };
  const reds = ran.filter(({ green }) => !green);
  const problems = reds.flatMap(({ name, failures, tail }): Problem[] =>
    failures.length === 0
      ? [{ class: classOf(name), name, files: [], message: tail }]
      : failures.map((found) => problem(name, found)),
  );
  const tail = reds.map((each) => `${each.name}:\n${each.tail}`).join("\n");
  const setup = ran.find((each) => each.setup)?.setup;
  const failed = reds.map(
    ({ name, line, tail: lines, perhaps }): FailedCommand => ({
      ...{ name, line, lines: lines.split("\n") },
      ...(perhaps !== undefined && { perhaps }),
    }),
  );
  return {
    ...{ report, problems, tail },
    ...(failed.length > 0 && { failed }),
    ...(output !== undefined && failed.length > 0 && { output }),
    ...(setup && { setup }),
  };
}

/** The limit of a line, because workers and planners read it. */
const MAX_LINE_CHARS = 300;

function commandReport(ran: EndedGateCommand): CommandReport {
  const {
    name,
    line,
    green,
    failures,
    more = 0,
    unnamed: isUnnamed,
    nothingYet,
    tests,
    isOfPackages,
    names,
    hiding,
    blocked,
  } = ran;
  const classes = PROBLEM_CLASSES.filter((kind) => failures.some((found) => found.class === kind));
  return {
    name,
    ...(line !== name && { line: line.slice(0, MAX_LINE_CHARS) }),
    green,
    failures: failures.map((found) => found.name),
    ...(more > 0 && { more }),
    ...(classes.length > 0 && { classes }),
    ...(isUnnamed && { unnamed: isUnnamed }),
    ...(tests !== undefined && { tests }),
    ...(isOfPackages && { isOfPackages }),
    ...(names && { names }),
    ...(hiding !== undefined && { hiding }),
    ...(blocked !== undefined && { blocked }),
    ...(nothingYet && { nothingYet }),
  };
}

/** Makes the problem, with the name that `failuresOf` gives it. */
const problem = (command: string, { cause, ...found }: ToolProblem): Problem => ({
  ...found,
  name: `${command}: ${found.name}`,
  ...(cause === undefined ? {} : { cause }),
});
