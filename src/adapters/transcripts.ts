/** Keeps the output of a job's programs: one file a job, of limited size, without secrets. */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import type { Transcript, Transcripts } from "../ports/transcripts.ts";
import { streamRedactor } from "../text/redact.ts";
import { wholeCharacters } from "./programs/output.ts";

type FileTranscriptsOptions = {
  readonly folder: string;
  /** Values that must not appear in any file. */
  readonly secrets: readonly string[];
  /** The limit of one file; the middle of a longer output is left out. */
  readonly maxBytes: number;
};

export class FileTranscripts implements Transcripts {
  readonly #options: FileTranscriptsOptions;

  constructor(options: FileTranscriptsOptions) {
    this.#options = options;
  }

  /** The file can be read while it grows: up to half of the limit at once, all of it when it is closed. */
  pathOf(name: string): string {
    return join(this.#options.folder, transcriptName(name));
  }

  openNext(name: string): Transcript & { readonly name: string } {
    let next = name;
    for (let number = 2; number <= MAX_NUMBER && existsSync(this.pathOf(next)); number += 1)
      next = `${name}.${number}`;
    return { ...this.open(next), name: next };
  }

  open(name: string): Transcript {
    const { secrets, maxBytes, folder } = this.#options;
    const file = new BoundedFile(folder, this.pathOf(name), maxBytes);
    const redact = streamRedactor(secrets);
    let isOpen = true;
    return {
      write: (text) => {
        if (isOpen) file.write(redact.write(text));
      },
      close: async () => {
        if (!isOpen) return;
        isOpen = false;
        file.write(redact.end());
        file.close();
      },
    };
  }
}

/** More gate runs on one tree than the rules of landing allow. */
const MAX_NUMBER = 50;

/** Readable, unique, and a valid file name everywhere. */
export function transcriptName(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9._-]/g, "_")
    .replace(/^\.+/, "_")
    .slice(0, 80);
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  return `${plain}-${hash}.log`;
}

/**
 * Writes the first half of the limit into the file itself. Later output goes into two parts of a quarter each in
 * turn, so that the newest quarter is always there; closing joins them. Everything is written at once, so nothing
 * is lost with the process. If the disk fails, writing ends, and the job goes on.
 */
class BoundedFile {
  readonly #path: string;
  readonly #headBytes: number;
  readonly #partBytes: number;
  #file: number | undefined;
  #written = 0;
  #isHead = true;
  #older = 0;
  #leftOut = 0;

  constructor(folder: string, path: string, maxBytes: number) {
    this.#path = path;
    this.#headBytes = Math.ceil(maxBytes / 2);
    this.#partBytes = Math.max(4, Math.floor(maxBytes / 4));
    this.#try(() => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const part of [OLDER, NEWER]) rmSync(path + part, { force: true });
      this.#file = openSync(path, "w", 0o600);
    });
  }

  write(text: string): void {
    let bytes: Buffer = Buffer.from(text);
    while (bytes.length > 0 && this.#file !== undefined) {
      const room = (this.#isHead ? this.#headBytes : this.#partBytes) - this.#written;
      const [fitting] = wholeCharacters(bytes.subarray(0, Math.max(0, room)));
      if (fitting.length === 0) this.#turn();
      else {
        this.#append(fitting);
        bytes = bytes.subarray(fitting.length);
      }
    }
  }

  close(): void {
    this.#try(() => {
      if (this.#file === undefined) return;
      closeSync(this.#file);
      this.#file = undefined;
      if (this.#isHead) return;
      this.#file = openSync(this.#path, "a", 0o600);
      const parts = (this.#older > 0 ? [OLDER, NEWER] : [NEWER]).map((part) =>
        readFileSync(this.#path + part),
      );
      for (const part of [OLDER, NEWER]) rmSync(this.#path + part, { force: true }); // First, to free their space.
      if (this.#leftOut > 0) this.#append(Buffer.from(`\n… ${this.#leftOut} bytes left out …\n`));
      for (const part of parts) this.#append(part);
      closeSync(this.#file);
      this.#file = undefined;
    });
  }

  #turn(): void {
    this.#try(() => {
      closeSync(this.#file as number);
      this.#file = undefined;
      if (!this.#isHead) {
        this.#leftOut += this.#older;
        this.#older = this.#written;
        renameSync(this.#path + NEWER, this.#path + OLDER);
      }
      this.#isHead = false;
      this.#written = 0;
      this.#file = openSync(this.#path + NEWER, "w", 0o600);
    });
  }

  #append(bytes: Buffer): void {
    this.#try(() => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file as number, bytes, at);
      this.#written += bytes.length;
    });
  }

  #try(step: () => void): void {
    try {
      step();
    } catch {
      this.#giveUp(); // The rest of the transcript is lost; the job goes on.
    }
  }

  #giveUp(): void {
    const file = this.#file;
    this.#file = undefined;
    try {
      if (file !== undefined) closeSync(file);
    } catch {
      // It was closed already.
    }
  }
}

const OLDER = ".older";
const NEWER = ".newer";
