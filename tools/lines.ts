/** Counts the lines of code by folder: `npm run lines`, or `npm run lines -- --json`. */
import path from "node:path";
import { countLines, isTest, type SourceFile, sourceFiles } from "./source-files.ts";

const LARGEST = 10;

type Count = { readonly files: number; readonly lines: number };
type FolderCount = { readonly folder: string; readonly source: Count; readonly test: Count };

function countFolders(files: readonly SourceFile[]): readonly FolderCount[] {
  const byFolder = [...Map.groupBy(files, ({ path }) => folderOf(path))];
  return byFolder.sort().map(([folder, members]) => ({
    folder,
    source: count(members.filter(({ path }) => !isTestCode(path))),
    test: count(members.filter(({ path }) => isTestCode(path))),
  }));
}

/** `src/core`, `test`, `bin`: two levels below `src`, one elsewhere. */
function folderOf(file: string): string {
  const [first = "", second = ""] = path.posix.dirname(file).split("/");
  return first === "src" && second !== "" ? `${first}/${second}` : first;
}

const isTestCode = (file: string) => isTest(file) || file.startsWith("test/");

const count = (files: readonly SourceFile[]): Count => ({
  files: files.length,
  lines: files.reduce((sum, { text }) => sum + countLines(text), 0),
});

function table(folders: readonly FolderCount[], largest: readonly { path: string; lines: number }[]): string {
  const total = (kind: "source" | "test") => ({
    files: folders.reduce((sum, folder) => sum + folder[kind].files, 0),
    lines: folders.reduce((sum, folder) => sum + folder[kind].lines, 0),
  });
  const rows = [...folders, { folder: "total", source: total("source"), test: total("test") }];
  const cell = ({ files, lines }: Count) => `${String(files).padStart(6)}${String(lines).padStart(8)}`;
  return [
    `${"".padEnd(20)}${"source".padStart(14)}${"test".padStart(14)}`,
    `${"folder".padEnd(20)}${" files   lines".repeat(2)}`,
    ...rows.map(({ folder, source, test }) => `${folder.padEnd(20)}${cell(source)}${cell(test)}`),
    "",
    "largest files",
    ...largest.map(({ path, lines }) => `${String(lines).padStart(6)}  ${path}`),
  ].join("\n");
}

const files = sourceFiles();
const folders = countFolders(files);
const largest = files
  .map(({ path, text }) => ({ path, lines: countLines(text) }))
  .sort((a, b) => b.lines - a.lines)
  .slice(0, LARGEST);
console.log(process.argv.includes("--json") ? JSON.stringify({ folders, largest }) : table(folders, largest));
