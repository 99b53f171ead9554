/** What is known of a job once the process that ran it is gone? Its brief and its answer, as files. */
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Brief } from "../../core/brief.ts";
import type { JobId, Spent } from "../../core/job.ts";
import type { Answer } from "../../ports/job-queue.ts";
import { writeWhole } from "../files/write-whole.ts";

export class JobFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(id: JobId, brief: Brief): Promise<void> {
    await rm(this.#answerFile(id), { force: true });
    await rm(this.#costFile(id), { force: true });
    await writeWhole(this.#jobFile(id), JSON.stringify({ format: FORMAT, id, brief }));
  }

  /** Whoever starts next takes the answer from here; what the log says by then counts for more. */
  async end(id: JobId, answer: Answer): Promise<void> {
    await writeWhole(this.#answerFile(id), JSON.stringify({ format: FORMAT, answer }));
  }

  /** It was cut off: no answer, but what it had cost by then. */
  async cut(id: JobId, spent: Spent): Promise<void> {
    await writeWhole(this.#costFile(id), JSON.stringify({ format: FORMAT, spent }));
  }

  async costOf(id: JobId): Promise<Spent | undefined> {
    return (await readJson<{ readonly spent: Spent }>(this.#costFile(id)))?.spent;
  }

  async answerOf(id: JobId): Promise<Answer | undefined> {
    return (await readJson<{ readonly answer: Answer }>(this.#answerFile(id)))?.answer;
  }

  async briefOf(id: JobId): Promise<Brief | undefined> {
    return (await readJson<{ readonly brief: Brief }>(this.#jobFile(id)))?.brief;
  }

  /** Jobs that were begun and have no answer. */
  async open(): Promise<readonly { readonly id: JobId; readonly brief: Brief }[]> {
    const names = await readdir(this.#folder).catch(noneIfMissing);
    const open: { readonly id: JobId; readonly brief: Brief }[] = [];
    // One after the other: a long run has more jobs than a process may have files open.
    for (const name of names ?? []) {
      const job = await readJson<{ readonly id: JobId; readonly brief: Brief }>(
        path.join(this.#folder, name, JOB_FILE),
      );
      if (job && (await this.answerOf(job.id)) === undefined) open.push({ id: job.id, brief: job.brief });
    }
    return open;
  }

  #jobFile(id: JobId): string {
    return path.join(this.#folder, fileName(id), JOB_FILE);
  }

  #costFile(id: JobId): string {
    return path.join(this.#folder, fileName(id), "cost.json");
  }

  #answerFile(id: JobId): string {
    return path.join(this.#folder, fileName(id), "answer.json");
  }
}

const FORMAT = 1;
const JOB_FILE = "job.json";

/** "work:t.2#1" as "work-t.2-1": ids hold nothing else that a file system minds. */
const fileName = (id: JobId) => id.replaceAll(/[^a-z0-9.]/g, "-");

/** A file that is not there, or not whole, counts as none; one that cannot be read now may be there all the same. */
async function readJson<T extends object>(file: string): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch(noneIfMissing);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as T & { readonly format: number };
    return value.format === FORMAT ? value : undefined;
  } catch {
    return undefined; // The job is done again, which is always right.
  }
}

function noneIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
