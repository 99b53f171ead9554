/** Which machine is this, and does a process of it still run? */
import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import * as z from "zod";
import { parseJson } from "../../text/json.ts";
import { bootId, startOf } from "../programs/process-table.ts";

const HOLDER = z.object({
  host: z.string(),
  /** The same only for processes that see each other's numbers. */
  machine: z.string(),
  pid: z.number(),
  /** When the system started it: numbers are used again. */
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

/** `elsewhere`: it cannot be seen from here. */
export async function lookFor({ machine: of, pid, started }: Holder): Promise<"runs" | "gone" | "elsewhere"> {
  if (of !== machine()) return "elsewhere";
  return (await startOf(pid)) === started ? "runs" : "gone";
}

/** Since it was started, and with the numbers of its processes: a container has its own. */
function machine(): string {
  try {
    return `${bootId()}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname(); // Not Linux.
  }
}
