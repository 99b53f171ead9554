/** Reads why a Node program crashed: an uncaught error, a syntax error, a missing module. */
import { causeOf, classOfUnloaded, sourceOf } from "./cause.ts";
import type { ToolProblem } from "./found.ts";
import { frames, isFile, type Reader, type Sheet } from "./sheet.ts";

/** Used only if no other reader finds a failure: a test runner reports the same crash as a failed file. */
export const nodeCrash: Reader = {
  mark: /^(?:# )?Node\.js v\d/,
  read(sheet, finds) {
    for (const crash of crashesIn(sheet)) finds.add(crash);
  },
};

/** Reads crashes. Each ends with the version of Node, below the error. In TAP all of it is a comment. */
export function crashesIn(sheet: Sheet): readonly ToolProblem[] {
  const crashes: ToolProblem[] = [];
  let start = 0;
  for (const [i, line] of sheet.lines.entries()) {
    if (!nodeCrash.mark.test(line)) continue;
    const told = sheet.lines
      .slice(Math.max(start, i - MAX_CRASH_LINES), i)
      .map((each) => each.replace(/^# ?/, ""));
    start = i + 1;
    const at = told.findLastIndex((each) => ERROR.test(each));
    const [, type = "", code, text = ""] = ERROR.exec(told[at] ?? "") ?? [];
    if (type === "") continue;
    const from = /imported from '?([^'\s]{1,500})/.exec(text)?.[1] ?? "";
    const top = told.map((each) => TOP.exec(each)?.[1]).find(isFile) ?? "";
    const shown = [...[from, top].map(sheet.place), ...frames(told.slice(at), sheet)].filter(isFile);
    const lacking = /module '([^']{1,500})' does not provide/.exec(text)?.[1] ?? "";
    const files = [...shown, sourceOf(lacking, shown[0] ?? "", sheet)].filter(isFile);
    const message = `${type}${code === undefined ? "" : ` [${code}]`}: ${text}`;
    crashes.push({
      class: classOfUnloaded(message),
      name: `${files[0] === undefined ? "" : `${files[0]}: `}${code ?? type}`,
      files,
      message,
      cause: causeOf(text, files[0] ?? ""),
      hides: true,
    });
  }
  return crashes;
}

const MAX_CRASH_LINES = 60;
const ERROR = /^(?:Uncaught )?([A-Z]\w{0,80}(?:Error|Exception)|Error)(?: \[(\w{1,80})\])?: (.*)$/;
/** Where the error was thrown, above the line of code. */
const TOP = /^(?:file:\/\/)?([^\s:]{1,1000}):\d{1,9}$/;
