/** Runs work for a benchmark, measures it, and prints its report. */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Bench {
  readonly name: string;
  /** The short form measures less, and less often; its claims are some of those of the whole form. */
  run(form?: BenchForm): Promise<BenchReport>;
}

export type BenchForm = "whole" | "short";

export interface BenchReport {
  readonly title: string;
  readonly tables: readonly Table[];
  readonly limits: readonly Limit[];
}

export interface Table {
  readonly title: string;
  readonly rows: readonly Readonly<Record<string, string | number>>[];
}

/** A claim about a measured number. If the number could not be measured, the claim does not hold. */
export interface Limit {
  readonly claim: string;
  readonly measured: number | undefined;
  readonly max: number;
}

export function holds({ measured, max }: Limit): boolean {
  return measured !== undefined && measured <= max;
}

export function printReport({ title, tables, limits }: BenchReport): void {
  console.log(`\n${title}`);
  for (const table of tables) {
    console.log(`\n${table.title}`);
    printRows(table.rows);
  }
  if (limits.length === 0) return;
  console.log("\nlimits");
  printRows(
    limits.map((limit) => ({
      "": holds(limit) ? "pass" : "FAIL",
      claim: limit.claim,
      measured: limit.measured === undefined ? "n/a" : rounded(limit.measured),
      limit: `≤ ${limit.max}`,
    })),
  );
}

export function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Milliseconds of processor time of all threads, so that garbage collection is included. */
export function cpuMs(work: () => unknown): Promise<number> {
  collectGarbage();
  return steadyCpuMs(work);
}

/**
 * As `cpuMs`, without collecting garbage first: for rounds that each pay for the garbage of the round before, as in a
 * long-running process. A forced collection shrinks the young generation, which alone made rounds 1.5 times as
 * expensive.
 */
export async function steadyCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Bytes in use after a garbage collection, including typed arrays. */
export function usedBytes(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

let gc: (() => void) | undefined;

function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
}

export type ChildAnswer =
  | { readonly is: "value"; readonly value: unknown }
  | { readonly is: "failure"; readonly why: string };

/**
 * Runs a file in a process of its own, which prints one JSON value: contenders then share neither compiled code nor
 * heap, and one that hangs or overflows ends only itself.
 */
export function inChild(file: URL, args: readonly string[], timeoutMs: number): Promise<ChildAnswer> {
  return new Promise((resolve) => {
    const options = { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 1 << 24 } as const;
    execFile(process.execPath, [fileURLToPath(file), ...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ is: "value", value: JSON.parse(stdout) });
      else if (error.killed) resolve({ is: "failure", why: `not done in ${timeoutMs / 1000} s` });
      else resolve({ is: "failure", why: /^\w*Error\b.*$/m.exec(stderr)?.[0] ?? error.message });
    });
  });
}

function printRows(rows: readonly Readonly<Record<string, string | number>>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const text = (value: string | number | undefined) =>
    typeof value === "number" ? rounded(value) : (value ?? "");
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => text(row[column]).length)),
  );
  const isNumber = (column: string) => rows.some((row) => typeof row[column] === "number");
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (isNumber(columns[at]!) ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join("  ");
  console.log(`  ${line(columns)}`);
  for (const row of rows) console.log(`  ${line(columns.map((column) => text(row[column])))}`);
}
