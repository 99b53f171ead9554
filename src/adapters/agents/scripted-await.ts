/** Lets a script's worker wait for another task, by polling the run's records of its jobs. */
import fs from "node:fs";
import path from "node:path";
import type { ScriptStep } from "../../ports/agent-script.ts";

type Await = Extract<ScriptStep, { readonly do: "await" }>;

/**
 * Returns what is wrong if the task did not get there in time. `jobs`: the folder of the run's jobs and their
 * answers.
 */
export function awaited(step: Await, jobs: string, wait: (ms: number) => void): string | undefined {
  const { task, until, attempt = 1, ms } = step;
  const end = performance.now() + ms;
  while (!isSo(step, jobs)) {
    if (performance.now() >= end) return `${task} (attempt ${attempt}) was not ${until} within ${ms} ms`;
    wait(POLL_MS);
  }
  return undefined;
}

/** A turn is a separate process without notifications, so it has to poll. */
const POLL_MS = 20;

const isSo = (step: Await, jobs: string): boolean =>
  names(jobs).some((name) =>
    step.until === "ready" ? isReady(step, jobs, name) : hasLanded(step, jobs, name),
  );

type Record = {
  readonly brief?: {
    readonly spec?: { readonly key: string };
    readonly attempt?: number;
    readonly members?: readonly { readonly task: string; readonly spec: { readonly key: string } }[];
  };
  readonly answer?: {
    readonly outcome: { readonly is: string; readonly members?: readonly { readonly task: string }[] };
  };
};

function isReady({ task, attempt: wanted = 1 }: Await, jobs: string, name: string): boolean {
  if (!name.startsWith("work-") || !has(jobs, name)) return false;
  const { brief } = read(path.join(jobs, name, "job.json"));
  if (brief?.spec?.key !== task || (brief.attempt ?? 0) < wanted) return false;
  return read(path.join(jobs, name, "answer.json")).answer?.outcome.is === "worked";
}

function hasLanded({ task }: Await, jobs: string, name: string): boolean {
  if (!name.startsWith("land-") || !has(jobs, name)) return false;
  const { outcome } = read(path.join(jobs, name, "answer.json")).answer ?? {};
  if (outcome?.is !== "landed") return false;
  const landed = new Set(outcome.members?.map((member) => member.task));
  const { members = [] } = read(path.join(jobs, name, "job.json")).brief ?? {};
  return members.some((member) => member.spec.key === task && landed.has(member.task));
}

const names = (folder: string): readonly string[] => (fs.existsSync(folder) ? fs.readdirSync(folder) : []);

const has = (jobs: string, name: string) => fs.existsSync(path.join(jobs, name, "answer.json"));

/** Reads a record. It is never half written, because records are renamed into place. */
function read(file: string): Record {
  try {
    return JSON.parse(fs.readFileSync(file, "utf8")) as Record;
  } catch {
    return {}; // The file is missing: the job has just begun, or begins again.
  }
}
