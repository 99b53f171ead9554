/** Keeps one deadline per key, with the earliest at hand. */
import { Heap } from "../../graph/dag.ts";

type Deadline = { readonly key: string; readonly at: number; readonly turn: number; place: number };

export class Deadlines {
  readonly #byKey = new Map<string, Deadline>();
  readonly #heap = new Heap<Deadline>(isBefore, (deadline, place) => {
    deadline.place = place;
  });
  #turns = 0;

  set(key: string, at: number): void {
    if (Number.isNaN(at)) throw new RangeError(`the deadline of ${JSON.stringify(key)} is not a number`);
    this.delete(key);
    const deadline = { key, at, turn: this.#turns++, place: -1 };
    this.#byKey.set(key, deadline);
    this.#heap.push(deadline);
  }

  delete(key: string): void {
    const deadline = this.#byKey.get(key);
    if (deadline === undefined) return;
    this.#byKey.delete(key);
    this.#heap.removeAt(deadline.place);
  }

  get(key: string): number | undefined {
    return this.#byKey.get(key)?.at;
  }

  next(): number | undefined {
    return this.#heap.at(0)?.at;
  }

  /** The keys that are due, by time, then by when they were set. Changes nothing. */
  due(now: number): readonly string[] {
    const found: Deadline[] = [];
    const open = [0];
    for (let i = open.pop(); i !== undefined; i = open.pop()) {
      const deadline = this.#heap.at(i);
      if (!deadline || deadline.at > now) continue; // The heap's entries below it are not earlier.
      found.push(deadline);
      open.push(2 * i + 1, 2 * i + 2);
    }
    return found.sort((a, b) => (isBefore(a, b) ? -1 : 1)).map(({ key }) => key);
  }
}

function isBefore(a: Deadline, b: Deadline): boolean {
  return a.at === b.at ? a.turn < b.turn : a.at < b.at;
}
