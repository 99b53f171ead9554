/** A binary min-heap of integers: which of these comes first, under an order its owner supplies? */
export class IndexHeap {
  readonly #isBefore: (a: number, b: number) => boolean;
  readonly #moved: ((item: number, position: number) => void) | undefined;
  #items: Int32Array<ArrayBuffer> = new Int32Array(16);
  #size = 0;

  /** `moved` hears every new position of an item, so that its owner can ask for `removeAt` later. */
  constructor(isBefore: (a: number, b: number) => boolean, moved?: (item: number, position: number) => void) {
    this.#isBefore = isBefore;
    this.#moved = moved;
  }

  get size(): number {
    return this.#size;
  }

  /** The item at a position; the children of position p are at 2p + 1 and 2p + 2. */
  at(position: number): number {
    return this.#items[position]!;
  }

  push(item: number): void {
    if (this.#size === this.#items.length) this.#items = doubled(this.#items);
    this.#siftUp(item, this.#size++);
  }

  pop(): number {
    const first = this.#items[0]!;
    this.removeAt(0);
    return first;
  }

  removeAt(position: number): void {
    const last = this.#items[--this.#size]!;
    if (position === this.#size) return;
    if (position > 0 && this.#isBefore(last, this.#items[(position - 1) >> 1]!)) this.#siftUp(last, position);
    else this.#siftDown(last, position);
  }

  clear(): void {
    this.#size = 0;
  }

  #siftUp(item: number, from: number): void {
    let position = from;
    while (position > 0) {
      const parent = (position - 1) >> 1;
      if (!this.#isBefore(item, this.#items[parent]!)) break;
      this.#place(this.#items[parent]!, position);
      position = parent;
    }
    this.#place(item, position);
  }

  #siftDown(item: number, from: number): void {
    let position = from;
    for (let child = 2 * position + 1; child < this.#size; child = 2 * position + 1) {
      if (child + 1 < this.#size && this.#isBefore(this.#items[child + 1]!, this.#items[child]!)) child++;
      if (!this.#isBefore(this.#items[child]!, item)) break;
      this.#place(this.#items[child]!, position);
      position = child;
    }
    this.#place(item, position);
  }

  #place(item: number, position: number): void {
    this.#items[position] = item;
    this.#moved?.(item, position);
  }
}

function doubled(items: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(items.length * 2);
  larger.set(items);
  return larger;
}
