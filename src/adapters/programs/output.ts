/** What of a program's output is kept? Its head as it comes, its tail at the end, in bounded memory. */

export class Output {
  readonly #last = new Tail(MAX_OUTPUT_BYTES);
  readonly #end = new Tail(MAX_TAIL_BYTES);
  readonly #onOutput: ((text: string) => void) | undefined;
  readonly #held: Tail;
  readonly #rest: { out: Buffer; err: Buffer } = { out: EMPTY, err: EMPTY };
  #headBytes: number;

  constructor(maxBytes: number, onOutput: ((text: string) => void) | undefined) {
    this.#onOutput = onOutput;
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#held = new Tail(Math.floor(maxBytes / 2));
  }

  write(from: "out" | "err", chunk: Buffer): void {
    const [whole, rest] = wholeCharacters(this.#rest[from].length ? join(this.#rest[from], chunk) : chunk);
    this.#rest[from] = rest;
    this.#take(from, whole);
  }

  /** Hands on what was held back; nothing may be written afterwards. */
  end(): { readonly output: string; readonly tail: string } {
    for (const from of ["out", "err"] as const) this.#take(from, this.#rest[from]);
    if (this.#onOutput) {
      if (this.#held.leftOutBytes > 0) this.#onOutput(`\n… ${this.#held.leftOutBytes} bytes left out …\n`);
      const text = this.#held.text();
      if (text !== "") this.#onOutput(text);
    }
    return { output: this.#last.text(), tail: this.#end.text() };
  }

  #take(from: "out" | "err", bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (from === "out") this.#last.write(bytes);
    this.#end.write(bytes);
    if (!this.#onOutput) return;
    const [head] = wholeCharacters(bytes.subarray(0, this.#headBytes));
    if (head.length > 0) this.#onOutput(head.toString());
    // What is too long for the head ends it, so that nothing later gets in front of what was held back.
    this.#headBytes = head.length < bytes.length ? 0 : this.#headBytes - head.length;
    this.#held.write(bytes.subarray(head.length));
  }
}

/** What a reader of standard output gets: the longest answer of an agent with room to spare. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** What a person is shown of a failure. */
const MAX_TAIL_BYTES = 4 * 1024;
const FIRST_BYTES = 4 * 1024;
const EMPTY = Buffer.alloc(0);

/** The last bytes of what was written; memory grows with what came, up to the limit. */
class Tail {
  readonly #maxBytes: number;
  #ring: Buffer = EMPTY;
  #at = 0;
  #total = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get leftOutBytes(): number {
    return Math.max(0, this.#total - this.#maxBytes);
  }

  write(bytes: Buffer): void {
    this.#total += bytes.length;
    const kept = bytes.subarray(Math.max(0, bytes.length - this.#maxBytes));
    this.#grow(kept.length);
    const upToEnd = kept.copy(this.#ring, this.#at);
    kept.copy(this.#ring, 0, upToEnd);
    this.#at = this.#ring.length === 0 ? 0 : (this.#at + kept.length) % this.#ring.length;
  }

  text(): string {
    if (this.#total < this.#ring.length) return this.#ring.subarray(0, this.#total).toString();
    const all = Buffer.concat([this.#ring.subarray(this.#at), this.#ring.subarray(0, this.#at)]);
    let start = 0;
    if (this.leftOutBytes > 0) while (start < 3 && isContinuation(all[start])) start += 1;
    return all.subarray(start).toString();
  }

  /** Only before the first byte was left out: until then the ring begins at 0. */
  #grow(bytes: number): void {
    const need = Math.min(this.#maxBytes, this.#total);
    if (need <= this.#ring.length) return;
    const used = Math.min(this.#total - bytes, this.#ring.length);
    const larger = Buffer.allocUnsafe(
      Math.min(this.#maxBytes, Math.max(need, this.#ring.length * 2, FIRST_BYTES)),
    );
    this.#ring.copy(larger, 0, 0, used);
    this.#ring = larger;
    this.#at = used % larger.length;
  }
}

const join = (a: Buffer, b: Buffer): Buffer => Buffer.concat([a, b]);

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Cuts off an unfinished UTF-8 character at the end, at most three bytes. */
export function wholeCharacters(bytes: Buffer): [Buffer, Buffer] {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] as number;
    if (isContinuation(byte)) continue;
    const wants = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    const cut = wants > back ? bytes.length - back : bytes.length;
    return [bytes.subarray(0, cut), bytes.subarray(cut)];
  }
  return [bytes, EMPTY];
}
