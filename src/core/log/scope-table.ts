/** Finds which task another waits for, by the files that tasks hold or claim: a lock table with an order. */
import { EVERYTHING, type Scope } from "../scope.ts";

/**
 * Two scopes conflict exactly when `overlaps` says so. No operation looks at entries without a common path: each entry
 * is filed at its paths and under every folder above them, and found by its paths again.
 */
export class ScopeTable {
  readonly #entries = new Map<string, Entry>();
  readonly #held = new PathIndex();
  readonly #claimed = new PathIndex();

  /**
   * The task that `scope` has to wait for: one that holds an overlapping path, or one that claims such a path and comes
   * earlier in `order`. Of several, the last in order: so the tasks that wait for one file form a chain, and each is
   * woken once. `self` never blocks itself.
   */
  blocker(scope: Scope, order: number, self?: string): string | undefined {
    if (this.#entries.size === 0) return undefined;
    const places = placesOf(scope);
    const holder = this.#held.last(places, undefined, self);
    const claimant = this.#claimed.last(places, { id: "", order }, self); // No id comes before the empty one.
    return later(holder, claimant)?.id;
  }

  /** `id` waits for `scope`; tasks later in the order wait for `id`. Replaces the task's former claim or hold. */
  claim(id: string, scope: Scope, order: number): void {
    this.#enter(this.#claimed, id, scope, order);
  }

  /** `id` works on `scope`. Replaces the task's former claim or hold. */
  hold(id: string, scope: Scope, order: number): void {
    this.#enter(this.#held, id, scope, order);
  }

  /** Gives up the task's hold or claim, if it has one. */
  drop(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    entry.index.remove(entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  #enter(index: PathIndex, id: string, scope: Scope, order: number): void {
    if (Number.isNaN(order)) throw new RangeError(`the order of ${id} is not a number`);
    this.drop(id);
    const entry = { id, order, places: placesOf(scope), index };
    this.#entries.set(id, entry);
    index.add(entry);
  }
}

/** A position in the order. Ids break ties, so that the answer does not depend on which task came first. */
type Place = { readonly id: string; readonly order: number };
type Entry = Place & { readonly places: Places; readonly index: PathIndex };

/** The paths of a scope without their last slash, and all folders above them, each once. */
type Places = { readonly paths: readonly string[]; readonly above: readonly string[] };

function placesOf(scope: Scope): Places {
  // Most scopes are a single path, in which no folder appears twice.
  if (scope.length === 1) return { paths: [withoutSlash(scope[0]!)], above: foldersAbove(scope[0]!) };
  const paths = new Set<string>();
  const above = new Set<string>();
  for (const path of scope) {
    paths.add(withoutSlash(path));
    for (const folder of foldersAbove(path)) above.add(folder);
  }
  return { paths: [...paths], above: [...above] };
}

const withoutSlash = (path: string) => (path.endsWith("/") && path !== EVERYTHING ? path.slice(0, -1) : path);

function foldersAbove(path: string): readonly string[] {
  if (path === EVERYTHING) return [];
  const folders = [EVERYTHING];
  for (let slash = path.indexOf("/", 1); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    if (slash < path.length - 1) folders.push(path.slice(0, slash));
  }
  return folders;
}

/** Holds or claims, found by path. */
class PathIndex {
  readonly #at = new Map<string, Row>();
  readonly #below = new Map<string, Row>();

  add(entry: Entry): void {
    for (const path of entry.places.paths) addTo(this.#at, path, entry);
    for (const folder of entry.places.above) addTo(this.#below, folder, entry);
  }

  remove(entry: Entry): void {
    for (const path of entry.places.paths) removeFrom(this.#at, path, entry);
    for (const folder of entry.places.above) removeFrom(this.#below, folder, entry);
  }

  /** The last entry before `end`, or the last of all, that conflicts with `places`; never `self`. */
  last({ paths, above }: Places, end: Place | undefined, self: string | undefined): Entry | undefined {
    let last: Entry | undefined;
    if (this.#at.size === 0) return last;
    for (const path of paths) {
      last = later(last, lastIn(this.#at.get(path), end, self));
      last = later(last, lastIn(this.#below.get(path), end, self));
    }
    for (const folder of above) last = later(last, lastIn(this.#at.get(folder), end, self));
    return last;
  }
}

/** Most rows hold one entry, which is then stored without a list. */
type Row = Entry | OrderedEntries;

function addTo(rows: Map<string, Row>, path: string, entry: Entry): void {
  const row = rows.get(path);
  if (row === undefined) rows.set(path, entry);
  else if (row instanceof OrderedEntries) row.add(entry);
  else rows.set(path, new OrderedEntries(row, entry));
}

function removeFrom(rows: Map<string, Row>, path: string, entry: Entry): void {
  const row = rows.get(path);
  if (row instanceof OrderedEntries) {
    row.remove(entry);
    if (!row.isEmpty) return;
  }
  rows.delete(path);
}

function lastIn(row: Row | undefined, end: Place | undefined, self: string | undefined): Entry | undefined {
  if (row === undefined || row instanceof OrderedEntries) return row?.last(end, self);
  return row.id !== self && (end === undefined || isBefore(row, end)) ? row : undefined;
}

const isBefore = (a: Place, b: Place) => a.order < b.order || (a.order === b.order && a.id < b.id);

const later = (a: Entry | undefined, b: Entry | undefined) => (a && b ? (isBefore(a, b) ? b : a) : (a ?? b));

/**
 * Entries in order, in runs of bounded length. One array would be shifted as a whole by every removal, and the row of
 * the root folder holds every entry of the table. No run is empty.
 */
class OrderedEntries {
  readonly #runs: Entry[][];

  constructor(one: Entry, other: Entry) {
    this.#runs = [isBefore(one, other) ? [one, other] : [other, one]];
  }

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  add(entry: Entry): void {
    const end = this.#runs.at(-1)!;
    if (isBefore(end.at(-1)!, entry)) {
      if (end.length < MAX_RUN) end.push(entry);
      else this.#runs.push([entry]);
      return;
    }
    const r = this.#runAt(entry);
    const run = this.#runs[r]!;
    run.splice(positionIn(run, entry), 0, entry);
    if (run.length > MAX_RUN) this.#runs.splice(r + 1, 0, run.splice(MAX_RUN >> 1));
  }

  remove(entry: Entry): void {
    const r = this.#runAt(entry);
    const run = this.#runs[r]!;
    run.splice(positionIn(run, entry), 1);
    if (run.length === 0) this.#runs.splice(r, 1);
  }

  /** The last entry before `end`, or the last of all; never `self`. */
  last(end: Place | undefined, self: string | undefined): Entry | undefined {
    const entry = this.#before(end);
    return entry && entry.id === self ? this.#before(entry) : entry;
  }

  #before(end: Place | undefined): Entry | undefined {
    const r = end ? this.#runAt(end) : this.#runs.length;
    const run = this.#runs[r];
    const i = end && run ? positionIn(run, end) : 0;
    return i > 0 ? run![i - 1] : this.#runs[r - 1]?.at(-1);
  }

  /** The first run that does not end before the place. */
  #runAt(place: Place): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#runs[middle]!.at(-1)!, place)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Longer runs cost more to shift; shorter ones make more of them. */
const MAX_RUN = 256;

/** How many entries of a run come before a place. */
function positionIn(run: readonly Entry[], place: Place): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(run[middle]!, place)) low = middle + 1;
    else high = middle;
  }
  return low;
}
