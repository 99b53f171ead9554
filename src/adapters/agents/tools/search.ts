/** Searches the workspace for a model, with git, so that ignored files are left out. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { quietGit, whyNoAnswer } from "./git.ts";
import type { RootedPlace, ToolPlace } from "./place.ts";
import { inside, isRefused } from "./reach.ts";
import { firstLines, problem } from "./text.ts";

type GrepInput = {
  readonly pattern: string;
  readonly path?: string | undefined;
  readonly glob?: string | undefined;
  readonly ignore_case?: boolean | undefined;
};

/** Uses Perl's regular expressions, which models write, if git was built with them. */
export async function grepFiles(place: RootedPlace, input: GrepInput, signal: AbortSignal): Promise<string> {
  if (input.pattern.includes("\0") || input.pattern === "")
    return problem("the pattern is empty or contains a zero byte");
  const spec = await pathspec(place, input.path, input.glob ?? "**");
  if (isRefused(spec)) return problem(spec.refused);
  const search = (...kind: readonly string[]) => {
    const flags = ["-I", "-n", ...(input.ignore_case === true ? ["-i"] : []), ...kind];
    const args = ["grep", ...flags, "--no-textconv", "--no-color", "-e", input.pattern, "--", spec.spec];
    return quietGit(place, args, place.limits.maxOutputBytes, signal);
  };
  let found = await search("--untracked", "-P");
  if (/when not compiled|not a git repository/.test(found.heard)) found = await search("--no-index", "-E");
  const why = whyNoAnswer(found.end);
  if (why !== undefined || found.end.is !== "exited") return why ?? "";
  if (found.end.code === 1) return "(nothing was found)";
  if (found.end.code !== 0) return problem(found.heard.trim().slice(0, MAX_ERROR_CHARS));
  return linesOf(place, found.heard, MAX_MATCHES);
}

const MAX_MATCHES = 300;
const MAX_ERROR_CHARS = 500;

type FindInput = { readonly glob: string; readonly path?: string | undefined };

/** Finds files by name. A pattern without a slash matches in every folder. */
export async function findFiles(place: RootedPlace, input: FindInput, signal: AbortSignal): Promise<string> {
  const spec = await pathspec(place, input.path, input.glob);
  if (isRefused(spec)) return problem(spec.refused);
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate", "--", spec.spec];
  const found = await quietGit(place, args, place.limits.maxOutputBytes, signal);
  const why = whyNoAnswer(found.end);
  if (why !== undefined || found.end.is !== "exited") return why ?? "";
  if (found.end.code !== 0) return problem("git does not know this folder any more: look with ls");
  const there = await stillThere(place, found.heard.split("\n").filter(Boolean).sort());
  return there.length === 0 ? "(nothing was found)" : linesOf(place, `${there.join("\n")}\n`, MAX_FILES);
}

const MAX_FILES = 1_000;

/** Drops names of deleted files, which the index still has. */
async function stillThere(place: ToolPlace, names: readonly string[]): Promise<string[]> {
  const seen = await Promise.all(
    names.slice(0, MAX_FILES + 1).map((name) =>
      lstat(join(place.folder, name)).then(
        () => [name],
        () => [],
      ),
    ),
  );
  return [...seen.flat(), ...names.slice(MAX_FILES + 1)];
}

/** Makes git's pathspec. The path is resolved first; git itself does not follow links. */
async function pathspec(place: RootedPlace, path: string | undefined, glob: string) {
  const found = await inside(place.root, path ?? ".");
  if (isRefused(found)) return found;
  if (glob.includes("\0") || glob.split("/").includes("..") || glob.startsWith("/")) {
    return { refused: "a glob begins in the searched folder and stays there" };
  }
  const anywhere = glob.includes("/") ? glob.replace(/^\.\//, "") : glob === "**" ? glob : `**/${glob}`;
  const folder = found.name === "." ? "" : found.name.replaceAll(/[\\*?[\]]/g, "\\$&");
  const isFile = (await lstat(found.path).catch(() => undefined))?.isFile() ?? false;
  if (isFile) return { spec: `:(glob)${folder}` };
  return { spec: `:(glob)${folder}${folder === "" ? "" : "/"}${anywhere}` };
}

function linesOf(place: ToolPlace, heard: string, maxLines: number): string {
  const isCut = Buffer.byteLength(heard) >= place.limits.maxOutputBytes;
  const lines = heard.toWellFormed().replaceAll("\0", "").replace(/\n$/, "").split("\n");
  const { kept, leftOut } = firstLines(lines, { lines: maxLines, bytes: place.limits.maxOutputBytes });
  const more = leftOut > 0 || isCut ? ["[more was found than is shown: narrow it with path or glob]"] : [];
  return [...kept, ...more].join("\n");
}
