/** Collects lines up to a limit, and says how many more there were. */

export class Lines {
  readonly #kept: string[] = [];
  readonly #max: number;
  #more = 0;

  constructor(max = MAX_LINES) {
    this.#max = max;
  }

  add(line: string): void {
    if (this.#kept.length < this.#max) this.#kept.push(line);
    else this.#more += 1;
  }

  get isEmpty(): boolean {
    return this.#kept.length === 0;
  }

  all(): readonly string[] {
    return this.#more === 0 ? [...this.#kept] : [...this.#kept, `and ${this.#more} more`];
  }
}

/** More than a model can fix in one turn. */
const MAX_LINES = 20;

/** Quotes a text for use in a line: cut to a maximum length, with lone surrogates and control characters escaped. */
export const quoted = (written: string): string =>
  JSON.stringify(written.length > MAX_QUOTED_CHARS ? `${written.slice(0, MAX_QUOTED_CHARS)}…` : written);

const MAX_QUOTED_CHARS = 80;
