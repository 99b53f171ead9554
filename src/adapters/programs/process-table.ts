/** Which processes run on this machine? One look at /proc for all who ask at the same time. Linux only. */
import { readdirSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { readIfThere, statOf } from "./process-start.ts";

export type Entry = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** In ticks since the machine started. */
  readonly start: number;
  /** One of its environment's variables; "" if it has none. The environment is read at the first call. */
  readonly variable: (name: string) => string;
};

/**
 * All that run; zombies do not. The look begins after the call. Whoever asks during a look shares the next one: 50
 * programs that end together cost two looks instead of 50.
 */
export function processTable(): Promise<readonly Entry[]> {
  waiting ??= looking.then(async () => {
    await turn(); // Others may ask in the same turn of the loop.
    waiting = undefined;
    const look = lookAtAll();
    looking = look.catch(() => {}); // Those who wait for it are told.
    return look;
  });
  return waiting;
}

let looking: Promise<unknown> = Promise.resolve();
let waiting: Promise<readonly Entry[]> | undefined;

/**
 * Reads synchronously, because /proc is memory and reads through the thread pool cost six times as much (300 processes:
 * 30 ms instead of 5). The loop gets its turn after each millisecond, so that nothing else waits for the whole look.
 */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (const item of items) {
    each(item);
    if (performance.now() < until) continue;
    await turn();
    until = performance.now() + SLICE_MS;
  }
}

const SLICE_MS = 1;

/** Until nothing new is listed: a process that was listed may have ended meanwhile, and left a child. */
async function lookAtAll(): Promise<readonly Entry[]> {
  const entries = new Map<string, Entry | undefined>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const fresh = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && !entries.has(name));
    if (fresh.length === 0) break;
    await inSlices(fresh, (name) => entries.set(name, entryOf(Number(name))));
  }
  return [...entries.values()].filter((entry) => entry !== undefined);
}

/** On a machine where something starts all the time, one has to stop. */
const MAX_ROUNDS = 5;

function entryOf(pid: number): Entry | undefined {
  const stat = statOf(pid);
  if (stat === undefined || stat[0] === "Z" || stat[0] === "X") return undefined;
  let environment: readonly string[] | undefined;
  const variable = (name: string) => {
    environment ??= readIfThere(`/proc/${pid}/environ`)?.split("\0") ?? [];
    return environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
  };
  const [parent, group, session, start] = [stat[1], stat[2], stat[3], stat[19]].map(Number) as Four;
  return { pid, parent, group, session, start, variable };
}

type Four = [number, number, number, number];
