/** Which lines did a patch add and remove, and where? */

export type PatchFile = {
  readonly path: string;
  readonly added: readonly PatchLine[];
  readonly removed: readonly string[];
};

/** Numbered as in the new file. */
export type PatchLine = { readonly line: number; readonly text: string };

type Open = { path: string; added: PatchLine[]; removed: string[] };

/** Of a patch with prefixes "a/" and "b/". Lines of a hunk are counted, and never taken for a header. */
export function parsePatch(patch: string): readonly PatchFile[] {
  const files: Open[] = [];
  let file: Open | undefined;
  let line = 0;
  let oldLeft = 0;
  let newLeft = 0;
  for (const text of patch.split("\n")) {
    if (file !== undefined && (oldLeft > 0 || newLeft > 0)) {
      const sign = text[0];
      if (sign === "+") {
        file.added.push({ line, text: text.slice(1) });
        newLeft -= 1;
        line += 1;
      } else if (sign === "-") {
        file.removed.push(text.slice(1));
        oldLeft -= 1;
      } else if (sign !== "\\") {
        oldLeft -= 1;
        newLeft -= 1;
        line += 1;
      }
      continue;
    }
    if (text.startsWith("diff --git ")) {
      file = { path: "", added: [], removed: [] };
      files.push(file);
    } else if (file !== undefined && (text.startsWith("--- ") || text.startsWith("+++ "))) {
      file.path = pathIn(text.slice(4)) ?? file.path; // The new name wins; a deleted file has only the old one.
    } else {
      const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
      if (hunk === null) continue;
      oldLeft = Number(hunk[1] ?? 1);
      line = Number(hunk[2]);
      newLeft = Number(hunk[3] ?? 1);
    }
  }
  return files;
}

/** "b/src/a.ts", followed by a tab if it has spaces, and quoted if it has unusual characters. */
function pathIn(field: string): string | undefined {
  const name = field.replace(/\t$/, "");
  const plain = name.startsWith('"') ? unquoted(name.slice(1, -1)) : name;
  return plain === "/dev/null" ? undefined : plain.slice(2);
}

function unquoted(text: string): string {
  const bytes: Buffer[] = [];
  for (const [part, octal, sign] of text.matchAll(/\\([0-7]{3})|\\(.)|[^\\]+/gs)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8)]));
    else bytes.push(Buffer.from(sign === undefined ? part : (ESCAPES[sign] ?? sign)));
  }
  return Buffer.concat(bytes).toString();
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};
