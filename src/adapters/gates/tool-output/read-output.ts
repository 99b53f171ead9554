/** Which failures does the output of a gate command name, and where are they? */
import type { ProblemClass } from "../../../core/rules/repair.ts";
import { biome, eslint, gcc, go, markers, rustc, typescript } from "./compilers.ts";
import { nodeCrash } from "./crash.ts";
import { Finds, type ToolProblem } from "./found.ts";
import { jest, mocha, vitest } from "./javascript-tests.ts";
import { cargoTest, goTest } from "./native-tests.ts";
import { nodeSpec, nodeTap } from "./node-test.ts";
import { pytest, traceback, unittest } from "./python.ts";
import { make, makeTarget, notConfigured, npmScript } from "./runners.ts";
import { type Reader, type Sheet, sheetOf } from "./sheet.ts";

type Output = {
  readonly text: string;
  /** The class of failures that could be of any kind: a crashed program, a target that was not made. */
  readonly class?: ProblemClass;
  readonly folder?: string;
  /** Whether a path is a file of the workspace. Without it every path inside is accepted. */
  readonly has?: (path: string) => boolean;
};

export type ToolReading = {
  /** Empty if nothing was recognised: then the command's own name is the failure. */
  readonly failures: readonly ToolProblem[];
  readonly more: number;
  /** There is nothing to run, such as no script or target of that name; says what is missing. */
  readonly notConfigured?: string;
};

/** Takes time in proportion to the text, whatever it contains; never throws. */
export function readOutput({ text, folder, has, class: anyKind = "tests" }: Output): ToolReading {
  const sheet = sheetOf(text, folder, has);
  const finds = new Finds();
  const nothing = notConfigured(sheet.lines);
  if (nothing !== undefined) return { failures: [], more: 0, notConfigured: nothing };
  readAll(READERS, sheet, finds);
  if (!finds.isEmpty) return finds.all();
  readAll(LAST_READERS, sheet, finds);
  const { failures, more } = finds.all();
  return {
    failures: failures.map((found) => (found.class === "tests" ? { ...found, class: anyKind } : found)),
    more,
  };
}

function readAll(readers: readonly Reader[], sheet: Sheet, finds: Finds): void {
  for (const reader of readers)
    if (sheet.lines.some((line) => reader.mark.test(line))) reader.read(sheet, finds);
}

const READERS: readonly Reader[] = [
  ...[markers, typescript, rustc, go, gcc, make, npmScript, eslint, biome],
  ...[nodeSpec, nodeTap, vitest, jest, mocha, goTest, cargoTest, pytest, unittest],
];

/** Used only if no other reader finds anything, because they know less. */
const LAST_READERS: readonly Reader[] = [nodeCrash, traceback, makeTarget];
