/** Records when a job's gate and each of its commands ran, for traces: one line for each run of the gate. */
import { appendFile, mkdir } from "node:fs/promises";
import path from "node:path";
import { isGreen } from "../../core/gate.ts";
import type { JobId } from "../../core/job.ts";
import { hasFailed } from "../../core/result.ts";
import type { GateTimes } from "../../core/view/trace-details.ts";
import type { Gate, GatedTree } from "../../ports/gate.ts";
import { fileName } from "../agents/turn-files.ts";
import { readShort } from "../files/read-bounded.ts";

/** Wraps a gate to record its times. If the disk cannot be written, only the times are lost. */
export function timedGate(gate: Gate, folder: string, now: () => number): Gate {
  const run: Gate["run"] = async (tree, signal) => {
    const from = now();
    const commands: { readonly name: string; readonly from: number }[] = [];
    const onCommand: GatedTree["onCommand"] = (name) => {
      commands.push({ name, from: now() });
      tree.onCommand?.(name);
    };
    const ran = await gate.run({ ...tree, onCommand }, signal);
    const green = hasFailed(ran) || ran.setup ? {} : { green: isGreen(ran.report) };
    await append(folder, tree.job, { from, to: now(), ...green, commands }).catch(() => {});
    return ran;
  };
  return {
    run,
    prepare: (tree) => gate.prepare(tree),
    probe: (tree, report, signal) => gate.probe(tree, report, signal),
    changes: (from, to, signal) => gate.changes(from, to, signal),
  };
}

export async function readGateTimes(folder: string, job: JobId): Promise<readonly GateTimes[]> {
  return (await readShort(fileOf(folder, job))).split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as GateTimes];
    } catch {
      return []; // The line was cut by a kill, or is the empty one at the end.
    }
  });
}

async function append(folder: string, job: JobId, times: GateTimes): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await appendFile(fileOf(folder, job), `${JSON.stringify(times)}\n`, { mode: 0o600 });
}

const fileOf = (folder: string, job: JobId): string => path.join(folder, `${fileName(job)}.jsonl`);
