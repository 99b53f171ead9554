/** Finds the gate commands that ran fewer tests on a candidate than on the target that it was built on. */
import type { GateReport, TestsRan } from "../gate.ts";
import { cut } from "../handoff.ts";

/** One line per command that ran fewer. This is flagged and refuses nothing, because runners may shard or cache. */
export function fewerTests(before: readonly TestsRan[], now: readonly TestsRan[]): readonly string[] {
  return before.flatMap((was) => {
    const is = now.find(({ command }) => command === was.command);
    const fewer = is === undefined ? 0 : was.tests - is.tests;
    if (is === undefined || fewer <= 0) return [];
    const tests = fewer === 1 ? "1 fewer test" : `${fewer} fewer tests`;
    return [`${tests} ran than on the target: ${was.command} ${was.tests} → ${is.tests}${goneText(was, is)}`];
  });
}

/**
 * For the commands that report a number. The number of a red command may be too small, because skipped tests are
 * missing.
 */
export const testsRanIn = ({ commands }: GateReport): readonly TestsRan[] =>
  commands.flatMap(({ name: command, tests, names, isOfPackages }) =>
    tests === undefined || isOfPackages ? [] : [{ command, tests, ...(names && { names }) }],
  );

/** For proofs, which say how many tests ran and what failed. */
export const withoutNames = ({ commands }: GateReport): GateReport => ({
  commands: commands.map(({ names: _, ...command }) => command),
});

/** Tests in several files may have the same name: each counts. */
function goneText({ names: before }: TestsRan, { names: now }: TestsRan): string {
  if (!before || !now) return "";
  const left = Map.groupBy(now, (name) => name);
  const gone = before.filter((name) => left.get(name)?.pop() === undefined);
  const more = gone.length > MAX_NAMED ? ` and ${gone.length - MAX_NAMED} more` : "";
  return `; gone: ${gone
    .slice(0, MAX_NAMED)
    .map((name) => cut(name, MAX_NAME_CHARS))
    .join(", ")}${more}`;
}

const MAX_NAMED = 5;
const MAX_NAME_CHARS = 150;
