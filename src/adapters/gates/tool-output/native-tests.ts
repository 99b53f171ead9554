/** Reads which tests failed from the output of `go test` and `cargo test`. */
import { subjectOf } from "./cause.ts";
import { GO_ERROR } from "./compilers.ts";
import type { Finds } from "./found.ts";
import { block, gist, type Reader, type Sheet } from "./sheet.ts";

export const goTest: Reader = {
  mark: /^\s{0,80}--- FAIL: |^FAIL\t/,
  read(sheet, finds) {
    const hasErrors = sheet.lines.some((line) => GO_ERROR.test(line));
    let open: GoTest[] = [];
    let stray: string[] = [];
    for (const line of sheet.lines) {
      const test = /^\s{0,80}--- FAIL: (\S+)/.exec(line)?.[1];
      const end = /^(FAIL|ok {2})\t(\S+)(.*)$/.exec(line);
      if (test !== undefined) {
        open.push({ test, told: [] });
      } else if (end) {
        const [, word, pack = "", rest = ""] = end;
        if (word === "FAIL") addGoTests({ pack, rest, open, stray, hasErrors }, sheet, finds);
        [open, stray] = [[], []];
      } else {
        const told = open.at(-1)?.told ?? stray;
        if (told.length < MAX_TOLD_LINES) told.push(line);
      }
    }
  },
};

type GoTest = { readonly test: string; readonly told: string[] };
const MAX_TOLD_LINES = 200;

type EndedPackage = {
  readonly pack: string;
  readonly rest: string;
  readonly open: readonly GoTest[];
  /** Lines outside of finished tests: of a panic, or of a test that took too long. */
  readonly stray: readonly string[];
  readonly hasErrors: boolean;
};

function addGoTests({ pack, rest, open, stray, hasErrors }: EndedPackage, sheet: Sheet, finds: Finds): void {
  const add = (test: string, told: readonly string[]) => {
    const end = told.findIndex((line) => /^goroutine |^FAIL$/.test(line));
    const message = gist(end === -1 ? told : told.slice(0, end));
    const files = filesOf(told, pack, sheet);
    finds.add({
      class: "tests",
      name: `${pack}${test}`,
      files,
      message,
      ...(test === "" && { hides: true }),
    });
  };
  const parents = new Set(open.flatMap(({ test }) => parentsOf(test)));
  for (const { test, told } of open) if (!parents.has(test)) add(` ${test}`, told);
  if (open.length > 0) return;
  const hanging = stray.some((line) => line.startsWith("panic: test timed out"))
    ? stray.flatMap((line) => /^[^\s(]{1,500}\.(Test\w{1,200})\(/.exec(line)?.[1] ?? [])
    : [];
  for (const test of hanging) add(` ${test}`, stray);
  if (hanging.length === 0 && !(hasErrors && /\[(?:build|setup) failed\]/.test(rest))) add("", stray);
}

/** The parents of a subtest, which fail with it. */
function parentsOf(test: string): readonly string[] {
  const slashes = Array.from(test.matchAll(/\//g), (match) => match.index);
  return slashes.slice(0, MAX_DEPTH).map((at) => test.slice(0, at));
}

const MAX_DEPTH = 20;

/** Go names a test's file without its folder, which is some end of the package's name. The tree shows which end. */
function filesOf(told: readonly string[], pack: string, sheet: Sheet): readonly string[] {
  const parts = pack.split("/").slice(-MAX_DEPTH);
  const folders = parts.map((_, i) => `${parts.slice(i).join("/")}/`);
  const logged = told.flatMap((line) => {
    const name = /^\s{4,80}(\w[^\s:/]{0,200}\.go):\d{1,9}: /.exec(line)?.[1];
    const file =
      name === undefined ? undefined : sheet.first([...folders, ""].map((folder) => folder + name));
    return file === undefined ? [] : [file];
  });
  const frames = told.flatMap((line) => {
    const at = /^\t(\S{1,1000}\.go):\d{1,9}(?: \+0x[0-9a-f]+)?$/.exec(line)?.[1];
    return at === undefined ? [] : (sheet.place(at) ?? []);
  });
  const tests = frames.filter((file) => file.endsWith("_test.go"));
  const subjects = [...logged, ...tests].slice(0, 1).flatMap((file) => subjectOf(file, sheet));
  return [...logged, ...tests, ...frames, ...subjects];
}

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
        addCargoTest({ sheet, finds }, { test: shown, target, told });
      }
      // Tests without output appear only in the list below.
      if (line === "failures:") isList = true;
      else if (isList && /^ {4}\S/.test(line))
        addCargoTest({ sheet, finds }, { test: line.trim(), target, told: [] });
      else if (line !== "") isList = false;
    }
  },
};

function addCargoTest(
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
      // The number of a thread differs between runs.
      message: gist(failed.told.slice(0, end === -1 ? 8 : end)).replace(/^(thread '[^']*') \(\d+\)/m, "$1"),
    },
    line,
  );
}

const PANIC = /(?:panicked|as expected) at (\S{1,1000}?):\d{1,9}:\d{1,9}:?$/;
