/** A binary min-heap. Its owner supplies the order, and may be told each item's position in order to remove it. */
export class Heap<T> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #moved: ((item: T, position: number) => void) | undefined;
  readonly #items: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean, moved?: (item: T, position: number) => void) {
    this.#isBefore = isBefore;
    this.#moved = moved;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The first item is at 0; the children of position p are at 2p + 1 and 2p + 2. */
  at(position: number): T | undefined {
    return this.#items[position];
  }

  push(item: T): void {
    this.#items.push(item);
    this.#siftUp(item, this.#items.length - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.removeAt(0);
    return first;
  }

  removeAt(position: number): void {
    const last = this.#items.pop()!;
    if (position === this.#items.length) return;
    if (position > 0 && this.#isBefore(last, this.#items[(position - 1) >> 1]!)) this.#siftUp(last, position);
    else this.#siftDown(last, position);
  }

  #siftUp(item: T, from: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.#isBefore(item, this.#items[parent]!)) break;
      this.#place(this.#items[parent]!, position);
      position = parent;
    }
    this.#place(item, position);
  }

  #siftDown(item: T, from: number): void {
    let position = from;
    for (let child = 2 * position + 1; child < this.size; child = 2 * position + 1) {
      if (child + 1 < this.size && this.#isBefore(this.#items[child + 1]!, this.#items[child]!)) child++;
      if (!this.#isBefore(this.#items[child]!, item)) break;
      this.#place(this.#items[child]!, position);
      position = child;
    }
    this.#place(item, position);
  }

  #place(item: T, position: number): void {
    this.#items[position] = item;
    this.#moved?.(item, position);
  }
}
