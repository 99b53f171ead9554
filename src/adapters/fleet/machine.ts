/** Identifies this machine and the process that holds a lease, and checks whether such a process still runs. */
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod";
import { parseJson } from "../../text/json.ts";
import { bootId, startOf } from "../programs/process-table.ts";

const HOLDER = z.object({
  host: z.string(),
  /** Equal only for processes that see each other's process numbers. */
  machine: z.string(),
  pid: z.number(),
  /** When the system started the process: process numbers are reused. */
  started: z.string(),
  since: z.number(),
});

/** The process that holds a lease. */
type Holder = z.output<typeof HOLDER>;

export const readHolder = (text: string | null): Holder | undefined =>
  text === null ? undefined : HOLDER.safeParse(parseJson(text)).data;

export async function thisHolder(): Promise<Holder> {
  const { pid } = process;
  const started = (await startOf(pid)) ?? "unknown";
  return { host: hostname(), machine: machine(), pid, started, since: Date.now() };
}

/** Whether a process still runs. `elsewhere`: it cannot be seen from this machine. */
export async function lookFor({ machine: of, pid, started }: Holder): Promise<"runs" | "gone" | "elsewhere"> {
  if (of !== machine()) return "elsewhere";
  return (await startOf(pid)) === started ? "runs" : "gone";
}

/** The boot id and the namespace of process numbers: a container has its own. */
function machine(): string {
  try {
    return `${bootId()}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname(); // The system is not Linux.
  }
}
