/** What do eslint and biome say, and git about conflict markers? Errors only. */
import { steady } from "./found.ts";
import { isFile, type Reader } from "./sheet.ts";
import { conflictMarker } from "./typescript.ts";

export const eslint: Reader = {
  mark: /^✖ \d{1,9} problems? \(/,
  read(sheet, finds) {
    let file = "";
    for (const line of sheet.lines) {
      if (/^\S/.test(line)) file = line;
      const row = /^ {2,20}(\d{1,9}:\d{1,9}) {2,20}error {2,20}(\S.*)$/.exec(line);
      if (!row) continue;
      const [text = "", rule] = row[2]!.split("  ").filter((part) => part.trim() !== "");
      const place = sheet.place(file);
      finds.add(
        {
          class: "build",
          name: `${place ?? steady(file)}${rule === undefined ? "" : ` ${rule.trim()}`}: ${steady(text)}`,
          files: [place].filter(isFile),
          message: `${text.trim()}${rule === undefined ? "" : ` (${rule.trim()})`}`,
        },
        row[1],
      );
    }
  },
};

export const biome: Reader = {
  mark: /^\S.{0,999}? ━{5}/,
  read({ lines, place }, finds) {
    for (const [i, line] of lines.entries()) {
      const end = line.indexOf(" ━━━━━");
      if (end === -1 || line.startsWith(" ")) continue;
      const head = line.slice(0, end).replace(/(?: {1,4}[A-Z]{4,20}){0,4} {0,4}$/, "");
      const space = head.lastIndexOf(" ");
      const text = /^ {2}× (.*)$/.exec(lines[i + 2] ?? "")?.[1];
      // What could not be formatted because it could not be read is told by its reader.
      if (space === -1 || text === undefined || /aborted due to parsing errors/.test(text)) continue;
      const [, file = "", at] = /^(.{1,1000}?)(?::(\d{1,9}:\d{1,9}))?$/.exec(head.slice(0, space)) ?? [];
      const rule = head.slice(space + 1);
      finds.add(
        {
          class: "build",
          name: `${place(file) ?? steady(file)} ${rule}: ${steady(text)}`,
          files: [place(file)].filter(isFile),
          message: `${text} (${rule})`,
        },
        at ?? "",
      );
    }
  },
};

/** `git diff --check`: what stands in a fixture on purpose is for the caller to tell. */
export const markers: Reader = {
  mark: /: leftover conflict marker$/,
  read({ lines, place }, finds) {
    for (const line of lines) {
      const file = /^(\S.{0,999}?):\d{1,9}: leftover conflict marker$/.exec(line)?.[1];
      if (file !== undefined) finds.add(conflictMarker(place(file) ?? file, place(file)));
    }
  },
};
