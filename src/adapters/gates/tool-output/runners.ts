/** What do make and npm add to the output of their commands: a missing rule or script? */
import { isFile, lineReader, type Reader } from "./sheet.ts";

export const make = lineReader(
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
    };
  },
);

/** The innermost target that failed; used only if nothing else names a failure. */
export const makeTarget: Reader = {
  mark: /^\w{0,20}make(?:\[\d{1,4}\])?: \*\*\* \[/,
  read({ lines }, finds) {
    const line = lines.find((each) => makeTarget.mark.test(each)) ?? "";
    const target = /\*\*\* \[(?:[^\s:\]]{1,500}:\d{1,9}: )?([^\]]{1,500})\]/.exec(line)?.[1];
    if (target === undefined) return;
    const isTest = /\b(?:tests?|check|spec)\b/.test(target);
    finds.add({ class: isTest ? "tests" : "build", name: `target ${target}`, files: [], message: line });
  },
};

/** A script that another script calls and that does not exist. */
export const npmScript: Reader = {
  mark: /Missing script: |missing script: |error Command "/,
  read(sheet, finds) {
    const missing = missingScript(sheet.lines);
    if (missing === undefined || missing.isOwn) return;
    const name = `script ${missing.script} is missing`;
    const files = [sheet.place("package.json")].filter(isFile);
    finds.add({ class: "build", name, files, message: missing.line, cause: name });
  },
};

/**
 * Whether there is nothing to run: npm, pnpm or yarn does not find the script, or make has no rule for the target. If
 * an existing script or rule calls a missing one, that is a failure, so nothing may have been started before.
 */
export function notConfigured(lines: readonly string[]): string | undefined {
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
