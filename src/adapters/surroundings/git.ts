/** What is in a commit that a planner should know? Its documents, its paths and its history, as git tells them. */
import { failure } from "../../core/failure.ts";
import { type Failed, hasFailed } from "../../ports/repository.ts";
import type { Document, Facts, Surroundings } from "../../ports/surroundings.ts";
import { firstLines, level } from "../../prompting/message.ts";
import { type GitAnswer, git } from "../git/git.ts";
import { chosenPaths } from "./chosen-paths.ts";

const DOCUMENTS = ["SPEC.md", "FEATURES.json", "AGENTS.md", "CLAUDE.md", "DECISIONS.md"];

const MAX_DOCUMENT_CHARS = 64_000; // Some 16,000 tokens: a specification of thirty pages.
const MAX_DOCUMENTS_CHARS = 160_000;
const MAX_PATHS = 2_000; // Some 20,000 tokens.
const MAX_COMMITS = 20;
/** Some write their whole message into the subject. */
const MAX_SUBJECT_CHARS = 200;
const MAX_READ_BYTES = 1024 * 1024;
const MAX_MS = 30_000;

export class GitSurroundings implements Surroundings {
  readonly #folder: string;

  /** The repository: a work tree, or a git folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async of(commit: string, signal: AbortSignal): Promise<Facts | Failed> {
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit))
      return { failure: failure("repository", `${JSON.stringify(commit)} is not the id of a commit`) };
    const [tree, log, documents] = await Promise.all([
      this.#git(["ls-tree", "--full-tree", "-r", "--name-only", "-z", commit], signal, { cut: true }),
      this.#git(
        ["log", `-${MAX_COMMITS}`, "--no-show-signature", "--format=%h %s", "-z", commit, "--"],
        signal,
      ),
      this.#documents(commit, signal),
    ]);
    if (!tree.ok) return { failure: tree.failure };
    if (!log.ok) return { failure: log.failure };
    if (hasFailed(documents)) return documents;
    return {
      documents: fitted(documents),
      // Of a million paths and more git is cut off, in the middle of one.
      ...chosenPaths(partsOf(tree.out).slice(0, tree.isCut ? -1 : undefined), MAX_PATHS),
      commits: partsOf(log.out).map(subjectLine),
    };
  }

  /** A link is left out: mostly one document under the name of another, and else it leads anywhere. */
  async #documents(commit: string, signal: AbortSignal): Promise<readonly Document[] | Failed> {
    const list = await this.#git(["ls-tree", "--full-tree", "-l", "-z", commit, "--", ...DOCUMENTS], signal);
    if (!list.ok) return { failure: list.failure };
    const found = partsOf(list.out).flatMap((line) => {
      const [, id, bytes, path] = /^100\d{3} blob ([0-9a-f]+) +(\d+)\t(.+)$/s.exec(line) ?? [];
      return id === undefined || path === undefined ? [] : [{ path, id, bytes: Number(bytes) }];
    });
    const documents: Document[] = [];
    for (const path of DOCUMENTS) {
      const one = found.find((entry) => entry.path === path);
      if (one === undefined) continue;
      const read = await this.#git(["cat-file", "blob", one.id], signal, {
        maxBytes: MAX_READ_BYTES,
        cut: true,
      });
      if (!read.ok) return { failure: read.failure };
      // Bytes that were not read count as characters: there may be fewer, and it is far too long anyway.
      documents.push({ path, text: read.out, leftOut: Math.max(0, one.bytes - MAX_READ_BYTES) });
    }
    return documents;
  }

  #git(
    args: readonly string[],
    signal: AbortSignal,
    limits: { readonly maxBytes?: number; readonly cut?: boolean } = {},
  ): Promise<GitAnswer> {
    return git({ folder: this.#folder, args, maxMs: MAX_MS, ...limits }, signal);
  }
}

/** All get the same room, and what short ones leave over goes to the long ones. */
function fitted(documents: readonly Document[]): readonly Document[] {
  const lengths = documents.map(({ text }) => Math.min(text.length, MAX_DOCUMENT_CHARS));
  const room = Math.min(MAX_DOCUMENT_CHARS, level(lengths, MAX_DOCUMENTS_CHARS));
  return documents.map(({ path, text, leftOut }) => {
    const kept = firstLines(text, room);
    return { path, text: kept, leftOut: leftOut + text.length - kept.length };
  });
}

const partsOf = (out: string): readonly string[] => out.split("\0").filter((part) => part !== "");

const CONTROL = /\p{Cc}+/gu;

const subjectLine = (line: string) =>
  line.replace(CONTROL, " ").slice(0, MAX_SUBJECT_CHARS).toWellFormed().trim();
