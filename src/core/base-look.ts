/** Describes a base whose gate fails: which commands failed, of which class, with the lines that say why. */
import { failingText } from "../text/failing-part.ts";
import type { Failure } from "./failure.ts";
import { failuresOf, type GateReport, unnamedIn } from "./gate.ts";
import { firstClass, type Problem, type ProblemClass } from "./rules/repair.ts";

/**
 * `set-up`: the failure lies in the environment, not in the tree. `unjudged`: no test is known to have run, so no
 * change can be compared with the base.
 */
export type BaseClass = ProblemClass | "set-up" | "unjudged";

/** A command of the gate that failed. */
export type FailedCommand = {
  readonly name: string;
  /** The command line as a person would type it. */
  readonly line: string;
  /** The output about the failures with the lines before them; never only lines that report success. */
  readonly lines: readonly string[];
  /** A likely reason outside of the tree, with the setting that changes it. */
  readonly perhaps?: string;
};

export type BaseLook = {
  readonly class: BaseClass;
  readonly commands: readonly FailedCommand[];
  /** The names of the first failures. */
  readonly failures: readonly string[];
  /** How many failures there are in all. */
  readonly count: number;
  /** The file with the complete output of the commands. */
  readonly output?: string;
};

type Gated = {
  readonly report: GateReport;
  readonly problems: readonly Problem[];
  readonly failed?: readonly FailedCommand[];
  readonly output?: string;
  readonly setup?: Failure;
};

/** Undefined if the gate passes. */
export function baseLookOf({ report, problems, failed = [], output, setup }: Gated): BaseLook | undefined {
  const failures = failuresOf(report);
  if (failures.length === 0 && !setup) return undefined;
  return {
    class: setup ? "set-up" : nothingRan(report) ? "unjudged" : (firstClass(problems) ?? "tests"),
    commands: failed.slice(0, MAX_COMMANDS).map((one) => bounded(one, failures)),
    failures: failures.slice(0, MAX_NAMES).map((name) => name.slice(0, MAX_LINE_CHARS)),
    count: failures.length + unnamedIn(report),
    ...(output !== undefined && { output }),
  };
}

/**
 * True if every failed command was kept from running its tests, or hung: then nothing shows what a change makes worse.
 */
const nothingRan = ({ commands }: GateReport): boolean =>
  commands.every(
    ({ green, blocked, unnamed, tests = 0 }) => green || (tests === 0 && (unnamed || blocked !== undefined)),
  );

/**
 * The result of this look, with commands of earlier looks that failed differently. All are shown, since any may be the
 * cause.
 */
export function withEarlier(now: BaseLook, before: BaseLook | undefined): BaseLook {
  if (!before) return now;
  const known = new Set(now.failures);
  const isSame = before.failures.every((name) => known.has(name));
  const earlier = before.commands
    .filter((command) => isEarlier(command) || !isSame)
    .map((command) => (isEarlier(command) ? command : { ...command, name: `${command.name} ${EARLIER}` }))
    .filter((command) => !now.commands.some((one) => saysSame(one, command)));
  return earlier.length === 0
    ? now
    : { ...now, commands: [...now.commands, ...earlier].slice(0, MAX_COMMANDS) };
}

const isEarlier = ({ name }: FailedCommand): boolean => name.endsWith(EARLIER);
const saysSame = (now: FailedCommand, earlier: FailedCommand): boolean =>
  now.line === earlier.line && now.lines.join("\n") === earlier.lines.join("\n");

const EARLIER = "(earlier)";

/** The log keeps these lines, and people read them on one screen. */
const MAX_COMMANDS = 4;
const MAX_LINES = 24;
const MAX_LINE_CHARS = 300;
const MAX_NAMES = 10;

function bounded({ name, line, lines, perhaps }: FailedCommand, failures: readonly string[]): FailedCommand {
  const few = lines.length <= MAX_LINES ? lines : fewer(lines, failures);
  return {
    ...(perhaps !== undefined && { perhaps: perhaps.slice(0, MAX_LINE_CHARS * 4) }),
    name: name.slice(0, MAX_LINE_CHARS),
    line: line.slice(0, MAX_LINE_CHARS),
    lines: few.map((one) => one.slice(0, MAX_LINE_CHARS).toWellFormed()),
  };
}

/** Prefers the lines that name a failure, wherever they are: a runner lists at its end what failed. */
function fewer(lines: readonly string[], failures: readonly string[]): readonly string[] {
  const text = failingText(lines.filter((line) => line !== "…").join("\n"), {
    failures,
    maxLines: MAX_LINES,
  });
  return text === "" ? lines.slice(-MAX_LINES) : text.split("\n");
}
