/** Which files does a task need? By their names, contents, imports, and by what was changed for similar words before. */
import type { FileChange } from "../ports/subtasks.ts";
import { type IndexedFile, importPlaces } from "./file-index.ts";
import { bm25, countTerms, termsOf } from "./relevance.ts";

/**
 * How much each sign counts, on a scale where the best file has all of it: tuned on the older half of this project's
 * history, and reported on the newer (`npm run bench -- context`).
 */
const FILE_WEIGHTS = {
  content: 2,
  name: 0.8,
  /** Changed lately. */
  recent: 0.6,
  /** Changed under words like these. */
  history: 0.5,
  /** Of the score of each of the best files, for what it imports and what imports it. */
  imports: 0.1,
};

const CONTENT_LENGTH = 0.5;
const NAME_LENGTH = 0.75;

/** Best first, those with any sign at all. `changes` are newest first. */
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
  ); // Alone it says nothing.
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

/** 1 for what the newest change touched, half of it so many changes ago. */
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
