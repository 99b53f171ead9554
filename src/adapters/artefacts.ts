/** Keeps results that are too long for a conversation, as files named by their content. */
import { hash } from "node:crypto";
import path from "node:path";
import { messageOf } from "../core/failure.ts";
import { failedWith } from "../core/result.ts";
import type { Artefacts } from "../ports/subtasks.ts";
import { writeDurably } from "./files/write-whole.ts";

export const fileArtefacts = (folder: string, redact: (text: string) => string): Artefacts => ({
  keep: async (text) => {
    const clean = redact(text);
    const file = path.join(folder, `${hash("sha256", clean, "hex").slice(0, 16)}.txt`);
    try {
      await writeDurably(file, clean);
      return { name: file };
    } catch (error) {
      return failedWith("interrupted", `the result could not be kept: ${messageOf(error)}`);
    }
  },
});
