/** Which tests failed under vitest, jest or mocha? */
import { causeOf, classOfUnloaded, subjectOf } from "./cause.ts";
import type { Finds } from "./found.ts";
import { block, frames, gist, isFile, type Reader, type Sheet } from "./sheet.ts";

export const vitest: Reader = {
  mark: /^ FAIL {2}\S/,
  read(sheet, finds) {
    const { lines } = sheet;
    for (const [i, line] of lines.entries()) {
      if (!vitest.mark.test(line)) continue;
      const [file = "", ...titles] = line
        .slice(7)
        .replace(/^\|[^|]{1,200}\| ?/, "")
        .replace(/ \[ .* \]$/, "")
        .trim()
        .split(" > ");
      // Several tests with one error stand above it together.
      const told = block(lines, i + 1, (next) => next.startsWith("⎯⎯")).filter(
        (next) => !/^ FAIL /.test(next),
      );
      const end = told.findIndex((next) => /^\s*❯ /.test(next));
      addTest({ sheet, finds }, { file, titles, told, text: gist(told.slice(0, end === -1 ? 8 : end)) });
    }
  },
};

export const jest: Reader = {
  mark: /^ {2}● /,
  read(sheet, finds) {
    const { lines } = sheet;
    let file: string | undefined;
    for (const [i, line] of lines.entries()) {
      const head = /^(PASS|FAIL) (\S.*)$/.exec(line);
      if (head) file = head[1] === "FAIL" ? head[2]!.replace(/ \([\d.]{1,20} m?s\)$/, "") : undefined;
      if (!line.startsWith("  ● ") || file === undefined || line.startsWith("  ● Console")) continue;
      const title = line.slice(4).trim();
      const titles = title === "Test suite failed to run" ? [] : title.split(" › ");
      const told = block(lines, i + 1, (next) => /^ {2}● |^(?:PASS|FAIL) |^Test Suites:/.test(next));
      const end = told.findIndex((next) => /^\s*(?:>\s*)?\d{1,9} \||^\s+at /.test(next));
      addTest({ sheet, finds }, { file, titles, told, text: gist(told.slice(0, end === -1 ? 8 : end)) });
    }
  },
};

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
      const end = told.findIndex((next) => /^\s+(?:at |\+ expected - actual)/.test(next));
      const text = gist(told.slice(0, end === -1 ? 8 : end));
      const inTest = told.filter((next) => next.includes("Context.<anonymous>"));
      const slow = /\((\S{1,1000})\)$/.exec(text)?.[1];
      const file = frames(inTest, sheet)[0] ?? sheet.place(slow ?? "");
      const name = titles.join(" > ").replace(/:$/, "");
      const subject = file === undefined ? [] : subjectOf(file, sheet);
      const files = [file, ...frames(told, sheet), ...subject].filter(isFile);
      finds.add({ class: "tests", name, files, message: text, cause: causeOf(text, file ?? "") });
    }
  },
};

const ENTRY = /^ {2}\d{1,9}\) (\S.*)$/;
const MAX_TITLES = 20;

function addTest(
  { sheet, finds }: { readonly sheet: Sheet; readonly finds: Finds },
  failed: {
    readonly file: string;
    readonly titles: readonly string[];
    readonly told: readonly string[];
    readonly text: string;
  },
): void {
  const { file, titles, told, text } = failed;
  const place = sheet.place(file);
  finds.add({
    class: titles.length === 0 ? classOfUnloaded(text) : "tests",
    name: [file, ...titles].join(" > "),
    files: [place, ...frames(told, sheet), ...(place ? subjectOf(place, sheet) : [])].filter(isFile),
    message: text,
    cause: causeOf(text, place ?? ""),
  });
}
