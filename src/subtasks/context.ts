/** Assembles what a task is given to read, once at its spawn, from its settings; reports what was cut or missing. */

import { messageOf } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type {
  AssembledContext,
  ContextEntry,
  ContextFiles,
  ContextSettings,
  HandledTaskResult,
  TaskError,
} from "../ports/subtasks.ts";
import { isRecord } from "../text/json.ts";
import { exhausted, taskFailure } from "./errors.ts";
import type { SubtaskLimits } from "./limits.ts";
import { bm25, countTerms, termsOf } from "./relevance.ts";
import { cutTo, quantity, tokensOf } from "./tokens.ts";

export type ContextWish = {
  readonly settings: ContextSettings;
  /** What the task is about: its description and inputs. */
  readonly query: string;
  readonly filePaths: readonly string[];
  /** The file of the task's own template, which contains all of its words. */
  readonly own?: string | undefined;
  readonly parent: ParentContext | undefined;
  /** Subtasks of the same parent that have ended, oldest first. */
  readonly earlier: readonly EndedSubtask[];
};

/** What the nearest ancestor with a session had before the call that spawned the task. */
type ParentContext = {
  readonly entries: readonly ContextEntry[];
  readonly pieces: readonly ContextPiece[];
  readonly session: unknown;
};

export type EndedSubtask = { readonly id: string; readonly type: string; readonly result: HandledTaskResult };

export type ContextPiece = { readonly name: string; readonly text: string };

type Assembly =
  | {
      readonly context: AssembledContext;
      readonly pieces: readonly ContextPiece[];
      readonly truncated: readonly string[];
      readonly warnings: readonly string[];
    }
  | { readonly error: TaskError };

type Around = {
  readonly files: ContextFiles | undefined;
  readonly limits: Pick<SubtaskLimits, "contextTokens" | "matchedFiles">;
  readonly signal: AbortSignal;
};

export function assembleContext(wish: ContextWish, around: Around): Assembly | Promise<Assembly> {
  const { contextTokens } = around.limits;
  const inherited = (wish.settings.inherit_context === "full" && wish.parent?.entries) || [];
  const used = inherited.reduce((sum, { text }) => sum + tokensOf(text), 0);
  if (used > contextTokens) return { error: exhausted("context tokens", { used, limit: contextTokens }) };
  const found = filesFor(wish, around);
  const room = contextTokens - used;
  return found instanceof Promise
    ? found.then((files) => putTogether(wish, inherited, files, room))
    : putTogether(wish, inherited, found, room);
}

function putTogether(
  wish: ContextWish,
  inherited: readonly ContextEntry[],
  found: Found,
  maxTokens: number,
): Assembly {
  if ("error" in found) return found;
  const { settings, parent, earlier } = wish;
  const pieces = [
    ...found.pieces,
    ...(settings.inherit_context === "subset" ? relevantTo(wish) : []),
    ...(settings.accumulate_data ? earlier.map((ended) => accumulated(ended, settings)) : []),
  ];
  const { text, truncated } = fit(pieces, maxTokens);
  const session =
    settings.inherit_context === "full" && parent ? { parentSession: parent.session } : undefined;
  return {
    context: { settings, inherited, ...session, text, files: found.files },
    pieces,
    truncated,
    warnings: found.warnings,
  };
}

type Found =
  | {
      readonly pieces: readonly ContextPiece[];
      readonly files: readonly string[];
      readonly warnings: readonly string[];
    }
  | { readonly error: TaskError };

const NOTHING: Found = { pieces: [], files: [], warnings: [] };

/** The named files; only if none was named, the matching ones. */
function filesFor({ settings, query, filePaths, own }: ContextWish, around: Around): Found | Promise<Found> {
  const { files } = around;
  const mayMatch = settings.fresh_context === "enabled" && filePaths.length === 0 && files !== undefined;
  if (!mayMatch && filePaths.length === 0) return NOTHING;
  if (files === undefined)
    return { ...NOTHING, warnings: filePaths.map((path) => `${path}: not read, since no files are at hand`) };
  return mayMatch ? readMatched({ query, own }, files, around) : readAll(filePaths, files, around);
}

async function readMatched(
  { query, own }: Pick<ContextWish, "query" | "own">,
  files: ContextFiles,
  around: Around,
): Promise<Found> {
  const max = around.limits.matchedFiles;
  const paths = await matched(query, files, own === undefined ? max : max + 1, around);
  if ("error" in paths) return paths;
  return await readAll(paths.filter((path) => path !== own).slice(0, max), files, around);
}

async function matched(
  query: string,
  files: ContextFiles,
  limit: number,
  { signal }: Around,
): Promise<readonly string[] | { readonly error: TaskError }> {
  try {
    const paths: unknown = await files.match(query, limit, signal);
    if (Array.isArray(paths) && paths.every((path) => typeof path === "string")) return paths;
    if (!isRecord(paths) || !hasFailed(paths))
      return {
        error: taskFailure("context_parsing_failure", "the matching of files answered no list of paths"),
      };
    return { error: taskFailure("context_matching_failure", paths.failure.message) };
  } catch (thrown) {
    return { error: taskFailure("context_matching_failure", messageOf(thrown)) };
  }
}

async function readAll(
  given: readonly string[],
  files: ContextFiles,
  { limits, signal }: Around,
): Promise<Found> {
  const paths = [...new Set(given)];
  const pieces: ContextPiece[] = [];
  const warnings: string[] = [];
  try {
    const read = await Promise.all(paths.map((path) => files.read(path, signal)));
    for (const [i, file] of read.entries()) {
      const path = paths[i]!;
      if (hasFailed(file)) warnings.push(`${path}: ${file.failure.message}`);
      else pieces.push({ name: `file ${path}`, text: cutTo(file.text, limits.contextTokens / MAX_SHARE) });
    }
  } catch (thrown) {
    return { error: taskFailure("context_retrieval_failure", messageOf(thrown)) };
  }
  return { pieces, files: pieces.map(({ name }) => name.slice("file ".length)), warnings };
}

/** One file takes at most this fraction of the room: a quarter. */
const MAX_SHARE = 4;

/**
 * The pieces of the parent's context that are about the same subject, in the parent's order. Named files replace them.
 */
function relevantTo({ query, filePaths, parent }: ContextWish): readonly ContextPiece[] {
  if (filePaths.length > 0 || parent === undefined) return [];
  const said = parent.entries.filter(({ is }) => is === "tool" || is === "answer");
  const pieces = [
    ...parent.pieces,
    ...said.map(({ is, name, text }) => ({
      name: is === "tool" ? `result of ${name}` : "what the parent said",
      text,
    })),
  ];
  const scores = bm25(
    termsOf(query),
    pieces.map(({ text }) => countTerms(text)),
  );
  return pieces.filter((_, i) => scores[i]! > 0);
}

function accumulated(
  { id, type, result }: EndedSubtask,
  { accumulation_format }: ContextSettings,
): ContextPiece {
  const { task_id: _, context: __, warnings: ___, ...own } = result.notes;
  const notes = JSON.stringify({ status: result.status, ...own });
  return {
    name: `earlier task ${id} (${type})`,
    text: accumulation_format === "notes_only" ? notes : `${result.content}\n${notes}`,
  };
}

/** Adds pieces in order while there is room: the last one is cut to fit, and those that do not fit are named. */
function fit(
  pieces: readonly ContextPiece[],
  maxTokens: number,
): { readonly text: string; readonly truncated: readonly string[] } {
  const truncated: string[] = [];
  let left = maxTokens;
  let text = "";
  for (const { name, text: whole } of pieces) {
    const tokens = tokensOf(whole);
    const shown = tokens <= left ? whole : left >= LEAST_TOKENS ? cutTo(whole, left) : undefined;
    if (shown !== whole) truncated.push(name);
    text +=
      shown === undefined
        ? `[left out: ${name}, about ${quantity(tokens)} tokens]\n\n`
        : `--- ${name} ---\n${shown}\n\n`;
    left -= Math.min(left, tokens);
  }
  return { text, truncated };
}

const LEAST_TOKENS = 50;
