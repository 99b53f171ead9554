/** Reads failures from the output of pytest, unittest and Python itself. */
import { causeOf, classOfUnloaded, failedTest } from "./cause.ts";
import { steady } from "./found.ts";
import { block, gist, isFile, type Reader, type Sheet } from "./sheet.ts";

export const pytest: Reader = {
  mark: /^(?:FAILED|ERROR) [^\s:]{1,1000}\.py(?:::|\s|$)/,
  read(sheet, finds) {
    const sections = sectionsOf(sheet);
    for (const line of sheet.lines) {
      if (!pytest.mark.test(line)) continue;
      const { id, text } = split(line.slice(line.indexOf(" ") + 1));
      const [file = "", ...names] = id.split("::");
      const titles = [names.join("."), `ERROR at setup of ${names.at(-1)}`, `ERROR collecting ${file}`];
      const candidates = titles.flatMap((title) => sections.get(title) ?? []);
      const section = candidates.find(({ files }) => files.includes(file)) ?? candidates[0];
      const said = gist(section?.errors ?? [text]);
      const failed = { name: id, place: sheet.place(file), others: section?.files ?? [], text: said };
      const message = text || gist(section?.errors ?? []);
      finds.add(failedTest(sheet, { ...failed, message, isUnloaded: names.length === 0 }));
    }
  },
};

/** Splits a line at " - ", which the parameter of a test may contain itself. */
function split(line: string): { readonly id: string; readonly text: string } {
  const [bracket, dash] = [line.indexOf("["), line.indexOf(" - ")];
  const inBracket = bracket !== -1 && (dash === -1 || bracket < dash);
  const closed = inBracket ? line.indexOf("] - ", bracket) : -1;
  const end = inBracket ? (closed === -1 ? line.length : closed + 1) : dash === -1 ? line.length : dash;
  return { id: line.slice(0, end).trim(), text: line.slice(end + 3) };
}

type Section = { readonly errors: string[]; readonly files: string[] };

/** The reports of single tests by their headline: the errors, and the files in their tracebacks. */
function sectionsOf(sheet: Sheet): ReadonlyMap<string, readonly Section[]> {
  const sections = new Map<string, Section[]>();
  let open: Section | undefined;
  for (const line of sheet.lines) {
    const title = /^_{3,80} (\S.*) _{3,80}$/.exec(line)?.[1];
    if (title !== undefined) {
      open = { errors: [], files: [] };
      const twins = sections.get(title);
      if (twins) twins.push(open);
      else sections.set(title, [open]);
    } else if (/^=+ .* =+$/.test(line)) open = undefined;
    else if (open && line.startsWith("E  ") && open.errors.length < MAX_ERRORS)
      open.errors.push(line.slice(1));
    else if (open && open.files.length < MAX_ERRORS) {
      const file = sheet.place(/^([^\s:]{1,1000}\.py):\d{1,9}: /.exec(line)?.[1] ?? "");
      if (file !== undefined) open.files.push(file);
    }
  }
  return sections;
}

const MAX_ERRORS = 8;

export const unittest: Reader = {
  mark: /^(?:FAIL|ERROR): \S{1,300} \(/,
  read(sheet, finds) {
    const { lines } = sheet;
    for (const [i, line] of lines.entries()) {
      const head = /^(?:FAIL|ERROR): (\S{1,300}) \((\S{1,500})\)(.*)$/.exec(line);
      if (!head || !lines[i - 1]?.startsWith("=====")) continue;
      const [, test = "", of = "", rest = ""] = head;
      const told = block(lines, i + 1, (next) => /^={20}|^Ran \d/.test(next));
      const loaded = of.replace(/^unittest\.loader\._FailedTest\./, "");
      const id = loaded === test || loaded.endsWith(`.${test}`) ? loaded : `${loaded}.${test}`;
      const text = told.findLast((each) => /^[A-Za-z_][\w.]*(?:: |$)/.test(each)) ?? "";
      const [place, ...others] = tracebackFiles(told, sheet);
      const name = `${id}${rest.trimEnd()}`;
      finds.add(failedTest(sheet, { name, place, others, text, isUnloaded: loaded !== of }));
    }
  },
};

/** Reads the last uncaught error; used only if no other reader finds a failure. */
export const traceback: Reader = {
  mark: /^(?:Traceback \(most recent call last\):|(?:Syntax|Indentation|Tab)Error: )/,
  read(sheet, finds) {
    const { lines } = sheet;
    for (const [i, line] of lines.entries()) {
      if (!/^(?:Syntax|Indentation|Tab)Error: /.test(line)) continue;
      const file = tracebackFiles(lines.slice(Math.max(0, i - 5), i), sheet).at(-1);
      if (file !== undefined)
        finds.add({
          class: "build",
          name: `${file}: ${steady(line)}`,
          files: [file],
          message: line,
          hides: true,
        });
    }
    if (!finds.isEmpty) return;
    const start = lines.findLastIndex((line) => line.startsWith("Traceback (most recent call last):"));
    if (start === -1) return;
    const told = block(lines, start + 1, (line) => !line.startsWith("  "));
    const text = lines[start + 1 + told.length] ?? "";
    const files = tracebackFiles(told, sheet).toReversed();
    finds.add({
      class: classOfUnloaded(text),
      name: `${files[0] === undefined ? "" : `${files[0]}: `}${text.split(":")[0]}`,
      files,
      message: text,
      cause: causeOf(text, files[0] ?? ""),
      hides: true,
    });
  },
};

const tracebackFiles = (lines: readonly string[], sheet: Sheet): readonly string[] =>
  lines
    .map((line) => sheet.place(/^\s{2,20}File "([^"]{1,1000})", line \d/.exec(line)?.[1] ?? ""))
    .filter(isFile);
