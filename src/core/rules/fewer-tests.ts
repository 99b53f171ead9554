/** Tells which commands of the gate ran fewer tests on a candidate than on the target that it was built on. */
import type { GateReport, TestsRan } from "../gate.ts";
import { cut } from "../handoff.ts";

/** A line for each command that ran fewer: it is flagged and refuses nothing, since runners may shard or cache. */
export function fewerTests(before: readonly TestsRan[], now: readonly TestsRan[]): readonly string[] {
  return before.flatMap((was) => {
    const is = now.find(({ command }) => command === was.command);
    const fewer = is === undefined ? 0 : was.tests - is.tests;
    if (is === undefined || fewer <= 0) return [];
    const tests = fewer === 1 ? "1 fewer test" : `${fewer} fewer tests`;
    return [`${tests} ran than on the target: ${was.command} ${was.tests} → ${is.tests}${goneText(was, is)}`];
  });
}

/** Of the commands that told a number. That of a red one may be too small: it leaves out what was skipped. */
export const testsRanIn = ({ commands }: GateReport): readonly TestsRan[] =>
  commands.flatMap(({ name: command, tests, names, isOfPackages }) =>
    tests === undefined || isOfPackages ? [] : [{ command, tests, ...(names && { names }) }],
  );

/** For proofs: they say how many ran, and what failed. */
export const withoutNames = ({ commands }: GateReport): GateReport => ({
  commands: commands.map(({ names: _, ...command }) => command),
});

/** Tests of several files may have one name: each counts. */
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
