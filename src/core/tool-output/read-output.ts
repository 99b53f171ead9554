/** What failed, by name and place, as far as the output of a gate's command tells? */
import type { ProblemClass } from "../repair.ts";
import { cargoTest, rustc } from "./cargo.ts";
import { nodeCrash } from "./crash.ts";
import { Finds, type Found } from "./found.ts";
import { gcc } from "./gcc.ts";
import { go } from "./go.ts";
import { jest, mocha, vitest } from "./javascript-tests.ts";
import { biome, eslint, markers } from "./lint.ts";
import { nodeSpec, nodeTap } from "./node-test.ts";
import { pytest, traceback, unittest } from "./python.ts";
import { make, makeTarget, notConfigured, npmScript } from "./runners.ts";
import { type Reader, type Sheet, sheetOf } from "./sheet.ts";
import { typescript } from "./typescript.ts";

export type Output = {
  /** All that a red command wrote. */
  readonly text: string;
  /** What a failure counts as that could be of any kind: a program that crashed, a target that was not made. */
  readonly class?: ProblemClass;
  /** The workspace: paths inside become relative to it. */
  readonly folder?: string;
  /** Is this path a file of the workspace? Without it every path inside is believed. */
  readonly has?: (path: string) => boolean;
};

export type Reading = {
  /** None: nothing was recognised, and the command's own name is the failure. */
  readonly failures: readonly Found[];
  /** Failures beyond the limit, which have no name. */
  readonly more: number;
  /** There is nothing to be run: no such script, no such target. In words. */
  readonly notConfigured?: string;
};

/** In time that grows with the text alone, whatever it holds; it never throws. */
export function readOutput({ text, folder, has, class: anyKind = "tests" }: Output): Reading {
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
  ...[nodeSpec, nodeTap, vitest, jest, mocha, cargoTest, pytest, unittest],
];

/** They know less: what they name is named better by one of the others, where one knows the tool. */
const LAST_READERS: readonly Reader[] = [nodeCrash, traceback, makeTarget];
