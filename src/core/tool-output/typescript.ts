/** What does the TypeScript compiler say, in its plain and in its pretty form? */
import type { ProblemClass } from "../repair.ts";
import { missingExport, missingModule, resolved, sourceOf } from "./cause.ts";
import { steady } from "./found.ts";
import { block, gist, isFile, type Reader } from "./sheet.ts";

export const typescript: Reader = {
  mark: /error TS\d{1,6}: /,
  read({ lines, ...sheet }, finds) {
    for (const [i, line] of lines.entries()) {
      if (!line.includes("error TS")) continue;
      const match = PLAIN.exec(line) ?? PRETTY.exec(line) ?? GLOBAL.exec(line);
      if (!match?.groups) continue;
      const { file = "", at = "", code = "", text = "" } = match.groups;
      const place = sheet.place(file);
      if (code === "TS1185") {
        finds.add(conflictMarker(place ?? file, place));
        continue;
      }
      const more = block(lines, i + 1, (next) => !/^(?: {2}|$|\d+ | *~)/.test(next), MAX_DETAIL_LINES);
      const related = more.map((next) => sheet.place(RELATED.exec(next)?.[1] ?? "")).filter(isFile);
      const { cause, spec } = causeOf(code, text, file);
      const source = spec === undefined ? undefined : sourceOf(spec, file, { lines, ...sheet });
      finds.add(
        {
          class: classOf(code),
          name: `${file === "" ? "" : `${place ?? steady(file)} `}${code}: ${steady(text)}`,
          files: [place, source, ...related].filter(isFile),
          message: gist([`${code}: ${text}`, ...more.filter((next) => /^ {2}[A-Z]/.test(next))], 4),
          cause,
        },
        `${file}(${at})`,
      );
    }
  },
};

/** One a file, whoever reports it. */
export const conflictMarker = (written: string, place: string | undefined) => ({
  class: "conflict-markers" as const,
  name: `${steady(written)}: conflict marker`,
  files: [place].filter(isFile),
  message: `${written} holds conflict markers`,
});

const PLAIN = /^(?<file>\S.{0,999}?)\((?<at>\d{1,9},\d{1,9})\): error (?<code>TS\d{1,6}): (?<text>.*)$/;
const PRETTY = /^(?<file>\S.{0,999}?):(?<at>\d{1,9}:\d{1,9}) - error (?<code>TS\d{1,6}): (?<text>.*)$/;
const GLOBAL = /^error (?<code>TS\d{1,6}): (?<text>.*)$/;
const RELATED = /^ {2}(\S.{0,999}?):\d{1,9}:\d{1,9}(?: - .*)?$/;
const MAX_DETAIL_LINES = 12;

/** 1xxx: syntax. 5xxx, 6xxx, 18003: what it was told to compile. */
const classOf = (code: string): ProblemClass =>
  /^TS(?:1\d{3}|5\d{3}|6\d{3}|18003)$/.test(code) ? "build" : "types";

/** Only where the message names what is missing: two values of wrong types have nothing else in common. */
function causeOf(code: string, text: string, file: string): { cause?: string; spec?: string } {
  const [first = "", second = ""] = Array.from(
    text.matchAll(/'("?)([^']{1,200}?)\1'/g),
    (match) => match[2]!,
  );
  switch (code) {
    case "TS2305": // Module has no exported member
    case "TS2459": // declares it locally, but it is not exported
    case "TS2614":
    case "TS2724": // the same, "did you mean"
      return second === "" ? {} : { cause: missingExport(second, resolved(first, file)), spec: first };
    case "TS2307": // Cannot find module
    case "TS2792":
    case "TS7016":
      return { cause: missingModule(first, file), spec: first };
    case "TS2304": // Cannot find name
    case "TS2552":
    case "TS2503":
      return { cause: `name ${first} is missing` };
    case "TS2339": // Property does not exist on type
    case "TS2551":
    case "TS2353": // Object literal may only specify known properties
      return { cause: `property ${first} of ${second} is missing` };
    default:
      return {};
  }
}
