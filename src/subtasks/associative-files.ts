/** Finds files for a task without a model: keeps an index of the files, and ranks them by rules. */
import { messageOf } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { ContextFiles, FileChange, FileSource } from "../ports/subtasks.ts";
import { type IndexedFile, importPlaces, indexFile } from "./file-index.ts";
import { bm25, countTerms, termsOf } from "./relevance.ts";

export class AssociativeFiles implements ContextFiles {
  readonly #source: FileSource;
  readonly #known = new Map<string, { readonly version: string; readonly file: IndexedFile }>();
  #updating: Promise<Failed | undefined> | undefined;

  constructor(source: FileSource) {
    this.#source = source;
  }

  read(path: string, signal: AbortSignal): ReturnType<ContextFiles["read"]> {
    return this.#source.read(path, signal);
  }

  async match(query: string, limit: number, signal: AbortSignal): Promise<readonly string[] | Failed> {
    // Siblings that start at the same time share one update.
    this.#updating ??= this.#update(signal).finally(() => {
      this.#updating = undefined;
    });
    const failed = await this.#updating;
    if (failed) return failed;
    const changes = await this.#source.changes(signal);
    const files = Array.from(this.#known.values(), ({ file }) => file);
    return matchFiles(query, files, changes).slice(0, limit);
  }

  /** Reads only new and changed files. A file that cannot be read can still be found by its name. */
  async #update(signal: AbortSignal): Promise<Failed | undefined> {
    const listed = await this.#source.list(signal);
    if (hasFailed(listed)) return listed;
    const there = new Set(listed.map(({ path }) => path));
    for (const path of this.#known.keys()) if (!there.has(path)) this.#known.delete(path);
    for (const { path, version } of listed) {
      if (this.#known.get(path)?.version === version) continue;
      if (signal.aborted) return { failure: { kind: "interrupted", message: messageOf(signal.reason) } };
      const read = await this.#source.read(path, signal);
      this.#known.set(path, { version, file: indexFile(path, hasFailed(read) ? "" : read.text) });
    }
    return undefined;
  }
}

/**
 * The weight of each feature, on a scale where the best file has all of it: tuned on the older half of this project's
 * history, and measured on the newer half (`npm run bench -- context`).
 */
const FILE_WEIGHTS = {
  content: 2,
  name: 0.8,
  /** Changed recently. */
  recent: 0.6,
  /** Changed by commits whose messages have words of the query. */
  history: 0.5,
  /** A share of the best files' scores, given to the files that they import and that import them. */
  imports: 0.1,
};

const CONTENT_LENGTH = 0.5;
const NAME_LENGTH = 0.75;

/** Returns the files with any score, best first. `changes` are newest first. */
export function matchFiles(
  query: string,
  files: readonly IndexedFile[],
  changes: readonly FileChange[],
): readonly string[] {
  const terms = termsOf(query);
  const places = new Map(files.map(({ path }, i) => [path, i]));
  const scores = new Float64Array(files.length);
  const add = (sign: Float64Array, weight: number) => {
    const most = sign.reduce((a, b) => Math.max(a, b), 0);
    if (most > 0) for (let i = 0; i < scores.length; i += 1) scores[i]! += (weight * sign[i]!) / most;
  };
  add(
    bm25(
      terms,
      files.map(({ content }) => content),
      CONTENT_LENGTH,
    ),
    FILE_WEIGHTS.content,
  );
  add(
    bm25(
      terms,
      files.map(({ name }) => name),
      NAME_LENGTH,
    ),
    FILE_WEIGHTS.name,
  );
  add(byHistory(terms, changes, places), FILE_WEIGHTS.history);
  const recent = byAge(changes, places);
  add(
    recent.map((age, i) => (scores[i]! > 0 ? age : 0)),
    FILE_WEIGHTS.recent,
  ); // A recent change alone does not make a file relevant.
  spreadByImports(scores, files);
  const found = [...files.keys()].filter((i) => scores[i]! > 0);
  return found.sort((a, b) => scores[b]! - scores[a]!).map((i) => files[i]!.path);
}

type Places = ReadonlyMap<string, number>;

function byHistory(terms: readonly string[], changes: readonly FileChange[], places: Places): Float64Array {
  const scores = new Float64Array(places.size);
  const alike = bm25(
    terms,
    changes.map(({ subject }) => countTerms(subject)),
  );
  for (const [i, { paths }] of changes.entries())
    for (const path of alike[i]! > 0 ? paths : []) {
      const place = places.get(path);
      if (place !== undefined) scores[place]! += alike[i]!;
    }
  return scores;
}

/** 1 for files of the newest change, half of that `HALF_AGE` changes ago. */
function byAge(changes: readonly FileChange[], places: Places): Float64Array {
  const scores = new Float64Array(places.size);
  for (const [age, { paths }] of changes.entries())
    for (const path of paths) {
      const place = places.get(path);
      if (place !== undefined && scores[place] === 0) scores[place] = HALF_AGE / (HALF_AGE + age);
    }
  return scores;
}

const HALF_AGE = 60;

function spreadByImports(scores: Float64Array, files: readonly IndexedFile[]): void {
  const best = [...files.keys()].sort((a, b) => scores[b]! - scores[a]!).slice(0, SPREADING);
  const had = best.map((i) => scores[i]!);
  const importing = importPlaces(files);
  for (const [rank, i] of best.entries()) {
    const given = FILE_WEIGHTS.imports * had[rank]!;
    for (const j of importing[i]!) scores[j]! += given;
    for (const [j, imported] of importing.entries()) if (imported.includes(i)) scores[j]! += given;
  }
}

const SPREADING = 3;
