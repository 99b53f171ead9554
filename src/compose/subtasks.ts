/** Which files may tasks of a chain be given? Those of a folder, matched offline. */
import { folderSource } from "../adapters/context-files.ts";
import type { ContextFiles } from "../ports/subtasks.ts";
import { AssociativeFiles } from "../subtasks/associative-files.ts";

export const filesIn = (folder: string): ContextFiles => new AssociativeFiles(folderSource(folder));
