/** Keeps results that are too long for a conversation, as files of the run named by their content. */
import { hash } from "node:crypto";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import { type Failed, failedWith } from "../core/result.ts";
import type { Artefacts } from "../ports/subtasks.ts";
import { writeDurably } from "./files/write-whole.ts";

export class FileArtefacts implements Artefacts {
  readonly #folder: string;
  readonly #redact: (text: string) => string;

  constructor(folder: string, redact: (text: string) => string) {
    this.#folder = folder;
    this.#redact = redact;
  }

  async keep(text: string): Promise<{ readonly name: string } | Failed> {
    const clean = this.#redact(text);
    const file = path.join(this.#folder, `${hash("sha256", clean, "hex").slice(0, 16)}.txt`);
    try {
      await writeDurably(file, clean);
      return { name: file };
    } catch (error) {
      return failedWith("interrupted", `the result could not be kept: ${messageOf(error)}`);
    }
  }
}
