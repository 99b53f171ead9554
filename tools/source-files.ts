/** Reads the project's source files from the folder, without git, so that it also works in an unpacked archive. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export type SourceFile = {
  /** Relative to the root of the checkout, with forward slashes. */
  readonly path: string;
  readonly text: string;
};

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
export const CODE_FOLDERS = ["bin", "src", "test", "bench", "tools", "examples"] as const;

export function sourceFiles(root = ROOT, folders: readonly string[] = CODE_FOLDERS): readonly SourceFile[] {
  return folders
    .flatMap((folder) => readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .filter(isCode)
    .sort()
    .map((file) => ({ path: file, text: readFileSync(path.join(root, file), "utf8") }));
}

export const isTest = (file: string) => /\.test\.tsx?$/.test(file);

/** A text file without an extension is a script; manifests and pictures do not count as code. */
const isCode = (file: string) =>
  !file.includes("node_modules/") &&
  (/\.(?:[cm]?[jt]sx?|css|html)$/.test(file) || !path.basename(file).includes("."));

export const countLines = (text: string) => text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
