/** Reads from the system which processes run, when each started, and when the machine did. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

export const isLinux = process.platform === "linux";

export type Process = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In ticks since the machine started. */
  readonly start: number;
  /** A variable of its environment, which is read at the first call; "" if it is not set. */
  readonly variable: (name: string) => string;
};

/**
 * All running processes, without zombies. Linux only. Callers during a scan share the next one: 50 programs that
 * end together cost two scans instead of 50.
 */
export function processTable(): Promise<readonly Process[]> {
  nextScan ??= scanning.then(async () => {
    await nextTurn(); // Others may ask in the same turn of the loop.
    nextScan = undefined;
    const scan = scanAll();
    scanning = scan.catch(() => {}); // Its callers get the error.
    return scan;
  });
  return nextScan;
}

let scanning: Promise<unknown> = Promise.resolve();
let nextScan: Promise<readonly Process[]> | undefined;

/**
 * Calls `each` synchronously, because /proc is memory and the thread pool costs six times as much (300 processes:
 * 30 ms instead of 5). The event loop gets a turn after each millisecond.
 */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (const item of items) {
    each(item);
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
}

const SLICE_MS = 1;

/** Repeats until no new process is listed: a listed process may have ended meanwhile and left a child. */
async function scanAll(): Promise<readonly Process[]> {
  const processes = new Map<string, Process | undefined>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const fresh = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !processes.has(name));
    if (fresh.length === 0) break;
    await inSlices(fresh, (name) => processes.set(name, processOf(Number(name))));
  }
  return [...processes.values()].filter((one) => one !== undefined);
}

const MAX_ROUNDS = 5;

function processOf(pid: number): Process | undefined {
  const stat = statOf(pid);
  if (stat === undefined || stat[0] === "Z" || stat[0] === "X") return undefined;
  let environment: readonly string[] | undefined;
  const variable = (name: string) => {
    environment ??= readIfThere(`/proc/${pid}/environ`)?.split("\0") ?? [];
    return environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
  };
  const [parent, group, session, start] = [1, 2, 3, 19].map((field) => Number(stat[field])) as FourNumbers;
  return { pid, parent, group, session, start, variable };
}

/** Undefined if it cannot be read. */
export function parentOf(pid: number): number | undefined {
  const parent = Number(statOf(pid)?.[1]);
  return parent > 0 ? parent : undefined;
}

type FourNumbers = [number, number, number, number];

/** When a process started, as the system writes it. A pid is reused; pid and start time together are not. */
export async function startOf(pid: number): Promise<string | undefined> {
  if (isLinux) {
    const stat = statOf(pid);
    return stat === undefined || stat[0] === "Z" ? undefined : stat[19];
  }
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile("ps", ["-o", "lstart=", "-p", String(pid)], (_error, out) => resolve(out.trim() || undefined));
  return promise;
}

/** The fields from the third on. The second, the name in parentheses, may itself contain spaces and parentheses. */
function statOf(pid: number): string[] | undefined {
  const text = readIfThere(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // It has ended, or belongs to another user.
  }
}

/** Changes with every start of the machine, so that old pids are recognised. Empty outside of Linux. */
export const bootId = (): string =>
  isLinux ? (readIfThere("/proc/sys/kernel/random/boot_id")?.trim() ?? "") : "";
