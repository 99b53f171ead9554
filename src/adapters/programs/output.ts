/** Keeps the head and the tail of a program's output in bounded memory. */

export class Output {
  readonly #last = { out: new Tail(MAX_OUTPUT_BYTES), err: new Tail(MAX_ERRORS_BYTES) };
  readonly #end = new Tail(MAX_TAIL_BYTES);
  readonly #onOutput: ((text: string) => void) | undefined;
  readonly #held: Tail;
  /** Unfinished characters at the end of the last chunk. */
  readonly #rest: { out: Buffer; err: Buffer } = { out: EMPTY, err: EMPTY };
  #headBytes: number;

  constructor(maxBytes: number, onOutput: ((text: string) => void) | undefined) {
    this.#onOutput = onOutput;
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#held = new Tail(Math.floor(maxBytes / 2));
  }

  write(from: "out" | "err", chunk: Buffer): void {
    const [whole, rest] = wholeCharacters(Buffer.concat([this.#rest[from], chunk]));
    this.#rest[from] = rest;
    this.#take(from, whole);
  }

  /** Passes on what was held back; nothing may be written afterwards. */
  end(): { readonly output: string; readonly errors: string; readonly tail: string } {
    for (const from of ["out", "err"] as const) this.#take(from, this.#rest[from]);
    if (this.#held.leftOutBytes > 0) this.#onOutput?.(`\n… ${this.#held.leftOutBytes} bytes left out …\n`);
    const text = this.#held.text();
    if (text !== "") this.#onOutput?.(text);
    return { output: this.#last.out.text(), errors: this.#last.err.text(), tail: this.#end.text() };
  }

  #take(from: "out" | "err", bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#last[from].write(bytes);
    this.#end.write(bytes);
    if (!this.#onOutput) return;
    const [head] = wholeCharacters(bytes.subarray(0, this.#headBytes));
    if (head.length > 0) this.#onOutput(head.toString());
    // The first chunk that does not fit ends the head: later output must not overtake what is held back.
    this.#headBytes = head.length < bytes.length ? 0 : this.#headBytes - head.length;
    this.#held.write(bytes.subarray(head.length));
  }
}

/** The limit for readers of standard output: the longest answer of an agent fits. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
/** As much as a test runner writes about a few hundred failures. */
const MAX_ERRORS_BYTES = 256 * 1024;
/** What people see of a failure. */
const MAX_TAIL_BYTES = 4 * 1024;
const FIRST_BYTES = 4 * 1024;
const EMPTY = Buffer.alloc(0);

/** The last bytes that were written. Its buffer grows as needed, up to twice the limit. */
class Tail {
  readonly #maxBytes: number;
  #buffer: Buffer = EMPTY;
  #used = 0;
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
    if (this.#used + kept.length > this.#buffer.length) this.#makeRoom(kept.length);
    this.#used += kept.copy(this.#buffer, this.#used);
  }

  text(): string {
    let from = Math.max(0, this.#used - this.#maxBytes);
    if (this.leftOutBytes > 0) for (let n = 0; n < 3 && isContinuation(this.#buffer[from]); n += 1) from += 1;
    return this.#buffer.subarray(from, this.#used).toString();
  }

  #makeRoom(bytes: number): void {
    const last = this.#buffer.subarray(Math.max(0, this.#used - this.#maxBytes), this.#used);
    const need = Math.max(FIRST_BYTES, 2 * (last.length + bytes));
    const larger = Buffer.allocUnsafe(Math.min(2 * this.#maxBytes, need));
    this.#used = last.copy(larger);
    this.#buffer = larger;
  }
}

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
