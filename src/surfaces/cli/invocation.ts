/** What does a person type to call this command again? Its name, or the path by which it was called. */
import { quoted } from "./words.ts";

/** `file` is the launcher that was started, `searched` the PATH. */
export function invocationOf(file: string | undefined, searched = ""): string {
  const [, folder = "", name = ""] = /^(.*)\/([^/]+)$/.exec(file ?? "") ?? [];
  if (name !== "skein") return "skein"; // Started by something else, such as a test: the name is the best guess.
  // npm adds such folders for as long as a script of its runs.
  const isLasting = (entry: string) => !/(?:^|\/)node_modules\/\.bin\/?$/.test(entry);
  const isFound = searched
    .split(":")
    .some((entry) => isLasting(entry) && entry.replace(/\/+$/, "") === folder);
  return isFound ? "skein" : quoted(`${folder}/${name}`);
}
