/** What do rustc and `cargo test` say? */
import { type Finds, steady } from "./found.ts";
import { block, gist, isFile, type Reader, type Sheet } from "./sheet.ts";
import { conflictMarker } from "./typescript.ts";

export const rustc: Reader = {
  mark: /^error(?:\[E\d{1,6}\])?: /,
  read({ lines, place }, finds) {
    for (const [i, line] of lines.entries()) {
      const head = /^error(?:\[(E\d{1,6})\])?: (.*)$/.exec(line);
      if (!head) continue;
      const told = block(lines, i + 1, (next) => next === "", MAX_DETAIL_LINES);
      const at = told.map((next) => AT.exec(next)).find((match) => match !== null);
      if (!at) continue; // A summary, or another tool: rustc always shows a place.
      const [, code, text = ""] = head;
      const file = place(at[1]!);
      if (/encountered diff marker/.test(text)) {
        finds.add(conflictMarker(file ?? at[1]!, file));
        continue;
      }
      finds.add(
        {
          class: "build",
          name: `${file ?? steady(at[1]!)}${code === undefined ? "" : ` ${code}`}: ${steady(text)}`,
          files: [file].filter(isFile),
          message: gist([line, ...told.filter((next) => /\^|= (?:note|help)/.test(next))], 3),
          cause: code !== undefined && MISSING.has(code) ? `${code} ${subjects(text)}` : undefined,
        },
        `${at[1]}:${at[2]}`,
      );
    }
  },
};

const AT = /^ *--> (\S.{0,999}?):(\d{1,9}:\d{1,9})$/;
const MAX_DETAIL_LINES = 20;
/** Something is not there: a name, an import, a method, a field, a type, a module's file; or it is private. */
const MISSING: ReadonlySet<string> = new Set([
  ...["E0405", "E0407", "E0412", "E0423", "E0425", "E0432", "E0433", "E0531", "E0560", "E0583", "E0599"],
  ...["E0603", "E0609", "E0616"],
]);

const subjects = (text: string) =>
  Array.from(text.matchAll(/`([^`]{1,200})`/g), (match) => match[1]).join(" ");

export const cargoTest: Reader = {
  mark: /^test result: FAILED|^failures:$/,
  read(sheet, finds) {
    const { lines } = sheet;
    let target = "";
    let isList = false;
    for (const [i, line] of lines.entries()) {
      const running = /^\s{1,20}(?:Running (?:unittests )?(\S{1,1000}) \(|Doc-tests (\S+))/.exec(line);
      if (running) target = running[1] ?? "";
      const shown = /^---- (\S.*) std(?:out|err) ----$/.exec(line)?.[1];
      if (shown !== undefined) {
        const told = block(lines, i + 1, (next) => /^---- .* ----$|^failures:$/.test(next));
        addTest({ sheet, finds }, { test: shown, target, told });
      }
      // Tests that wrote nothing are only in the list below.
      if (line === "failures:") isList = true;
      else if (isList && /^ {4}\S/.test(line))
        addTest({ sheet, finds }, { test: line.trim(), target, told: [] });
      else if (line !== "") isList = false;
    }
  },
};

function addTest(
  { sheet, finds }: { readonly sheet: Sheet; readonly finds: Finds },
  failed: { readonly test: string; readonly target: string; readonly told: readonly string[] },
): void {
  const [, test = "", line] = /^(.*?)(?: \(line (\d{1,9})\))?$/.exec(failed.test) ?? [];
  const places = failed.told.flatMap((each) => PANIC.exec(each)?.[1] ?? []);
  const doc = line === undefined ? undefined : test.split(" - ")[0];
  const end = failed.told.findIndex((each) => /^stack backtrace:|^note: run with/.test(each));
  finds.add(
    {
      class: "tests",
      name: failed.target === "" || doc !== undefined ? test : `${failed.target} > ${test}`,
      files: [...places, doc, failed.target].flatMap((path) => (path ? (sheet.place(path) ?? []) : [])),
      // The number of a thread is of this run.
      message: gist(failed.told.slice(0, end === -1 ? 8 : end)).replace(/^(thread '[^']*') \(\d+\)/m, "$1"),
    },
    line,
  );
}

const PANIC = /(?:panicked|as expected) at (\S{1,1000}?):\d{1,9}:\d{1,9}:?$/;
