/** What do `go build`, `go vet` and `go test` say? */
import { subjectOf } from "./cause.ts";
import { type Finds, steady } from "./found.ts";
import { gist, isFile, type Reader, type Sheet } from "./sheet.ts";

export const go: Reader = {
  mark: /^(?:vet: )?[^\s:]{1,1000}\.go:\d|^\s{0,80}--- FAIL: |^FAIL\t/,
  read(sheet, finds) {
    let open: Test[] = [];
    let stray: string[] = [];
    let hasErrors = false;
    for (const line of sheet.lines) {
      if (ERROR.test(line)) {
        hasErrors = true;
        addError(line, sheet, finds);
      }
      const test = /^\s{0,80}--- FAIL: (\S+)/.exec(line)?.[1];
      const end = /^(FAIL|ok {2})\t(\S+)(.*)$/.exec(line);
      if (test !== undefined) {
        open.push({ test, told: [] });
      } else if (end) {
        const [, word, pack = "", rest = ""] = end;
        if (word === "FAIL") addTests({ pack, rest, open, stray, hasErrors }, sheet, finds);
        [open, stray] = [[], []];
      } else {
        const told = open.at(-1)?.told ?? stray;
        if (told.length < MAX_TOLD_LINES) told.push(line);
      }
    }
  },
};

type Test = { readonly test: string; readonly told: string[] };
const MAX_TOLD_LINES = 200;
const ERROR = /^(?:vet: )?([^\s:]{1,1000}\.go):(\d{1,9}(?::\d{1,9})?): (.*)$/;

function addError(line: string, sheet: Sheet, finds: Finds): void {
  const [, written = "", at, text = ""] = ERROR.exec(line) ?? [];
  const file = sheet.place(written);
  const name = `${file ?? steady(written)}: ${steady(text)}`;
  finds.add({ class: "build", name, files: [file].filter(isFile), message: text, cause: causeOf(text) }, at);
}

function causeOf(text: string): string | undefined {
  const undefinedName = /^undefined: (\S{1,200})/.exec(text)?.[1];
  if (undefinedName !== undefined) return `name ${undefinedName} is missing`;
  const member = /\(type (\S{1,200}) has no field or method (\w{1,200})/.exec(text);
  if (member) return `${member[2]} of ${member[1]} is missing`;
  const pack = /(?:no required module provides|cannot find module providing) package ([^\s:;]{1,500})/.exec(
    text,
  );
  const absent = pack ?? /^package (\S{1,500}) is not in/.exec(text);
  return absent ? `module ${absent[1]} is missing` : undefined;
}

type Ended = {
  readonly pack: string;
  readonly rest: string;
  readonly open: readonly Test[];
  /** Lines that belong to no test that had ended: of a panic, or of a test that took too long. */
  readonly stray: readonly string[];
  readonly hasErrors: boolean;
};

function addTests({ pack, rest, open, stray, hasErrors }: Ended, sheet: Sheet, finds: Finds): void {
  const add = (test: string, told: readonly string[]) => {
    const end = told.findIndex((line) => /^goroutine |^FAIL$/.test(line));
    const message = gist(end === -1 ? told : told.slice(0, end));
    finds.add({ class: "tests", name: `${pack}${test}`, files: filesOf(told, pack, sheet), message });
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

/** A test with subtests fails with them. */
function parentsOf(test: string): readonly string[] {
  const slashes = Array.from(test.matchAll(/\//g), (match) => match.index);
  return slashes.slice(0, MAX_DEPTH).map((at) => test.slice(0, at));
}

const MAX_DEPTH = 20;

/** Go names the file of a test without its folder, which is the end of its package's name: how much of it, the tree knows. */
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
