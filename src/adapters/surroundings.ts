/** Reads what a planner should know of a commit: its documents, its paths and its history, by git. */
import { type Failed, hasFailed } from "../core/result.ts";
import type { Document, Surroundings } from "../ports/surroundings.ts";
import { firstLines, level } from "../prompting/message.ts";
import { chosenPaths } from "./chosen-paths.ts";
import { fieldsIn, git } from "./git/git.ts";
import { listFiles, readBlob } from "./git/trees.ts";
import { wrongNames } from "./repositories/names.ts";

const DOCUMENTS = ["SPEC.md", "FEATURES.json", "AGENTS.md", "CLAUDE.md", "DECISIONS.md"];

const MAX_DOCUMENT_CHARS = 64_000; // About 16,000 tokens: a specification of thirty pages.
const MAX_DOCUMENTS_CHARS = 160_000;
const MAX_PATHS = 2_000; // About 20,000 tokens.
const MAX_COMMITS = 20;
/** Some people write their whole message into the subject. */
const MAX_SUBJECT_CHARS = 200;
const MAX_READ_BYTES = 1024 * 1024;
const MAX_MS = 30_000;

/** `folder`: a work tree, or a git folder. */
export const gitSurroundings = (folder: string): Surroundings => ({
  of: async (commit, signal) => {
    const wrong = wrongNames({ commits: [commit] });
    if (wrong) return wrong;
    const place = { folder, maxMs: MAX_MS };
    const args = ["log", `-${MAX_COMMITS}`, "--no-show-signature", "--format=%h %s", "-z", commit, "--"];
    const [tree, log, documents] = await Promise.all([
      listFiles({ ...place, commit }, signal),
      git({ ...place, args }, signal),
      documentsIn(folder, commit, signal),
    ]);
    if (hasFailed(tree)) return tree;
    if (!log.ok) return log;
    if (hasFailed(documents)) return documents;
    const paths = tree.files.map(({ path }) => path);
    return {
      documents: fitted(documents),
      ...chosenPaths(paths, MAX_PATHS),
      commits: fieldsIn(log.out).map(subjectLine),
    };
  },
});

async function documentsIn(
  folder: string,
  commit: string,
  signal: AbortSignal,
): Promise<readonly Document[] | Failed> {
  const found = await listFiles({ folder, commit, paths: DOCUMENTS, withSizes: true }, signal);
  if (hasFailed(found)) return found;
  const documents: Document[] = [];
  for (const path of DOCUMENTS) {
    const file = found.files.find((each) => each.path === path);
    if (file === undefined) continue;
    const text = await readBlob({ folder, id: file.id, maxBytes: MAX_READ_BYTES }, signal);
    if (typeof text !== "string") return text;
    // Bytes that were not read count as characters: there may be fewer, but the document is far too long anyway.
    documents.push({ path, text, leftOut: Math.max(0, file.bytes - MAX_READ_BYTES) });
  }
  return documents;
}

/**
 * Fits the documents into the limit: all get the same room, and room that short documents leave goes to the long
 * ones.
 */
function fitted(documents: readonly Document[]): readonly Document[] {
  const lengths = documents.map(({ text }) => Math.min(text.length, MAX_DOCUMENT_CHARS));
  const room = Math.min(MAX_DOCUMENT_CHARS, level(lengths, MAX_DOCUMENTS_CHARS));
  return documents.map(({ path, text, leftOut }) => {
    const kept = firstLines(text, room);
    return { path, text: kept, leftOut: leftOut + text.length - kept.length };
  });
}

const CONTROL = /\p{Cc}+/gu;

const subjectLine = (line: string) =>
  line.replace(CONTROL, " ").slice(0, MAX_SUBJECT_CHARS).toWellFormed().trim();
