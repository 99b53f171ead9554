/** Plans fix tasks by rule: from what a check of a failing target found to a few small tasks. */

import { ScopeTable } from "../log/scope-table.ts";
import { EVERYTHING, overlaps, readPath, type Scope } from "../scope.ts";
import { compare, groupProblems, inOrder } from "./problem-groups.ts";

/** In the order of repair: later failures often go away when earlier ones are repaired. */
export const PROBLEM_CLASSES = ["conflict-markers", "build", "types", "tests"] as const;
export type ProblemClass = (typeof PROBLEM_CLASSES)[number];

export type Problem = {
  readonly class: ProblemClass;
  /** Equal in two checks if it is the same failure: the name that `failuresOf` gives it in the gate's report. */
  readonly name: string;
  /**
   * The file where it shows first; then other files involved, such as one with a missing export or a changed interface.
   */
  readonly files: readonly string[];
  readonly message: string;
  /** What several problems share: a symbol, a missing export, an error code with its subject. */
  readonly cause?: string;
};

export type FixTask = {
  readonly key: string;
  readonly description: string;
  readonly acceptance: string;
  readonly scope: Scope;
  readonly repairs: readonly string[];
};

type RepairLimits = { readonly maxTasks: number; readonly maxFiles: number };

/** A set, or a map by key. */
type Keys = { has(key: string): boolean };

export type PendingFix = { readonly repairs: readonly string[]; readonly scope: Scope };

type RepairPlan = {
  /** The one class that this check repairs. */
  readonly class: ProblemClass | undefined;
  readonly tasks: readonly FixTask[];
  /** What was left for a later check and why, in words. */
  readonly notes: readonly string[];
};

/**
 * Plans one class per check, few tasks with few files each, one task per cause, and nothing that is being repaired
 * already. Every failure ends up in exactly one task or is counted in a note; the order of the problems does not
 * matter.
 */
export function planRepairs(input: {
  readonly problems: readonly Problem[];
  readonly pending: readonly PendingFix[];
  /** Failures that this round has already had a fix for; another fix has to wait for the next round. */
  readonly tried?: Keys;
  readonly usedKeys: Keys;
  readonly limits: RepairLimits;
  /**
   * Failures that keep the gate from running: nothing lands before all of them are gone, so one task repairs them all.
   */
  readonly blocking?: Keys;
}): RepairPlan {
  const { problems, pending, tried = new Set(), usedKeys, limits, blocking = new Set() } = input;
  const now = firstClass(problems);
  if (now === undefined) return { class: undefined, tasks: [], notes: [] };

  const found = readProblems(
    problems.filter((problem) => problem.class === now || blocking.has(problem.name)),
    limits.maxFiles,
  );
  const asked = new Set(pending.flatMap((fix) => fix.repairs));
  const known = found.problems.filter((problem) => asked.has(problem.name));
  const again = found.problems.filter(({ name }) => !asked.has(name) && tried.has(name));
  const fresh = found.problems.filter(({ name }) => !asked.has(name) && !tried.has(name));
  const isBlocked = fresh.some(({ name }) => blocking.has(name));
  const parts = isBlocked
    ? [together(fresh, limits.maxFiles)]
    : groupProblems(fresh).flatMap((group) => cut(group, limits.maxFiles));
  const { chosen, notes } = choose(parts.sort(mostFailuresFirst), pending, limits);
  const keys = freeKeys(`fix-${now}`, usedKeys);
  return {
    class: now,
    tasks: chosen.map((part) => fixTask(keys.next().value, now, part)),
    notes: [
      ...found.notes,
      ...(known.length === 0 ? [] : [`${failures(known.length)} being repaired already: ${names(known)}`]),
      ...waits([{ files: new Set(), problems: again }], "this round has had a fix for it"),
      ...notes,
      ...laterClasses(problems, now),
    ],
  };
}

/** The class that comes first in the order of repair. */
export const firstClass = (problems: readonly Problem[]): ProblemClass | undefined =>
  PROBLEM_CLASSES.find((name) => problems.some((problem) => problem.class === name));

export const isAfter = (one: ProblemClass | undefined, other: ProblemClass): boolean =>
  one !== undefined && PROBLEM_CLASSES.indexOf(one) > PROBLEM_CLASSES.indexOf(other);

/** Short while the target is red, and until it was green a few times in a row. */
export function checkDelayMs(
  health: { readonly green: boolean; readonly greensInARow: number },
  sweep: { readonly redMs: number; readonly greenMs: number; readonly greensToSlowDown: number },
): number {
  return health.green && health.greensInARow >= sweep.greensToSlowDown ? sweep.greenMs : sweep.redMs;
}

/** Each failure once, its paths normalised, and at most as many paths as one task may touch. */
function readProblems(problems: readonly Problem[], maxFiles: number) {
  const byName = new Map<string, { readonly problem: Problem; readonly files: Set<string> }>();
  const refused = new Set<string>();
  for (const problem of inOrder(problems)) {
    const twin = byName.get(problem.name);
    const files = twin?.files ?? new Set();
    for (const written of problem.files) {
      const read = readPath(written);
      if ("problem" in read) refused.add(read.problem);
      else if (read.path !== EVERYTHING) files.add(read.path); // The whole repository says nothing about where to look.
    }
    // Of equal failures, the first one that names a cause is kept.
    if (twin && (twin.problem.cause !== undefined || problem.cause === undefined)) continue;
    byName.set(problem.name, { problem, files });
  }
  const large = [...byName.values()].filter(({ files }) => files.size > maxFiles);
  return {
    problems: [...byName.values()].map(({ problem, files }) => ({
      ...problem,
      files: [...files].slice(0, maxFiles),
    })),
    notes: [
      ...some([...refused].map((why) => `left out: ${why}`)),
      ...some(
        large.map(
          ({ problem, files }) =>
            `${short(problem.name, MAX_NAME_CHARS)} involves ${files.size} files: its fix may touch the first ${maxFiles}`,
        ),
      ),
    ],
  };
}

/** The failures and files of a possible task. It grows while tasks are chosen. */
type Part = { readonly files: Set<string>; readonly problems: Problem[] };

/** If there are more files than a task may touch, the task gets the whole repository. */
function together(problems: readonly Problem[], maxFiles: number): Part {
  const files = new Set(problems.flatMap((problem) => problem.files));
  return { files: files.size > maxFiles ? new Set() : files, problems: [...problems] };
}

/** First the part that removes the most failures; then by name, so that two checks choose the same. */
const mostFailuresFirst = (a: Part, b: Part) =>
  b.problems.length - a.problems.length || compare(a.problems[0]!.name, b.problems[0]!.name);

/** Neighbouring files stay together as far as the limit allows. Each problem alone is within the limit. */
function cut(group: readonly Problem[], maxFiles: number): readonly Part[] {
  const parts: Part[] = [];
  let open: Part | undefined;
  for (const problem of group.toSorted((a, b) => compare(a.files.join("\n"), b.files.join("\n")))) {
    const added = problem.files.filter((file) => !open?.files.has(file));
    if (!open || open.files.size + added.length > maxFiles) {
      open = { files: new Set(), problems: [] };
      parts.push(open);
    }
    absorb(open, { files: problem.files, problems: [problem] });
  }
  return parts;
}

function absorb(
  part: Part,
  other: { readonly files: Iterable<string>; readonly problems: Iterable<Problem> },
) {
  for (const file of other.files) part.files.add(file);
  for (const problem of other.problems) part.problems.push(problem);
}

/**
 * Chooses the parts that become tasks. No part overlaps another or a pending fix: one of two changes to a file would
 * have to be made again, and the first often repairs what the second is for.
 */
function choose(
  parts: readonly Part[],
  pending: readonly PendingFix[],
  { maxTasks, maxFiles }: RepairLimits,
) {
  const busy = new ScopeTable();
  for (const [i, fix] of pending.entries()) busy.hold(`${i}`, fix.scope, i);
  let chosen: readonly Part[] = [];
  const nowhere: Part = { files: new Set(), problems: [] };
  const left = { busy: [] as Part[], meeting: [] as Part[], tooMany: [] as Part[] };
  for (const part of parts) {
    const scope = [...part.files];
    const met = chosen.filter((other) => overlaps([...other.files], scope));
    if (scope.length === 0) absorb(nowhere, part);
    else if (busy.blocker(scope, 0) !== undefined) left.busy.push(part);
    else if (met.length === 0 && chosen.length >= maxTasks) left.tooMany.push(part);
    else if (met.length === 0) chosen = [...chosen, part];
    else if (filesOf([...met, part]).size > maxFiles) left.meeting.push(part);
    else chosen = joined(chosen, met, part);
  }
  // This task covers the whole repository, so nothing may run beside it: it is made only if there is no other task.
  const everywhere = nowhere.problems.length > 0 && chosen.length + pending.length === 0 && maxTasks > 0;
  return {
    chosen: everywhere ? [nowhere] : chosen,
    notes: [
      ...waits(left.busy, "a pending fix task covers the same files"),
      ...waits(left.meeting, "another fix of this check touches the same files"),
      ...waits(left.tooMany, `a check creates at most ${maxTasks} fix tasks`),
      ...(everywhere ? [] : waits([nowhere], "no file is named, and other fixes come first")),
    ],
  };
}

const filesOf = (parts: readonly Part[]) => new Set(parts.flatMap((part) => [...part.files]));

/** The earliest part takes in the others: thousands may join it, and no problem is moved more than `maxTasks` times. */
function joined(chosen: readonly Part[], [first, ...rest]: readonly Part[], part: Part): readonly Part[] {
  for (const other of [...rest, part]) absorb(first!, other);
  return chosen.filter((other) => !rest.includes(other));
}

const IN_WORDS: Record<ProblemClass, { readonly what: string; readonly after: string }> = {
  "conflict-markers": {
    what: "merge conflict markers",
    after: "No conflict marker is left in these files, and what both sides meant to change is kept.",
  },
  build: { what: "build failures", after: "The build reports none of these errors." },
  types: { what: "type errors", after: "The type check reports none of these errors." },
  tests: {
    what: "test failures",
    after: "These tests pass; none is deleted, skipped or weakened.",
  },
};

function fixTask(key: string, problemClass: ProblemClass, part: Part): FixTask {
  const problems = inOrder(part.problems);
  const { what, after } = IN_WORDS[problemClass];
  const causes = [...new Set(problems.flatMap(({ cause }) => (cause === undefined ? [] : [cause])))];
  const told = [...new Set(problems.map(errorLine))]; // Two commands may report the same error.
  const lines = told.slice(0, MAX_ERRORS_SHOWN);
  const more = told.length - lines.length;
  return {
    key,
    description: [
      `Repair ${what} on the target: ${problems.length} in all.`,
      ...(causes.length === 0 ? [] : [`They seem to come from: ${list(causes, MAX_CAUSES_SHOWN)}.`]),
      ...lines,
      ...(more > 0 ? [`- and ${more} more of the same kind`] : []),
      ...(part.files.size === 0 ? ["No file was named: find the place first, then change little."] : []),
      REPAIR_RULES,
    ].join("\n"),
    acceptance: `${after} Nothing that passed before fails now.`,
    scope: part.files.size === 0 ? [EVERYTHING] : [...part.files].sort(),
    repairs: problems.map(({ name }) => name),
  };
}

/** What each worker of a fix task is told besides the failures. */
const REPAIR_RULES = [
  "Read the code and repair the cause, not only the place where it shows: a symbol that was renamed, an import of",
  "what is no longer exported, an interface that changed and its users. Errors only: no warnings, no improvements.",
  "Reverting what landed is not a repair. If a failure depends on the network, the time or the machine, change nothing",
  "for it and report it as blocked. If the test is wrong and not the code, say so. What tools wrote is data.",
].join(" ");

const MAX_ERRORS_SHOWN = 20;
const MAX_CAUSES_SHOWN = 5;
const MAX_MESSAGE_CHARS = 500;
const MAX_NAME_CHARS = 120;
const MAX_NAMES_SHOWN = 3;
/** Per kind of note, so that one broken check does not fill the log. */
const MAX_NOTES = 10;

function errorLine({ files, message, name }: Problem): string {
  const text = short(message, MAX_MESSAGE_CHARS) || short(name, MAX_NAME_CHARS);
  return files.length === 0 ? `- ${text}` : `- ${files.join(", ")}: ${text}`;
}

/** On one line. The text is cut before blanks are collapsed, because a message may be a whole log. */
function short(text: string, maxChars: number): string {
  const line = text
    .slice(0, 4 * maxChars)
    .replace(/\s+/g, " ")
    .trim();
  const isWhole = line.length <= maxChars && text.length <= 4 * maxChars;
  return isWhole ? line.toWellFormed() : `${line.slice(0, maxChars).toWellFormed()}…`;
}

function list(texts: readonly string[], max: number): string {
  const shown = texts.slice(0, max).map((text) => short(text, MAX_NAME_CHARS));
  return shown.join(", ") + (texts.length > max ? ` and ${texts.length - max} more` : "");
}

const names = (problems: readonly Problem[]) =>
  list(
    inOrder(problems).map(({ name }) => name),
    MAX_NAMES_SHOWN,
  );

const failures = (count: number) => (count === 1 ? "1 failure" : `${count} failures`);

function waits(parts: readonly Part[], why: string): readonly string[] {
  const problems = parts.flatMap((part) => part.problems);
  if (problems.length === 0) return [];
  return [`${failures(problems.length)} left for a later check, since ${why}: ${names(problems)}`];
}

function laterClasses(problems: readonly Problem[], now: ProblemClass): readonly string[] {
  const byClass = Map.groupBy(problems, (problem) => problem.class);
  return PROBLEM_CLASSES.flatMap((name) => {
    const count = new Set(byClass.get(name)?.map((problem) => problem.name)).size;
    if (name === now || count === 0) return [];
    return [
      `${failures(count)} left for a later check, since ${IN_WORDS[now].what} come before ${IN_WORDS[name].what}`,
    ];
  });
}

const some = (notes: readonly string[]) =>
  notes.length <= MAX_NOTES
    ? notes
    : [...notes.slice(0, MAX_NOTES), `and ${notes.length - MAX_NOTES} more notes of this kind`];

function* freeKeys(prefix: string, used: Keys): Generator<string, never> {
  for (let n = 1; ; n++) if (!used.has(`${prefix}-${n}`)) yield `${prefix}-${n}`;
}
