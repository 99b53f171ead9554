/** What was asked of a simulation, and do its numbers make sense? */
import type { RepoOption } from "../verbs/options.ts";

export type SimulateOptions = RepoOption & {
  readonly plan?: string;
  readonly run?: string;
  readonly maxWorkers?: string;
  readonly failRate?: string;
  readonly seed?: string;
  readonly svg?: string;
};

export type Numbers = {
  readonly maxWorkers: number;
  readonly seed: number;
  readonly failures?: number | "learnt";
};

/** More workers than anybody has, and as many as a forecast shows. */
const MAX_WORKERS = 1_000;
/** If nearly all fail, nothing is ever done. */
const MAX_FAIL_SHARE = 0.9;
const MAX_SEED = 2 ** 31;

export function readNumbers({
  maxWorkers,
  failRate,
  seed,
}: Pick<SimulateOptions, "maxWorkers" | "failRate" | "seed">): Numbers | { readonly wrong: string } {
  const most = maxWorkers === undefined ? MAX_WORKERS : whole(maxWorkers, 1, MAX_WORKERS);
  if (most === undefined) return { wrong: `--max-workers must be a whole number from 1 to ${MAX_WORKERS}` };
  const first = seed === undefined ? 1 : whole(seed, 0, MAX_SEED);
  if (first === undefined) return { wrong: `--seed must be a whole number from 0 to ${MAX_SEED}` };
  const failures = failRate === undefined || failRate === "learnt" ? failRate : share(failRate);
  if (failures === undefined && failRate !== undefined)
    return { wrong: `--fail-rate must be "learnt", or a number from 0 to ${MAX_FAIL_SHARE}` };
  return { maxWorkers: most, seed: first, ...(failures !== undefined && { failures }) };
}

function whole(text: string, from: number, to: number): number | undefined {
  const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return number >= from && number <= to ? number : undefined;
}

function share(text: string): number | undefined {
  const number = /^(?:\d(?:\.\d{0,6})?|\.\d{1,6})$/.test(text) ? Number(text) : Number.NaN;
  return number >= 0 && number <= MAX_FAIL_SHARE ? number : undefined;
}
