/** Gathers the facts about a history that is over: what was planted, what the log tells, and what git says. */
import { filesOf, type Move, movesOf, type Note, notesOf, parentsOf } from "./git-facts.ts";
import type { History } from "./plant.ts";
import type { Played } from "./play.ts";
import type { Place } from "./repository.ts";
import { type Files, wrongWith } from "./tree.ts";

export type Facts = {
  readonly history: History;
  readonly place: Place;
  readonly played: Played;
  readonly moves: readonly Move[];
  readonly notes: ReadonlyMap<string, Note>;
  readonly parents: ReadonlyMap<string, readonly string[]>;
  readonly files: ReadonlyMap<string, Files>;
  /** The names of what really fails in the tree of a commit, without flaky tests. */
  readonly truth: (commit: string) => ReadonlySet<string>;
};

export async function factsOf(history: History, place: Place, played: Played): Promise<Facts> {
  const moves = await movesOf(place);
  const tips = [place.base, ...moves.map(({ to }) => to)];
  const files = await filesOf(place, tips);
  const truths = new Map([...files].map(([commit, of]) => [commit, new Set(wrongWith(of).keys())]));
  const truth = (commit: string) => truths.get(commit)!;
  const [notes, parents] = await Promise.all([notesOf(place), parentsOf(place, tips)]);
  return { history, place, played, moves, notes, parents, files, truth };
}
