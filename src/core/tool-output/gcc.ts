/** What do gcc, clang, javac and their like say, and the linker? */
import { steady } from "./found.ts";
import { block, gist, isFile, type Reader } from "./sheet.ts";
import { conflictMarker } from "./typescript.ts";

export const gcc: Reader = {
  mark: /:\d{1,9}: (?:fatal )?error: |undefined (?:reference to|symbol: )|multiple definition of|ld: cannot find -l/,
  read({ lines, place }, finds) {
    const folders: string[] = [];
    for (const [i, line] of lines.entries()) {
      enter(line, folders);
      const linked = LINKER.exec(line)?.[0];
      if (linked !== undefined) {
        // Its place is an object file with a name for once; the symbol is what counts.
        const near = /\((\S{1,1000}?):\d{1,9}\)$/.exec(lines[i + 1] ?? "")?.[1];
        const cause = steady(linked);
        finds.add({
          class: "build",
          name: cause,
          files: [place(near ?? "")].filter(isFile),
          message: line,
          cause,
        });
        continue;
      }
      const [, written = "", at = "", text = ""] = ERROR.exec(line) ?? [];
      if (written === "") continue;
      const inFolder = folders.length === 0 ? written : `${folders.at(-1)}/${written}`;
      const own = place(inFolder);
      const file =
        own ??
        lines
          .slice(Math.max(0, i - 10), i)
          .map((above) => place(FROM.exec(above)?.[1] ?? ""))
          .findLast(isFile);
      if (/conflict marker/.test(text)) {
        finds.add(conflictMarker(file ?? inFolder, file));
        continue;
      }
      finds.add(
        {
          class: "build",
          name: `${file ?? steady(inFolder)}: ${steady(text)}`,
          files: [file].filter(isFile),
          message: gist([text, ...block(lines, i + 1, (next) => !/^\s*\d* \|/.test(next), 2)], 3),
          cause: causeOf(text),
        },
        `${inFolder}:${at}`,
      );
    }
  },
};

const ERROR = /^([^\s:][^:]{0,999}):(\d{1,9}(?::\d{1,9})?): (?:fatal )?error: (.*)$/;
const FROM = /^(?:In file included from|\s{1,40}from) ([^\s:]{1,1000}):\d/;
const LINKER =
  /undefined reference to [`'‘"][^'’"]{1,300}['’"]|undefined symbol: \S.{0,300}|multiple definition of [`'‘"][^'’";]{1,300}['’"]|ld: cannot find -l\S{1,100}/;

/** Inside `make -C folder`, paths are relative to that folder. */
function enter(line: string, folders: string[]): void {
  const match = /^\w{0,20}make(?:\[\d{1,4}\])?: (Entering|Leaving) directory [`'‘](.{1,1000})['’]$/.exec(
    line,
  );
  if (match?.[1] === "Leaving") folders.pop();
  else if (match && folders.length < 1_000) folders.push(match[2]!);
}

function causeOf(text: string): string | undefined {
  const header = /^([^\s:]{1,500}): No such file or directory$/.exec(text);
  if (header) return `header ${header[1]} is missing`;
  const member = /no member named [‘'`"]([^’'"]{1,200})[’'"](?: in [‘'`"]([^’'"]{1,200}))?/.exec(text);
  const owner = member?.[2] ?? /^[‘'`"]([^’'"]{1,200})/.exec(text)?.[1];
  if (member)
    return `${member[1]} of ${(owner ?? "").replace(/^(?:const )?(?:struct|class|union) /, "")} is missing`;
  const name =
    /^(?:use of undeclared identifier )?[‘'`"]([^’'"]{1,200})[’'"](?: (?:undeclared|was not declared)|$)/.exec(
      text,
    );
  return name ? `name ${name[1]} is missing` : undefined;
}
