/** Reads from a gate command's output which failures it names, where they are, and whether it ran all its tests. */
import type { ProblemClass } from "../../../core/rules/repair.ts";
import { whyBlocked } from "./blocked.ts";
import { biome, eslint, gcc, go, markers, rustc, typescript } from "./compilers.ts";
import { nodeCrash } from "./crash.ts";
import { Finds, type ToolProblem } from "./found.ts";
import { jest, mocha, vitest } from "./javascript-tests.ts";
import { cargoTest, goTest } from "./native-tests.ts";
import { nodeSpec, nodeTap } from "./node-test.ts";
import { pytest, traceback, unittest } from "./python.ts";
import { isFile, lineReader, type Reader, type Sheet, sheetOf } from "./sheet.ts";

/** Reads what make and npm add to the output of their commands: a missing rule or script. */
const make = lineReader(
  /: \*\*\* No rule to make target [`'](.{1,500})', needed by [`'].{1,500}'|^([^\s:]{1,500}):\d{1,9}: \*\*\* (.{1,500}?)\.? {1,4}Stop\.$/,
  ([, target, makefile = "", text], { place, lines }, i) => {
    const name = target === undefined ? `${makefile}: ${text}` : `no rule to make ${target}`;
    const files = [place(makefile)].filter(isFile);
    return {
      class: "build",
      name,
      files,
      message: lines[i]!,
      cause: target === undefined ? undefined : name,
      hides: true,
    };
  },
);

/** Reads the innermost target that failed; used only if no other reader finds a failure. */
const makeTarget: Reader = {
  mark: /^\w{0,20}make(?:\[\d{1,4}\])?: \*\*\* \[/,
  read({ lines }, finds) {
    const line = lines.find((each) => makeTarget.mark.test(each)) ?? "";
    const target = /\*\*\* \[(?:[^\s:\]]{1,500}:\d{1,9}: )?([^\]]{1,500})\]/.exec(line)?.[1];
    if (target === undefined) return;
    const isTest = /\b(?:tests?|check|spec)\b/.test(target);
    finds.add({ class: isTest ? "tests" : "build", name: `target ${target}`, files: [], message: line });
  },
};

/** Reads a missing script that another script calls. */
const npmScript: Reader = {
  mark: /Missing script: |missing script: |error Command "/,
  read(sheet, finds) {
    const missing = missingScript(sheet.lines);
    if (missing === undefined || missing.isOwn) return;
    const name = `script ${missing.script} is missing`;
    const files = [sheet.place("package.json")].filter(isFile);
    finds.add({ class: "build", name, files, message: missing.line, cause: name, hides: true });
  },
};

/**
 * Whether there is nothing to run: npm, pnpm or yarn does not find the script, or make has no rule for the target.
 * If an existing script or rule calls a missing one, that is a failure instead, so the words count only if nothing
 * was started before.
 */
function notConfigured(lines: readonly string[]): string | undefined {
  const missing = missingScript(lines);
  if (missing?.isOwn) return `there is no script "${missing.script}"`;
  const said = lines.filter((line) => line !== "");
  const rule = /^g?make: \*\*\* No rule to make target [`']([^'`]{1,500})'\. {1,4}Stop\.$/.exec(
    said[0] ?? "",
  );
  if (rule && said.length === 1) return `make has no target "${rule[1]}"`;
  return undefined;
}

function missingScript(lines: readonly string[]) {
  const at = lines.findIndex((line) => SCRIPT.test(line));
  if (at === -1) return undefined;
  const line = lines[at]!;
  // npm shows each script that it starts: "> shop@1.0.0 test"; yarn the command: "$ tsc".
  const isOwn = !lines.slice(0, at).some((above) => /^> \S|^\$ \S/.test(above));
  return { script: SCRIPT.exec(line)!.slice(1).find(isFile)!, line, isOwn };
}

const SCRIPT =
  /^npm (?:ERR!|error) [Mm]issing script: "?([^"]{1,200}?)"?$|^\s{0,4}ERR_PNPM_NO_SCRIPT\s{1,4}Missing script: (\S{1,200})|^error Command "([^"]{1,200})" not found\.$/;

type Output = {
  readonly text: string;
  /** The class of failures that could be of any kind: a crashed program, a target that was not made. */
  readonly class?: ProblemClass;
  readonly folder?: string;
  /** Whether a path is a file of the workspace. Without it every path inside is accepted. */
  readonly has?: (path: string) => boolean;
  /** Whether the command is meant to run tests. */
  readonly isForTests?: boolean;
};

export type ToolReading = {
  /** Empty if nothing was recognised: then the command's own name is the failure. */
  readonly failures: readonly ToolProblem[];
  readonly more: number;
  /** How many tests ran, if known. */
  readonly tests?: number;
  readonly isOfPackages?: true;
  /** How many of the failures keep others from being seen. */
  readonly hiding?: number;
  /** Why the command did not run all its tests, in words. */
  readonly blocked?: string;
  /** Set if only the exit code of an inner step is known. */
  readonly isNameless?: true;
  /** Set if there is nothing to run, such as no script or target of that name; says what is missing. */
  readonly notConfigured?: string;
};

/** Takes time in proportion to the text, whatever it contains; never throws. */
export function readOutput(output: Output): ToolReading {
  const { text, folder, has, class: anyKind = "tests", isForTests = false } = output;
  const sheet = sheetOf(text, folder, has);
  const finds = new Finds();
  const nothing = notConfigured(sheet.lines);
  if (nothing !== undefined) return { failures: [], more: 0, notConfigured: nothing };
  readAll(READERS, sheet, finds);
  const { lines } = sheet;
  if (!finds.isEmpty) return { ...finds.all(), ...whyBlocked({ lines, finds, isForTests }) };
  readAll([nodeCrash, traceback], sheet, finds);
  const hasCrashed = !finds.isEmpty;
  if (!hasCrashed) readAll([makeTarget], sheet, finds);
  const { failures, more } = finds.all();
  return {
    failures: failures.map((found) => (found.class === "tests" ? { ...found, class: anyKind } : found)),
    more,
    ...whyBlocked({ lines, finds, isForTests, hasCrashed }),
    ...(hasCrashed || finds.isEmpty ? {} : { isNameless: true }),
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
