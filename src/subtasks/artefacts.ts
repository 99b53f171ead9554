/** Keeps long results in memory by their hash, up to a limit; the default if no other store is given. */
import { hash } from "node:crypto";
import { failure } from "../core/failure.ts";
import type { Failed } from "../core/result.ts";
import type { Artefacts } from "../ports/subtasks.ts";

export class MemoryArtefacts implements Artefacts {
  readonly #texts = new Map<string, string>();
  readonly #maxChars: number;
  #chars = 0;

  constructor(maxChars = 64_000_000) {
    this.#maxChars = maxChars;
  }

  async keep(text: string): Promise<{ readonly name: string } | Failed> {
    const name = `artefact-${hash("sha256", text, "hex").slice(0, 16)}`;
    if (this.#texts.has(name)) return { name };
    if (this.#chars + text.length > this.#maxChars)
      return { failure: failure("budget", `no more than ${this.#maxChars} characters are kept in memory`) };
    this.#chars += text.length;
    this.#texts.set(name, text);
    return { name };
  }

  get(name: string): string | undefined {
    return this.#texts.get(name);
  }
}
