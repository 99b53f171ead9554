/** Reads which lines a patch of git added to each file, where, and which it removed. */
import { parsePatch } from "diff";

export type PatchFile = {
  readonly path: string;
  readonly added: readonly PatchLine[];
  readonly removed: readonly string[];
};

/** Numbered as in the new file. */
export type PatchLine = { readonly line: number; readonly text: string };

/** A changed file in git's raw output. */
type Changed = { readonly status: string; readonly paths: readonly string[] };

/** Names come from `changes`, which are in the patch's order, because a patch's headers lose blanks at their end. */
export function readPatch(patch: string, changes: readonly Changed[]): readonly PatchFile[] {
  const paths = changes.flatMap(({ status, paths }) => {
    const path = paths.at(-1)!;
    return status === "T" ? [path, path] : [path]; // A file that becomes a link is removed and added.
  });
  const files = parsePatch(patch);
  if (files.length !== paths.length)
    throw new Error(`git wrote ${files.length} patches for ${paths.length} changes`);
  return files.map(({ hunks }, at) => ({
    path: paths[at]!,
    added: hunks.flatMap(({ newStart, lines }) => addedLines(newStart, lines)),
    removed: hunks.flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith("-")).map((line) => line.slice(1)),
    ),
  }));
}

/** The added lines of a hunk. An empty line counts as context, because git can be set to write it so. */
function addedLines(start: number, lines: readonly string[]): readonly PatchLine[] {
  return lines
    .filter((line) => !line.startsWith("-") && !line.startsWith("\\"))
    .map((line, at) => ({ line: start + at, text: line }))
    .filter(({ text }) => text.startsWith("+"))
    .map(({ line, text }) => ({ line, text: text.slice(1) }));
}
