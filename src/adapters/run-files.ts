/** Where is what a run's jobs wrote, and what did a task change? Read from the run's folder and from git. */
import { open } from "node:fs/promises";
import path from "node:path";
import type { JobId } from "../core/job.ts";
import type { RunFiles } from "../ports/run-files.ts";
import type { RunHome } from "../ports/runs.ts";
import { Wakes } from "./files/wakes.ts";
import { git } from "./git/git.ts";
import { transcriptName } from "./transcripts.ts";

/** What a page shows of a transcript at first; the rest is in the file. */
const MAX_START_BYTES = 256 * 1024;
const CHUNK_BYTES = 64 * 1024;
const MAX_DIFF_BYTES = 1_000_000;

export const runFiles = (repository: string): RunFiles => ({
  transcript,
  diff: async (from, to, signal) => {
    const args = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", from, to, "--"];
    const call = { folder: repository, args, maxBytes: MAX_DIFF_BYTES, cut: true };
    const answer = await git(call, signal);
    if (!answer.ok) return { failure: answer.failure };
    return { diff: answer.isCut ? `${answer.out}\n… cut after ${MAX_DIFF_BYTES} bytes` : answer.out };
  },
});

async function* transcript({ folder }: RunHome, job: JobId, signal: AbortSignal): AsyncGenerator<string> {
  const file = path.join(folder, "transcripts", transcriptName(job));
  using wakes = new Wakes(file);
  const decoder = new TextDecoder();
  let at = -1;
  while (!signal.aborted) {
    const read = await readFrom(file, at);
    if (read) {
      at = read.next;
      const text = decoder.decode(read.bytes, { stream: true });
      if (text !== "") yield text;
      if (read.bytes.length === CHUNK_BYTES) continue;
    }
    await wakes.next(signal);
  }
}

/** `at` -1: the end of the file. A file that became shorter was begun anew. */
async function readFrom(file: string, at: number) {
  await using handle = await open(file, "r").catch(() => undefined); // Not there yet.
  if (!handle) return undefined;
  const { size } = await handle.stat();
  const from = at < 0 ? Math.max(0, size - MAX_START_BYTES) : at > size ? 0 : at;
  const buffer = Buffer.alloc(CHUNK_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, from);
  return { bytes: buffer.subarray(0, bytesRead), next: from + bytesRead };
}
