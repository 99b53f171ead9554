/** How do the last lines of a terminal change while others scroll past above them? */

import { fit, width } from "../columns.ts";
import type { Sink } from "../output.ts";

type Terminal = Sink & { readonly size: NonNullable<Sink["size"]> };

export class LiveArea {
  readonly #terminal: Terminal;
  #shown: readonly string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** A line that stays, above the area. */
  print(line: string): void {
    this.#terminal.write(`${this.#erase()}${line}\n${joined(this.#shown)}`);
  }

  /** The area, in plain text; each line is cut to the width, so that it is known how far up the area begins. */
  show(lines: readonly string[]): void {
    const { columns, rows } = this.#terminal.size();
    const next = lines.slice(0, Math.max(1, rows - 1)).map((line) => fit(line, columns - 1));
    if (next.length === this.#shown.length && next.every((line, i) => line === this.#shown[i])) return;
    const erase = this.#erase();
    this.#shown = next;
    this.#terminal.write(`${erase}${joined(next)}`);
  }

  clear(): void {
    this.#terminal.write(this.#erase());
    this.#shown = [];
  }

  /** A terminal that became narrower has folded the lines in the meantime. */
  #erase(): string {
    const { columns } = this.#terminal.size();
    const rows = this.#shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns)), 0);
    return rows === 0 ? "" : `\r\u001b[${rows}A\u001b[J`;
  }
}

const joined = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
