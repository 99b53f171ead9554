/** Who has to wait for whom? The files that tasks hold or wait for: a table of locks with an order. */
import { EVERYTHING, type Scope } from "./scope.ts";

/**
 * Two scopes meet exactly when `overlaps` says so. No operation looks at entries that it does not meet:
 * each is filed at its paths and under every folder above them, and found by its paths again.
 */
export class ScopeTable {
  readonly #entries = new Map<string, { readonly entry: Entry; readonly index: PathIndex }>();
  readonly #held = new PathIndex();
  readonly #claimed = new PathIndex();

  /**
   * Who `scope` has to wait for: anyone who holds an overlapping path, and anyone who claims one and comes
   * earlier in `order`. Of several the last in order, so that those who wait for one file form a chain and
   * each is woken once. `self` is never its own blocker.
   */
  blocker(scope: Scope, order: number, self?: string): string | undefined {
    const places = placesOf(scope);
    const holder = this.#held.last(places, undefined, self);
    const claimant = this.#claimed.last(places, order, self);
    return later(holder, claimant)?.id;
  }

  /** `id` waits for it, and is the one to wait for if it comes earlier. Replaces what it had. */
  claim(id: string, scope: Scope, order: number): void {
    this.#enter(this.#claimed, id, scope, order);
  }

  /** `id` is at work on it. Replaces what it had: a claim becomes a hold. */
  hold(id: string, scope: Scope, order: number): void {
    this.#enter(this.#held, id, scope, order);
  }

  /** Gives up the hold or the claim, if there is one. */
  drop(id: string): void {
    const known = this.#entries.get(id);
    if (!known) return;
    this.#entries.delete(id);
    known.index.remove(known.entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  #enter(index: PathIndex, id: string, scope: Scope, order: number): void {
    if (Number.isNaN(order)) throw new RangeError(`the order of ${id} is not a number`);
    this.drop(id);
    const entry = { id, order, places: placesOf(scope) };
    this.#entries.set(id, { entry, index });
    index.add(entry);
  }
}

type Entry = { readonly id: string; readonly order: number; readonly places: Places };

/** The paths of a scope without their last slash, and all folders above them; each once. */
type Places = { readonly paths: ReadonlySet<string>; readonly above: ReadonlySet<string> };

function placesOf(scope: Scope): Places {
  const paths = new Set<string>();
  const above = new Set<string>();
  for (const path of scope) {
    if (path === EVERYTHING) {
      paths.add(EVERYTHING);
      continue;
    }
    paths.add(path.endsWith("/") ? path.slice(0, -1) : path);
    above.add(EVERYTHING);
    // From the innermost folder outwards: where one was met before, so were those above it.
    for (let slash = lastSlash(path, path.length - 2); slash > 0; slash = lastSlash(path, slash - 1)) {
      const folder = path.slice(0, slash);
      if (above.has(folder)) break;
      above.add(folder);
    }
  }
  return { paths, above };
}

const lastSlash = (path: string, from: number) => (from < 0 ? -1 : path.lastIndexOf("/", from));

/** Entries of one kind, found by path. */
class PathIndex {
  readonly #at = new Map<string, OrderedEntries>();
  readonly #below = new Map<string, OrderedEntries>();

  add(entry: Entry): void {
    for (const path of entry.places.paths) rowOf(this.#at, path).add(entry);
    for (const folder of entry.places.above) rowOf(this.#below, folder).add(entry);
  }

  remove(entry: Entry): void {
    for (const path of entry.places.paths) removeFrom(this.#at, path, entry);
    for (const folder of entry.places.above) removeFrom(this.#below, folder, entry);
  }

  /** The last entry that meets `places` and comes before `order`, or the last of all. */
  last({ paths, above }: Places, order: number | undefined, self: string | undefined): Entry | undefined {
    let last: Entry | undefined;
    for (const path of paths) {
      last = later(last, this.#at.get(path)?.last(order, self));
      last = later(last, this.#below.get(path)?.last(order, self));
    }
    for (const folder of above) last = later(last, this.#at.get(folder)?.last(order, self));
    return last;
  }
}

function rowOf(rows: Map<string, OrderedEntries>, path: string): OrderedEntries {
  const known = rows.get(path);
  if (known) return known;
  const row = new OrderedEntries();
  rows.set(path, row);
  return row;
}

function removeFrom(rows: Map<string, OrderedEntries>, path: string, entry: Entry): void {
  const row = rows.get(path);
  row?.remove(entry);
  if (row?.isEmpty) rows.delete(path);
}

/** Ids break ties, so that the answer does not depend on who came first. */
const isBefore = (a: Entry, b: Entry) => a.order < b.order || (a.order === b.order && a.id < b.id);

const later = (a: Entry | undefined, b: Entry | undefined) => (a && b ? (isBefore(a, b) ? b : a) : (a ?? b));

/**
 * Entries in order, in runs of bounded length: one array would be moved as a whole by every removal, and
 * the row of the root folder holds every entry of the table. Runs are never empty.
 */
class OrderedEntries {
  readonly #runs: Entry[][] = [];

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  add(entry: Entry): void {
    const end = this.#runs.at(-1);
    if (!end || isBefore(end.at(-1)!, entry)) {
      if (end && end.length < MAX_RUN) end.push(entry);
      else this.#runs.push([entry]);
      return;
    }
    const [r, i] = this.#find((other) => isBefore(other, entry));
    const run = this.#runs[r]!;
    run.splice(i, 0, entry);
    if (run.length > MAX_RUN) this.#runs.splice(r + 1, 0, run.splice(MAX_RUN >> 1));
  }

  remove(entry: Entry): void {
    const [r, i] = this.#find((other) => isBefore(other, entry));
    const run = this.#runs[r]!;
    run.splice(i, 1);
    if (run.length === 0) this.#runs.splice(r, 1);
  }

  /** The last entry but `self` that comes before `order`, or the last of all. */
  last(order: number | undefined, self: string | undefined): Entry | undefined {
    const end =
      order === undefined ? ([this.#runs.length, 0] as const) : this.#find((other) => other.order < order);
    const [r, i] = this.#before(end);
    const entry = this.#runs[r]?.[i];
    if (!entry || entry.id !== self) return entry;
    const [rr, ii] = this.#before([r, i]);
    return this.#runs[rr]?.[ii];
  }

  /** Where the entries that are `early` end: run and position of the first that is not. */
  #find(early: (entry: Entry) => boolean): readonly [run: number, position: number] {
    const r = countLeading(this.#runs, (run) => early(run.at(-1)!));
    return [r, countLeading(this.#runs[r] ?? [], early)];
  }

  #before([r, i]: readonly [number, number]): readonly [run: number, position: number] {
    return i > 0 ? [r, i - 1] : [r - 1, (this.#runs[r - 1]?.length ?? 0) - 1];
  }
}

/** Longer runs cost more to shift, shorter ones make more of them. */
const MAX_RUN = 256;

/** How many at the start of `list` are `early`; those are all before those that are not. */
function countLeading<T>(list: readonly T[], early: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (early(list[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
