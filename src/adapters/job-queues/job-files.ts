/** What is known of a job once the process that ran it is gone? Its brief and its answer, as files. */
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Brief } from "../../core/brief.ts";
import type { JobId } from "../../core/job.ts";
import type { Answer } from "../../ports/job-queue.ts";
import { writeWhole } from "../files/write-whole.ts";

export class JobFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The job's own folder; its agent keeps what it needs there, too. */
  folderOf(id: JobId): string {
    return path.join(this.#folder, fileName(id));
  }

  async begin(id: JobId, brief: Brief): Promise<void> {
    await rm(this.#answerFile(id), { force: true });
    await writeWhole(this.#jobFile(id), JSON.stringify({ format: FORMAT, id, brief }));
  }

  /** Whoever starts next takes the answer from here; what the log says by then counts for more. */
  async end(id: JobId, answer: Answer): Promise<void> {
    await writeWhole(this.#answerFile(id), JSON.stringify({ format: FORMAT, answer }));
  }

  async answerOf(id: JobId): Promise<Answer | undefined> {
    return (await readJson<{ readonly answer: Answer }>(this.#answerFile(id)))?.answer;
  }

  async briefOf(id: JobId): Promise<Brief | undefined> {
    return (await readJson<{ readonly brief: Brief }>(this.#jobFile(id)))?.brief;
  }

  /** Jobs that were begun and have no answer. */
  async open(): Promise<readonly { readonly id: JobId; readonly brief: Brief }[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(
      names.map(async (name) => {
        const job = await readJson<{ readonly id: JobId; readonly brief: Brief }>(
          path.join(this.#folder, name, JOB_FILE),
        );
        return job && (await this.answerOf(job.id)) === undefined ? [{ id: job.id, brief: job.brief }] : [];
      }),
    );
    return found.flat();
  }

  #jobFile(id: JobId): string {
    return path.join(this.folderOf(id), JOB_FILE);
  }

  #answerFile(id: JobId): string {
    return path.join(this.folderOf(id), "answer.json");
  }
}

const FORMAT = 1;
const JOB_FILE = "job.json";

/** "work:t.2#1" as "work-t.2-1": ids hold nothing else that a file system minds. */
export const fileName = (id: JobId) => id.replaceAll(/[^a-z0-9.]/g, "-");

/** A file that is not there or was left half written counts as none. */
async function readJson<T extends object>(file: string): Promise<T | undefined> {
  try {
    const value = JSON.parse(await readFile(file, "utf8")) as T & { readonly format: number };
    return value.format === FORMAT ? value : undefined;
  } catch {
    return undefined; // Not there, or not whole: the job is done again, which is always right.
  }
}
