/**
 * Could a command of the gate not be run at all, because something is missing around the tree?
 *
 * The rule. A tree that is really red must never be taken for this, nor this for red:
 * 1. Exit code 126 or 127: a program could not be started. It counts whatever else was said, unless what was not found
 *    is a path inside the tree that the gate's command does not name: a change of the tree can fix that.
 * 2. Where the output names failures, every one of them must say that something is missing. One failure of another
 *    kind, and the tree is red.
 * 3. Where it names none, no test may have run, and the words must be among the last ones. "Not found" alone must be
 *    the very last: a script may go on after it and fail for another reason.
 * 4. A service or a port counts only where no test passed, or where it is a database or the like, which no tree has in
 *    itself: a test that fails to talk to a server of its own is red.
 * 5. A package counts where a manifest of the tree names it; a module that no manifest names may be one that is still
 *    to be written. Relative modules and the insides of the tree's own packages are always the tree's.
 */
import { crashesIn } from "./crash.ts";
import type { ToolReading } from "./read-output.ts";
import { type Asked, type Cause, IDEAS, PROGRAMS } from "./set-up-ideas.ts";
import { type Sheet, sheetOf } from "./sheet.ts";
import { testCount } from "./test-count.ts";

export type SetupFailure = Cause & {
  /** What the tool wrote about it, in a few lines. */
  readonly words: string;
};

type Ended = Asked & {
  readonly text: string;
  readonly folder?: string;
  readonly reading: ToolReading;
};

export function setupFailureOf(ended: Ended): SetupFailure | undefined {
  const sheet = sheetOf(ended.text, ended.folder, undefined);
  const lines = sheet.lines.filter((line) => line.trim() !== "" && !FRAME.test(line));
  const { notConfigured } = ended.reading;
  if (notConfigured !== undefined) return { what: notConfigured, is: "absent", words: lastOf(lines) };
  if (ended.code === 126 || ended.code === 127) return unstarted(lines, ended);
  const messages = messagesIn(ended.reading, sheet);
  return messages.length === 0 ? beforeAnyTest(lines, ended) : allThatFailed(messages, lines, ended);
}

const FRAME = /^(?:# |npm (?:error|ERR!) )?\s{2,20}at /;

function unstarted(lines: readonly string[], ended: Ended): SetupFailure | undefined {
  const at = lines.findLastIndex((line) => PROGRAMS.some(({ shape }) => shape.test(line)));
  if (at === -1) {
    const what = `a program could not be started (exit code ${ended.code})`;
    return { what, is: "program", words: lastOf(lines) };
  }
  const cause = causeIn(lines[at]!, ended, PROGRAMS);
  return cause && { ...cause, words: around(lines, at) };
}

/** For a test file that did not load Node says only "test failed"; the reason is where it crashed. */
function messagesIn({ failures }: ToolReading, sheet: Sheet): readonly string[] {
  const said = failures.filter(({ message }) => message !== "test failed");
  const crashes = said.length === failures.length ? [] : crashesIn(sheet);
  const isEnough = crashes.length >= failures.length - said.length;
  return [...said, ...(isEnough ? crashes : failures)].map(({ message }) => message);
}

function beforeAnyTest(lines: readonly string[], ended: Ended): SetupFailure | undefined {
  if ((testCount(lines)?.tests ?? 0) > 0) return undefined;
  const own = lines.filter((line) => !OF_WRAPPERS.test(line));
  const from = Math.max(0, own.length - MAX_LAST_LINES);
  for (const [i, line] of own.slice(from).entries()) {
    const isLast = from + i === own.length - 1;
    const ideas = isLast ? IDEAS : IDEAS.filter((idea) => !PROGRAMS.includes(idea));
    const cause = isTreesOwn(line, lines) ? undefined : causeIn(line, ended, ideas);
    // The number of passed tests is not known for an unknown runner.
    if (cause && cause.is !== "service") return { ...cause, words: around(own, from + i) };
  }
  return undefined;
}

/** Lines that npm and others add below the output of the program that they ran. */
const OF_WRAPPERS =
  /^(?:npm (?:ERR!|error)(?! (?:code|npx|enoent))|\s{0,4}(?:ELIFECYCLE|WARN)\b(?!.*node_modules missing)|error Command failed|info Visit|\w{0,20}make(?:\[\d{1,4}\])?: (?:\*\*\*|Leaving))/;
const MAX_LAST_LINES = 20;

/** A crate that cargo looks for inside the tree. */
const isTreesOwn = (line: string, lines: readonly string[]): boolean =>
  /^error: failed to (?:get|load source)/.test(line) &&
  lines.some((each) => /failed to read `(?![/.]{1,2}\/|\/)[^`]{1,500}`/.test(each));

function allThatFailed(
  messages: readonly string[],
  lines: readonly string[],
  ended: Ended,
): SetupFailure | undefined {
  const hasPassed = (testCount(lines)?.passed ?? 0) > 0;
  let first: SetupFailure | undefined;
  for (const message of messages) {
    const found = MADE_IN_VAIN.test(message) ? unstarted(lines, ended) : causeIn(message, ended, IDEAS);
    if (!found || (found.is === "service" && hasPassed)) return undefined;
    const at = lines.findIndex((line) => line.includes(message.split("\n")[0] ?? ""));
    first ??= { ...found, words: at === -1 ? message : around(lines, at) };
  }
  return first;
}

/** make passes on the exit code of a program that could not be started. */
const MADE_IN_VAIN = /\*\*\* \[.*\] Error 12[67]$/;

function causeIn(text: string, asked: Asked, ideas: typeof IDEAS): Cause | undefined {
  for (const { shape, say } of ideas) {
    const match = shape.exec(text);
    const cause = match && say(match[1] ?? "", asked);
    if (cause) return cause;
  }
  return undefined;
}

const around = (lines: readonly string[], at: number) => lines.slice(at, at + 4).join("\n");
const lastOf = (lines: readonly string[]) => lines.slice(-4).join("\n");
