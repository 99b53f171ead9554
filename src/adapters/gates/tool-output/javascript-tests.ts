/** Reads which tests failed from the output of vitest, jest and mocha. */
import { failedTest } from "./cause.ts";
import { block, frames, gist, lineReader, type Reader, type Sheet } from "./sheet.ts";

export const vitest = lineReader(/^ FAIL {2}(\S.*)$/, ([, head = ""], sheet, i) => {
  const [file = "", ...titles] = head
    .replace(/^\|[^|]{1,200}\| ?/, "")
    .replace(/ \[ .* \]$/, "")
    .trim()
    .split(" > ");
  // Several tests with one error stand above it together.
  const below = block(sheet.lines, i + 1, (next) => next.startsWith("⎯⎯"));
  const told = below.filter((next) => !/^ FAIL /.test(next));
  return inFile(sheet, { file, titles, told, end: /^\s*❯ / });
});

export const jest: Reader = {
  mark: /^ {2}● /,
  read(sheet, finds) {
    const { lines } = sheet;
    let file: string | undefined;
    for (const [i, line] of lines.entries()) {
      const [, word, head = ""] = /^(PASS|FAIL) (\S.*)$/.exec(line) ?? [];
      if (word) file = word === "FAIL" ? head.replace(/ \([\d.]{1,20} m?s\)$/, "") : undefined;
      if (!line.startsWith("  ● ") || file === undefined || line.startsWith("  ● Console")) continue;
      const title = line.slice(4).trim();
      const titles = title === "Test suite failed to run" ? [] : title.split(" › ");
      const told = block(lines, i + 1, (next) => /^ {2}● |^(?:PASS|FAIL) |^Test Suites:/.test(next));
      finds.add(inFile(sheet, { file, titles, told, end: /^\s*(?:>\s*)?\d{1,9} \||^\s+at / }));
    }
  },
};

type ToldTest = {
  readonly file: string;
  /** Empty if the file could not be loaded. */
  readonly titles: readonly string[];
  /** The lines below it; its message goes up to the first that matches `end`. */
  readonly told: readonly string[];
  readonly end: RegExp;
};

function inFile(sheet: Sheet, { file, titles, told, end }: ToldTest) {
  const name = [file, ...titles].join(" > ");
  const [others, text] = [frames(told, sheet), messageIn(told, end)];
  return failedTest(sheet, { name, place: sheet.place(file), others, text, isUnloaded: titles.length === 0 });
}

function messageIn(told: readonly string[], end: RegExp): string {
  const at = told.findIndex((line) => end.test(line));
  return gist(told.slice(0, at === -1 ? 8 : at));
}

export const mocha: Reader = {
  mark: /^ {2}\d{1,9} failing$/,
  read(sheet, finds) {
    const { lines } = sheet;
    for (let i = lines.findIndex((line) => mocha.mark.test(line)); i >= 0 && i < lines.length; i += 1) {
      const first = ENTRY.exec(lines[i]!)?.[1];
      if (first === undefined) continue;
      const isDone = first.endsWith(":");
      const inner = isDone ? [] : block(lines, i + 1, (next) => !/^ {5,}\S/.test(next), MAX_TITLES);
      const last = inner.findIndex((next) => next.endsWith(":"));
      const titles = [first, ...inner.slice(0, last + 1).map((next) => next.trim())];
      const told = block(lines, i + titles.length, (next) => ENTRY.test(next));
      const text = messageIn(told, /^\s+(?:at |\+ expected - actual)/);
      const inTest = told.filter((next) => next.includes("Context.<anonymous>"));
      const slow = /\((\S{1,1000})\)$/.exec(text)?.[1];
      const place = frames(inTest, sheet)[0] ?? sheet.place(slow ?? "");
      const name = titles.join(" > ").replace(/:$/, "");
      finds.add(failedTest(sheet, { name, place, others: frames(told, sheet), text }));
    }
  },
};

const ENTRY = /^ {2}\d{1,9}\) (\S.*)$/;
const MAX_TITLES = 20;
