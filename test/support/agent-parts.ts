/** Gives agents under test what they run on: real processes, and a transcript in memory. */
import path from "node:path";
import { LocalPrograms } from "../../src/adapters/programs/local.ts";
import type { Transcripts } from "../../src/ports/transcripts.ts";

export type Heard = {
  readonly transcripts: Transcripts;
  /** Everything that was written, by the transcript's name. */
  readonly texts: Map<string, string>;
  /** Resolves with the first text. */
  readonly begun: Promise<void>;
};

export function hearing(): Heard {
  const texts = new Map<string, string>();
  const { promise, resolve } = Promise.withResolvers<void>();
  const open = (name: string) => {
    texts.set(name, "");
    return {
      write: (text: string) => {
        texts.set(name, texts.get(name)! + text);
        resolve();
      },
      close: async () => {},
    };
  };
  return {
    transcripts: { open, openNext: (name: string) => ({ ...open(name), name }) },
    texts,
    begun: promise,
  };
}

export const agentParts = (folder: string, heard: Heard) => ({
  folder,
  programs: new LocalPrograms({ folder: path.join(folder, "..", "programs") }),
  transcripts: heard.transcripts,
  limits: { maxOutputBytes: 1_000_000, maxFileBytes: 10_000_000 },
  redact: (text: string) => text,
});
