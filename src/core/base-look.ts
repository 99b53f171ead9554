/** What a look at a base whose gate fails has found: which commands, of which class, with the lines that say why. */
import { failingText } from "../text/failing-part.ts";
import type { Failure } from "./failure.ts";
import { failuresOf, type GateReport, unnamedIn } from "./gate.ts";
import { firstClass, type Problem, type ProblemClass } from "./rules/repair.ts";

/** `set-up`: not the tree, but what is around it. `unjudged`: no test is known to have run, so nobody could tell what makes it worse. */
export type BaseClass = ProblemClass | "set-up" | "unjudged";

/** A command of the gate that failed. */
export type FailedCommand = {
  readonly name: string;
  /** As a person would type it. */
  readonly line: string;
  /** What it wrote about what failed, and the lines before that; never only lines that report success. */
  readonly lines: readonly string[];
  /** What besides the tree may be the reason, with the setting to choose. */
  readonly perhaps?: string;
};

export type BaseLook = {
  readonly class: BaseClass;
  readonly commands: readonly FailedCommand[];
  /** Names of what failed: the first ones. */
  readonly failures: readonly string[];
  /** How many failed in all. */
  readonly count: number;
  /** The file that has all that the commands wrote. */
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

/** Every command that failed was kept from running what it is for, or hung: what a change makes worse cannot be seen. */
const nothingRan = ({ commands }: GateReport): boolean =>
  commands.every(
    ({ green, blocked, unnamed, tests = 0 }) => green || (tests === 0 && (unnamed || blocked !== undefined)),
  );

/**
 * What failed at the last look, and of earlier ones those commands whose failure was of another kind then: all are shown,
 * since any may be the cause.
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

/** The log keeps it, and people read it on one screen. */
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

/** Those that name a failure first, wherever they are: a runner says at its end what failed. */
function fewer(lines: readonly string[], failures: readonly string[]): readonly string[] {
  const text = failingText(lines.filter((line) => line !== "…").join("\n"), {
    failures,
    maxLines: MAX_LINES,
  });
  return text === "" ? lines.slice(-MAX_LINES) : text.split("\n");
}
