/** Reads what a run's jobs wrote and what a task changed, from the run's folder and from git. */
import { open } from "node:fs/promises";
import path from "node:path";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { AttemptChange, AttemptRefs, RunFiles } from "../ports/run-files.ts";
import type { RunHome } from "../ports/runs.ts";
import { GUARDED } from "./files/read-bounded.ts";
import { Wakes } from "./files/wakes.ts";
import { git } from "./git/git.ts";
import { listRefs } from "./git/refs.ts";
import { transcriptName } from "./transcripts.ts";

/** How much of a transcript a page shows at first; the rest is in the file. */
const MAX_START_BYTES = 256 * 1024;
const CHUNK_BYTES = 64 * 1024;
const MAX_DIFF_BYTES = 1_000_000;

export const runFiles = (repository: string): RunFiles => ({
  transcript,
  output: (home, name) => readEnds(path.join(home.folder, "transcripts", transcriptName(name))),
  attempt: (of, signal) => attemptChange(repository, of, signal),
  diff: (from, to, signal) => diffOf(repository, [from, to], signal),
});

async function diffOf(folder: string, between: readonly string[], signal: AbortSignal) {
  const args = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", ...between, "--"];
  const answer = await git({ folder, args, maxBytes: MAX_DIFF_BYTES, cut: true }, signal);
  if (!answer.ok) return { failure: answer.failure };
  return { diff: answer.isCut ? `${answer.out}\n… cut after ${MAX_DIFF_BYTES} bytes` : answer.out };
}

/**
 * The change of an attempt: work that was handed in is on a branch; work of a failed attempt was kept under a
 * hidden ref.
 */
async function attemptChange(
  folder: string,
  { run, branches, task, attempt, since }: AttemptRefs,
  signal: AbortSignal,
): Promise<AttemptChange | undefined | Failed> {
  const name = `${task}.${attempt}`;
  const places = [`refs/heads/${branches}${run}/task`, `refs/skein/*/${run}`, `refs/skein/*/${run}/*`];
  const patterns = places.flatMap((place) => [`${place}/${name}`, `${place}/${name}-*`]);
  const listed = await listRefs({ folder, patterns, fields: ["refname", "objectname"] }, signal);
  if (hasFailed(listed)) return listed;
  const found = listed.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)); // Branches come first.
  const [ref, commit] = found[0] ?? [];
  if (ref === undefined || commit === undefined) return undefined;
  let last: Failed | undefined;
  for (const base of since) {
    const change = await diffOf(folder, [`${base}...${commit}`], signal);
    if (!hasFailed(change)) return { ref, commit, ...change };
    last = change; // The target may be gone; the run's base exists as long as the attempt does.
  }
  return last;
}

/** The first and the last part of a long file. Cut lines are included, because one may say what failed. */
async function readEnds(file: string): Promise<string | undefined> {
  await using handle = await open(file, GUARDED).catch(() => undefined); // No output was kept.
  if (!handle) return undefined;
  const { size } = await handle.stat();
  const read = async (from: number, to: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
    return buffer.subarray(0, bytesRead).toString();
  };
  if (size <= MAX_OUTPUT_BYTES) return read(0, size);
  const head = await read(0, MAX_OUTPUT_BYTES / 4);
  const end = await read(size - (MAX_OUTPUT_BYTES * 3) / 4, size);
  return `${head}\n… ${size - MAX_OUTPUT_BYTES} bytes are not shown …\n${end}`;
}

/** The end matters more than the beginning; the file itself is up to four times as long. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

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

/** `at` -1 means the end of the file. A file that became shorter was begun anew. */
async function readFrom(file: string, at: number) {
  await using handle = await open(file, "r").catch(() => undefined); // The file does not exist yet.
  if (!handle) return undefined;
  const { size } = await handle.stat();
  const from = at < 0 ? Math.max(0, size - MAX_START_BYTES) : at > size ? 0 : at;
  const buffer = Buffer.alloc(CHUNK_BYTES);
  const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, from);
  return { bytes: buffer.subarray(0, bytesRead), next: from + bytesRead };
}
