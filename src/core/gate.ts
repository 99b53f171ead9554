/** Did a tree pass, and may it become the target? The rule for a red target is here too. */
import type { Failure } from "./failure.ts";
import { PROBLEM_CLASSES, type ProblemClass } from "./rules/repair.ts";

/** What the gate's commands said about one tree. No commands means that no gate was found. */
export type GateReport = { readonly commands: readonly CommandReport[] };

export type CommandReport = {
  readonly name: string;
  readonly green: boolean;
  /** Names of what failed, where the tool's output names it. */
  readonly failures: readonly string[];
  /** How many more failed and are not named, because they are too many. */
  readonly more?: number;
  /** The classes of what failed. */
  readonly classes?: readonly ProblemClass[];
  /** It is red, and what it failed has no name of its own: "no end within 900 s" may be anything, and another each time. */
  readonly unnamed?: true;
  /** It is green because there is nothing yet that it could run: no test file in the tree. */
  readonly nothingYet?: true;
};

/**
 * What a probe of the gate came to: the same commands on the base with its own sources made unusable. `unproven`: a
 * command that runs tests stayed green, so that it says nothing about the tree it runs in.
 */
export type Probed =
  | { readonly is: "proved" }
  | { readonly is: "not-probed"; readonly why: string }
  | { readonly is: "unproven"; readonly failure: Failure };

/**
 * On a green target a candidate must be green. On a red one it must make nothing worse, and a fix must remove at
 * least one of the failures in `mustHeal` that are there. Where not all failures of a red one have a name, nobody can
 * tell what is worse: a candidate must be green.
 */
export type Accept =
  | { readonly is: "green" }
  | { readonly is: "no-worse"; readonly baseline: GateReport; readonly mustHeal: readonly string[] };

/** What a landing can show. `ungated`: there is no gate, or nothing yet that it could run: that is no gate that passed. */
export type Proof = "green" | "red-to-red" | "ungated";

/** The one failure of a candidate whose gate could not be run: under the names of commands it would be taken for theirs. */
export const NOT_RUN = "its gate could not be run";

export type Verdict =
  | { readonly ok: true; readonly proof: Proof }
  | { readonly ok: false; readonly failures: readonly string[] };

export function judgeGate(report: GateReport, accept: Accept): Verdict {
  const failures = failuresOf(report);
  if (report.commands.every(({ nothingYet }) => nothingYet)) return { ok: true, proof: "ungated" };
  if (failures.length === 0) return { ok: true, proof: "green" };
  if (accept.is === "green" || isNameless(accept.baseline)) return { ok: false, failures };

  const fresh = report.commands.flatMap((command) => worseIn(command, accept.baseline));
  if (fresh.length > 0) return { ok: false, failures: fresh };
  const before = new Set(failuresOf(accept.baseline));
  const asked = accept.mustHeal.filter((name) => before.has(name));
  const left = new Set(accept.baseline.commands.flatMap((command) => notHealed(command, report)));
  return asked.length > 0 && asked.every((name) => left.has(name))
    ? { ok: false, failures: asked }
    : { ok: true, proof: "red-to-red" };
}

/** What a command fails by now and did not fail before, by name; where names are cut, by count. */
function worseIn(now: CommandReport, baseline: GateReport): readonly string[] {
  const was = baseline.commands.find(({ name }) => name === now.name);
  const names = namesOf(now);
  if (was === undefined || was.green) return names;
  const before = new Set(namesOf(was));
  const fresh = names.filter((name) => !before.has(name));
  // Those that are named may all have failed before: without a name for their number no task would ever be guilty.
  if (isCut(was) || isCut(now))
    return countOf(now) > countOf(was) ? [`${now.name}: ${MORE_THAN_BEFORE}`, ...fresh] : [];
  return uncovers(now, was) ? [] : fresh;
}

/** Not all that it fails has a name: whether a change makes it worse cannot be told. */
export const isNameless = ({ commands }: GateReport): boolean => commands.some(isUnnamed);

/** Only that it failed is known. */
const isUnnamed = ({ green, failures, unnamed }: CommandReport): boolean =>
  !green && (unnamed === true || failures.length === 0);

const MORE_THAN_BEFORE = "more failures than before";

/** Whether a failure is one of its own, and not only the number of them. */
export const isOwn = (failed: string): boolean => !failed.endsWith(`: ${MORE_THAN_BEFORE}`);

/** Of what a command failed: what is still there, as far as anyone can tell. */
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
 * A command like `tsc && node --test` stops at the first step that fails. Where everything that it failed is gone,
 * and all that it fails now comes later in the order of repair, the change has not broken that: it was hidden.
 */
function uncovers(now: CommandReport, was: CommandReport): boolean {
  if (!now.classes?.length || !was.classes?.length) return false;
  const there = new Set(now.failures);
  const order = (kind: ProblemClass) => PROBLEM_CLASSES.indexOf(kind);
  const last = Math.max(...was.classes.map(order));
  return was.failures.every((name) => !there.has(name)) && now.classes.every((kind) => order(kind) > last);
}

export const isGreen = (report: GateReport) => report.commands.every((command) => command.green);

/** Every failure under a name that is the same in the next run: "test: adds numbers", or "build" alone. */
export const failuresOf = (report: GateReport): readonly string[] => report.commands.flatMap(namesOf);

/** How many more failed than have a name. */
export const unnamedIn = ({ commands }: GateReport): number =>
  commands.reduce((sum, { green, more = 0 }) => sum + (green ? 0 : more), 0);

const namesOf = ({ name, green, failures }: CommandReport): readonly string[] =>
  green ? [] : failures.length === 0 ? [name] : failures.map((failed) => `${name}: ${failed}`);
