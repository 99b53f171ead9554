/** Decides whether a tree passed its gate and may become the target, also when the target itself is red. */
import type { Failure } from "./failure.ts";
import { PROBLEM_CLASSES, type ProblemClass } from "./rules/repair.ts";

/** What the gate's commands reported of one tree. Without commands, no gate was found. */
export type GateReport = { readonly commands: readonly CommandReport[] };

/**
 * Files that earlier gate runs left in the workspace in which the gate has now failed: they may be the cause. `more`:
 * how many files are not named.
 */
export type GateLeftovers = { readonly files: readonly string[]; readonly more?: number };

export type CommandReport = {
  readonly name: string;
  /** The command line, if it differs from the name. */
  readonly line?: string;
  readonly green: boolean;
  /** The names of the failures, if the tool's output names them. */
  readonly failures: readonly string[];
  /** How many failures were not named because there are too many. */
  readonly more?: number;
  /** The classes of the failures. */
  readonly classes?: readonly ProblemClass[];
  /** Red, and its failure has no stable name: "no end within 900 s" may be another failure each time. */
  readonly unnamed?: true;
  /** How many tests ran, passed or failed by name, if the runner says so. */
  readonly tests?: number;
  /** The runner counts packages, so `tests` is not a number of tests. */
  readonly isOfPackages?: true;
  /** Green: the names of the tests, if the output lists all of them and there are not too many. */
  readonly names?: readonly string[];
  /** Red, and part of its work did not run: why, in words. A test that it does not name as failed may not have run. */
  readonly blocked?: string;
  /** How many of its failures keep others from being seen, such as a package that does not build. */
  readonly hiding?: number;
  /** Green because there is nothing yet for it to run: the tree has no test file. */
  readonly nothingYet?: true;
};

/** How many tests a command of the gate ran. `names`: if its output lists all of them. */
export type TestsRan = {
  readonly command: string;
  readonly tests: number;
  readonly names?: readonly string[];
};

/**
 * One run of the gate's commands. `output`: the name under which the run keeps what they wrote. `ms`: without preparing
 * the workspace. `green` is missing if the gate run did not finish.
 */
export type GateRecord = { readonly output: string; readonly ms: number; readonly green?: boolean };

/** Per job: the rules of landing gate a tree a few times. */
export const MAX_GATE_RECORDS = 50;

/**
 * The result of probing the gate: the same commands on the base with its own sources made unusable. `unproven`: a
 * command that runs tests stayed green, so it says nothing about the tree that it runs in.
 */
export type Probed =
  | { readonly is: "proved" }
  | { readonly is: "not-probed"; readonly why: string }
  | { readonly is: "unproven"; readonly failure: Failure };

/**
 * On a green target a candidate must be green. On a red target it must make nothing worse, and a fix must remove at
 * least one of the failures in `mustHeal` that are present. What cannot be compared with the target does not land.
 */
export type Accept =
  | { readonly is: "green" }
  | { readonly is: "no-worse"; readonly baseline: GateReport; readonly mustHeal: readonly string[] };

/** What a landing can prove. `ungated`: there is no gate, or nothing yet for it to run, so no gate has passed. */
export type Proof = "green" | "red-to-red" | "ungated";

/** The only failure of a candidate whose gate could not run. It has a name of its own, so that no command is blamed. */
export const NOT_RUN = "its gate could not be run";

export type Verdict =
  /** `compared`: on a red target, how each command compares with the target, in one line each. */
  | { readonly ok: true; readonly proof: Proof; readonly compared?: readonly string[] }
  | { readonly ok: false; readonly failures: readonly string[] };

export function judgeGate(report: GateReport, accept: Accept): Verdict {
  const failures = failuresOf(report);
  if (report.commands.every(({ nothingYet }) => nothingYet)) return { ok: true, proof: "ungated" };
  if (failures.length === 0) return { ok: true, proof: "green" };
  if (accept.is === "green") return { ok: false, failures };

  const { baseline, mustHeal } = accept;
  const compared = report.commands.map((now) => compare(now, baseline, mustHeal));
  const fresh = compared.flatMap((one) => (one.is === "worse" ? one.failures : []));
  if (fresh.length > 0) return { ok: false, failures: fresh };
  const unjudged = compared.flatMap((one) => (one.is === "unjudged" ? [one.failure] : []));
  if (unjudged.length > 0) return { ok: false, failures: unjudged };
  const before = new Set(failuresOf(baseline));
  const asked = mustHeal.filter((name) => before.has(name));
  const left = new Set(baseline.commands.flatMap((command) => notHealed(command, report)));
  if (asked.length > 0 && asked.every((name) => left.has(name))) return { ok: false, failures: asked };
  const words = compared.flatMap((one) => (one.is === "compared" ? [one.words] : []));
  return { ok: true, proof: "red-to-red", compared: words };
}

/** How a command's result on a candidate compares with its result on the red target. */
type Compared =
  | { readonly is: "worse"; readonly failures: readonly string[] }
  | { readonly is: "unjudged"; readonly failure: string }
  | { readonly is: "compared"; readonly words: string };

function compare(now: CommandReport, baseline: GateReport, mustHeal: readonly string[]): Compared {
  const was = baseline.commands.find(({ name }) => name === now.name);
  const compared = (words: string): Compared => ({ is: "compared", words: `${now.name}: ${words}` });
  if (now.green) return compared(was?.green === false ? "passes now" : "passes");
  if (was === undefined || was.green) return { is: "worse", failures: namesOf(now) };
  const unjudged = (why: string): Compared => ({ is: "unjudged", failure: unjudgedName(now.name, why) });
  if (isUnnamed(was)) return unjudged("what fails on the target has no name");

  const uncovered = uncovers(now, was);
  const fresh = uncovered ? [] : worseIn(now, was);
  if (fresh.length > 0) return { is: "worse", failures: fresh };
  if (uncovered) return compared(`what failed before is gone, and had hidden ${countText(now)}`);
  if (now.blocked !== undefined) return unjudged(now.blocked);
  if (was.tests !== undefined && was.tests > 0 && !now.tests) return unjudged("no test ran");
  if (!isCut(was) && !isCut(now)) return compared(sameText(now));
  const isLess = countOf(now) < countOf(was) && mustHeal.some((name) => name.startsWith(`${now.name}: `));
  return isLess
    ? compared(`by number only: ${countOf(was)} failures before, ${countOf(now)} now`)
    : unjudged(`of ${countOf(was)} failures on the target only ${was.failures.length} have a name`);
}

const sameText = (now: CommandReport): string => {
  const ran = now.tests === undefined ? "" : `, ${now.tests === 1 ? "1 test" : `${now.tests} tests`} ran`;
  const hidden = now.hiding
    ? `; what ${now.hiding} of them hide${now.hiding === 1 ? "s" : ""} was not looked at`
    : "";
  return `no new failure beside ${countText(now)}${ran}${hidden}`;
};

const countText = (command: CommandReport): string =>
  countOf(command) === 1 ? "1 failure" : `${countOf(command)} failures`;

/** Why no change could be judged as long as this is the target: one line per command. */
export const unjudgeable = ({ commands }: GateReport): readonly string[] =>
  commands.flatMap((command) => {
    if (command.green) return [];
    if (isUnnamed(command)) return [`${command.name}: what fails has no name`];
    return command.blocked === undefined ? [] : [`${command.name}: ${command.blocked}`];
  });

/** Whether everything that fails on one tree fails on another, too: by name, if both could be judged. */
export type AlsoFails =
  | { readonly is: "same"; readonly failures: readonly string[] }
  | { readonly is: "others"; readonly failures: readonly string[] }
  | { readonly is: "unjudged"; readonly why: readonly string[] };

export function failsAsWell(report: GateReport, other: GateReport): AlsoFails {
  const failures = failuresOf(report);
  const reds = new Set(report.commands.flatMap(({ name, green }) => (green ? [] : [name])));
  const both = [...report.commands, ...other.commands.filter(({ name }) => reds.has(name))];
  const cut = both.filter((command) => !command.green && isCut(command));
  const why = [
    ...unjudgeable({ commands: both }),
    ...cut.map(
      (command) => `${command.name}: of ${countText(command)} only ${command.failures.length} have a name`,
    ),
  ];
  const there = new Set(failuresOf(other));
  const others = failures.filter((name) => !there.has(name));
  if (why.length > 0) return { is: "unjudged", why: [...new Set(why)] };
  return others.length > 0 ? { is: "others", failures: others } : { is: "same", failures };
}

/** The failures that a change must remove all at once before it can be judged. */
export const blockingIn = ({ commands }: GateReport): readonly string[] =>
  commands.flatMap((command) => (command.blocked === undefined ? [] : namesOf(command)));

const CANNOT_BE_JUDGED = ": cannot be judged: ";
const unjudgedName = (command: string, why: string): string => `${command}${CANNOT_BE_JUDGED}${why}`;

/** The candidate cannot be judged by this entry; it does not say that the candidate fails. */
export const isUnjudged = (failed: string): boolean => failed.includes(CANNOT_BE_JUDGED);

/** What a command fails now and did not fail before: by name, or by count if the names are cut. */
function worseIn(now: CommandReport, was: CommandReport): readonly string[] {
  const before = new Set(namesOf(was));
  const fresh = namesOf(now).filter((name) => !before.has(name));
  // The named failures may all be old ones: without an entry for the count, no task would ever be guilty.
  if (isCut(was) || isCut(now))
    return countOf(now) > countOf(was) ? [`${now.name}: ${MORE_THAN_BEFORE}`, ...fresh] : [];
  return fresh;
}

/** Only the fact that it failed is known. */
const isUnnamed = ({ green, failures, unnamed }: CommandReport): boolean =>
  !green && (unnamed === true || failures.length === 0);

const MORE_THAN_BEFORE = "more failures than before";

/** True for a failure of the change's own: not only a higher count, and not "cannot be judged". */
export const isOwn = (failed: string): boolean =>
  !failed.endsWith(`: ${MORE_THAN_BEFORE}`) && !isUnjudged(failed);

/** The former failures of a command that are still there, as far as can be told. */
function notHealed(was: CommandReport, report: GateReport): readonly string[] {
  const now = report.commands.find(({ name }) => name === was.name);
  if (now === undefined || now.green) return [];
  if (isCut(was) || isCut(now)) return countOf(now) < countOf(was) ? [] : namesOf(was);
  const there = new Set(namesOf(now));
  return namesOf(was).filter((name) => there.has(name));
}

const isCut = ({ more = 0 }: CommandReport) => more > 0;
const countOf = ({ failures, more = 0 }: CommandReport) => failures.length + more;

/**
 * A command like `tsc && node --test` stops at the first step that fails. If all its former failures are gone and all
 * its present ones come later in the order of repair, the change did not cause them: they had been hidden.
 */
function uncovers(now: CommandReport, was: CommandReport): boolean {
  if (!now.classes?.length || !was.classes?.length || isCut(was) || isCut(now)) return false;
  const order = (kind: ProblemClass) => PROBLEM_CLASSES.indexOf(kind);
  const last = Math.max(...was.classes.map(order));
  return isCleared(now, was) && now.classes.every((kind) => order(kind) > last);
}

/** None of the former failures is left. */
function isCleared(now: CommandReport, was: CommandReport): boolean {
  const there = new Set(now.failures);
  return was.failures.every((name) => !there.has(name));
}

export const isGreen = (report: GateReport) => report.commands.every((command) => command.green);

/** Every failure under a name that is the same in the next run: "test: adds numbers", or "build" alone. */
export const failuresOf = (report: GateReport): readonly string[] => report.commands.flatMap(namesOf);

/** How many failures have no name. */
export const unnamedIn = ({ commands }: GateReport): number =>
  commands.reduce((sum, { green, more = 0 }) => sum + (green ? 0 : more), 0);

const namesOf = ({ name, green, failures }: CommandReport): readonly string[] =>
  green ? [] : failures.length === 0 ? [name] : failures.map((failed) => `${name}: ${failed}`);
