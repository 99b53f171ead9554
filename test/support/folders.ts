/** Makes temporary folders for tests, which are removed when the process exits. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "skein-test-"));
  if (folders.push(folder) === 1) process.once("exit", removeAll);
  return folder;
}

const folders: string[] = [];

function removeAll(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
