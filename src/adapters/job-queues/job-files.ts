/** Keeps a job's brief and answer as files, which the next process reads if this one dies. */
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Brief } from "../../core/brief.ts";
import type { JobId, Spent } from "../../core/job.ts";
import { sayingMore } from "../../core/log/migrate.ts";
import type { Answer } from "../../ports/job-queue.ts";
import { fields, parseJson } from "../../text/json.ts";
import { ignoreMissing, writeDurably, writeWhole } from "../files/write-whole.ts";
import { bootId } from "../programs/process-table.ts";

type OpenJob = {
  readonly id: JobId;
  readonly brief: Brief;
  /** Whether the machine was rebooted since: then files of the job's programs may be missing or empty. */
  readonly isOfEarlierBoot: boolean;
};

/** `boot` is missing in files of older versions of Skein. */
type JobRecord = { readonly id: JobId; readonly brief: Brief; readonly boot?: string };

export class JobFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async begin(id: JobId, brief: Brief): Promise<void> {
    await rm(this.#answerFile(id), { force: true });
    await rm(this.#costFile(id), { force: true });
    await writerOf(id)(this.#jobFile(id), JSON.stringify({ format: FORMAT, id, brief, boot: bootId() }));
  }

  /** Keeps the answer for the next process, unless the log has it by then. */
  async end(id: JobId, answer: Answer): Promise<void> {
    await writerOf(id)(this.#answerFile(id), JSON.stringify({ format: FORMAT, answer }));
  }

  /** Keeps the cost so far of a job without an answer. */
  async cut(id: JobId, spent: Spent): Promise<void> {
    await writeDurably(this.#costFile(id), JSON.stringify({ format: FORMAT, spent }));
  }

  async costOf(id: JobId): Promise<Spent | undefined> {
    return (await readJson<{ readonly spent: Spent }>(this.#costFile(id)))?.spent;
  }

  async answerOf(id: JobId): Promise<Answer | undefined> {
    const answer = (await readJson<{ readonly answer: Answer }>(this.#answerFile(id)))?.answer;
    if (answer?.outcome.is !== "planned") return answer;
    return { ...answer, outcome: { ...answer.outcome, answer: sayingMore(answer.outcome.answer) } };
  }

  async briefOf(id: JobId): Promise<Brief | undefined> {
    return (await readJson<{ readonly brief: Brief }>(this.#jobFile(id)))?.brief;
  }

  async open(): Promise<readonly OpenJob[]> {
    const names = await readdir(this.#folder).catch(ignoreMissing);
    const open: OpenJob[] = [];
    // One after the other, because a long run has more jobs than a process may open files.
    for (const name of names ?? []) {
      const job = await readJson<JobRecord>(path.join(this.#folder, name, JOB_FILE));
      if (!job || (await this.answerOf(job.id)) !== undefined) continue;
      const isOfEarlierBoot = job.boot !== undefined && job.boot !== bootId();
      open.push({ id: job.id, brief: job.brief, isOfEarlierBoot });
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

/**
 * Files of paid agent jobs must survive a power cut: the workspace belongs to the brief, and is released once
 * there is an answer. Files of other jobs need not: a landing is found by its proof, and a gate runs again.
 */
const writerOf = (id: JobId) => (/^(?:plan|work):/.test(id) ? writeDurably : writeWhole);

const FORMAT = 1;
const JOB_FILE = "job.json";

/** "work:t.2#1" becomes "work-t.2-1"; ids contain no other special characters. */
const fileName = (id: JobId) => id.replaceAll(/[^a-z0-9.]/g, "-");

/** A missing or incomplete file counts as none; a read error is thrown, because the file may exist. */
async function readJson<T extends object>(file: string): Promise<T | undefined> {
  const text = await readFile(file, "utf8").catch(ignoreMissing);
  const value = fields(parseJson(text ?? ""));
  return value["format"] === FORMAT ? (value as T) : undefined; // Else the job is done again.
}
