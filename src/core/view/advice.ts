/** Advises what would make the next run faster, by this run's numbers, the largest saving first. */
import type { Figures } from "./figures.ts";
import type { RunHotFile } from "./hot-files.ts";
import { savedBySecondGate } from "./second-gate.ts";
import type { LossReason, Tally } from "./tally.ts";
import type { TallyView } from "./tally-view.ts";
import type { TimeSpent } from "./time-spent.ts";
import type { Named } from "./view-reasons.ts";

/** `ms`: the most time that following the advice can save. */
export type Advice = { readonly ms: number } & (
  | { readonly is: "more-workers"; readonly workers: number; readonly isLimit: boolean }
  | { readonly is: "shorter-chain"; readonly tasks: number; readonly longest: Named; readonly share: number }
  | { readonly is: "faster-gate"; readonly runs: number; readonly gateMs: number }
  /** `ms`: how much less all tasks together would have waited. */
  | { readonly is: "second-gate"; readonly tasks: number }
  | { readonly is: "hot-file"; readonly file: RunHotFile }
  | { readonly is: "flaky-tests"; readonly tests: readonly string[]; readonly runs: number }
  | { readonly is: "red-target"; readonly failures: readonly string[] }
  | { readonly is: "less-waiting" }
  /** `ms`: how long all jobs together waited for their workspaces. */
  | { readonly is: "faster-workspaces" }
  | {
      readonly is: "fewer-losses";
      readonly reason: LossReason;
      readonly count: number;
      readonly tokens: number;
    }
);

type Known = {
  readonly figures: Figures;
  readonly time: TimeSpent;
  readonly chain: readonly (Named & { readonly ms: number })[];
  readonly hotFiles: readonly RunHotFile[];
  readonly tally: TallyView;
  readonly maxWorkers?: number;
  readonly landed: Pick<Tally, "readyAt" | "hasTrains" | "prepareMs">;
};

export function adviceOf(known: Known): readonly Advice[] {
  const { wallMs } = known.figures;
  return [workers(known), chain(known), gate(known), secondGate(known), hotFile(known), ...others(known)]
    .flat()
    .filter(({ ms }) => ms > 0 && ms >= wallMs * MIN_SHARE)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, MAX_ADVICE);
}

/** Advice that saves less than this share of the time is left out. */
const MIN_SHARE = 0.03;
const MAX_ADVICE = 6;

/** If all workers were busy for most of the time, more workers could have taken a part of the work. */
function workers({ figures, time, maxWorkers }: Known): readonly Advice[] {
  const { mostWorkers, allBusyMs, workingMs } = time;
  const isLimit = maxWorkers !== undefined && mostWorkers >= maxWorkers;
  if (allBusyMs < workingMs / 2 || figures.tasks <= mostWorkers || (maxWorkers !== undefined && !isLimit))
    return [];
  const ms = Math.min(allBusyMs, figures.wallMs - figures.criticalMs);
  return [{ is: "more-workers", ms, workers: mostWorkers, isLimit }];
}

/** If a chain of dependent tasks takes most of the time, more workers would not help. */
function chain({ figures: { efficiencyShare }, chain: tasks }: Known): readonly Advice[] {
  if (efficiencyShare === null || efficiencyShare < LONG_CHAIN || tasks.length === 0) return [];
  const [{ ms, task, name }] = tasks.toSorted((a, b) => b.ms - a.ms) as [Named & { readonly ms: number }];
  return [{ is: "shorter-chain", ms, tasks: tasks.length, longest: { task, name }, share: efficiencyShare }];
}
const LONG_CHAIN = 0.6;

/** Only the time in which nothing but the gate ran: beside working agents the gate costs no time. */
function gate({ figures: { gateRuns: runs, gateMs }, time: { parts } }: Known): readonly Advice[] {
  if (runs === 0) return []; // Without gate runs, landing itself took that time.
  return [{ is: "faster-gate", ms: parts.find(({ is }) => is === "gate")!.ms, runs, gateMs }];
}

function secondGate({ figures: { gateRuns, gateMs }, landed: { readyAt, hasTrains } }: Known) {
  if (hasTrains || gateRuns === 0) return [];
  const ms = Math.round(savedBySecondGate(readyAt, gateMs / gateRuns));
  return [{ is: "second-gate", ms, tasks: readyAt.length } as const];
}

function hotFile({ hotFiles: [file], tally: { losses } }: Known): readonly Advice[] {
  if (!file) return [];
  const lostMs = losses.find(({ reason }) => reason === "conflict")?.workMs ?? 0;
  return [{ is: "hot-file", ms: file.waitedMs + (file.conflicts > 0 ? lostMs : 0), file }];
}

function others({ time, tally: { flaky, red, losses }, landed: { prepareMs } }: Known): readonly Advice[] {
  const [loss] = losses
    .filter(({ reason }) => reason !== "conflict")
    .toSorted((a, b) => b.workMs + b.gateMs - (a.workMs + a.gateMs));
  return [
    { is: "flaky-tests", ms: flaky.gateMs, tests: flaky.tests, runs: flaky.gateRuns },
    { is: "red-target", ms: red.ms, failures: [...new Set(red.spans.flatMap(({ failures }) => failures))] },
    { is: "faster-workspaces", ms: prepareMs },
    { is: "less-waiting", ms: time.parts.find(({ is }) => is === "wait")!.ms },
    ...(loss
      ? [
          {
            is: "fewer-losses",
            ms: loss.workMs + loss.gateMs,
            reason: loss.reason,
            count: loss.count,
            tokens: loss.tokens,
          } as const,
        ]
      : []),
  ];
}
