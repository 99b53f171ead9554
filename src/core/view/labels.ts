/** Words for the states of a run and of its tasks, the same on the terminal, on the web page and in the report. */
import type { GateLeftovers } from "../gate.ts";
import type { TrainCandidate } from "../job.ts";
import type { Phase } from "../rules/landing.ts";
import type { TaskId } from "../task.ts";
import type { JobPlace, TaskRow } from "./rows.ts";
import type { RunningView, Standing } from "./standing.ts";
import type { LandingView } from "./view.ts";
import type { MachineView } from "./view-machines.ts";

/** The state of a run in `--json`. */
export type RunWord = Exclude<Standing["is"], "working"> | "running" | "stopped";

/**
 * A run that no process drives is stopped, even if its log shows work in progress. `isDriven`: undefined if unknown.
 */
export function runWord(
  { is, times }: Pick<Standing, "is" | "times">,
  isDriven: boolean | undefined,
): RunWord {
  if (isDriven === false && times.closedAt === undefined) return "stopped";
  return is === "working" ? "running" : is;
}

export const runLabel = (word: RunWord): string => (word === "proposed" ? "waiting for your approval" : word);

/** In a stopped run no agent is at work. In a fleet the label names the machine: "working on build-3". */
export function taskLabel(
  word: TaskRow["word"],
  run: RunWord,
  { machine, isUntaken }: JobPlace = {},
): string {
  if (run === "stopped" && AT_WORK.has(word)) return "interrupted";
  return isUntaken ? UNTAKEN : `${TASK_WORDS[word] ?? word}${onLabel(machine)}`;
}
/** "working, attempt 2". */
export const stateLabel = (row: Pick<TaskRow, "word" | "attempts"> & JobPlace, run: RunWord): string =>
  `${taskLabel(row.word, run, row)}${row.attempts > 1 ? `, attempt ${row.attempts}` : ""}`;

const UNTAKEN = "waiting for a machine";
/** "At work (4), waiting for a machine (4)": a job that waits for a machine is not at work. */
export function atWorkLabel(jobs: readonly JobPlace[]): string {
  const untaken = jobs.filter(({ isUntaken }) => isUntaken).length;
  const counts = [["at work", jobs.length - untaken] as const, [UNTAKEN, untaken] as const];
  const text = counts.flatMap(([what, count]) => (count > 0 ? [`${what} (${count})`] : [])).join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Follows the words that say what a job does. */
export const placeLabel = ({ machine, isUntaken }: JobPlace): string =>
  isUntaken ? `, ${UNTAKEN}` : onLabel(machine);
export const onLabel = (machine: string | undefined): string =>
  machine === undefined ? "" : ` on ${machine}`;

/** While a run goes on, planners may add tasks, so the label says "so far". */
export function doneLabel({ counts: { done, total }, times }: Pick<Standing, "counts" | "times">): string {
  const tasks = `${total} ${total === 1 ? "task" : "tasks"}`;
  return times.closedAt === undefined ? `${done} done of ${tasks} so far` : `${done} of ${tasks} done`;
}

/** The words for people, where they differ from those in `--json`. */
const TASK_WORDS: Readonly<Partial<Record<TaskRow["word"], string>>> = {
  parked: "queued",
  landing: "ready to land",
  gating: "in the gate",
};
export const AT_WORK: ReadonlySet<TaskRow["word"]> = new Set(["planning", "working", "gating"]);

/** The running jobs by the log; none in a stopped run. */
export const runningIn = ({ running }: Standing, run: RunWord): readonly RunningView[] =>
  run === "stopped" ? [] : running;

/** The machines of the fleet; none in a stopped run, because no process keeps their states up to date. */
export const machinesIn = ({ machines = [] }: Standing, run: RunWord): readonly MachineView[] =>
  run === "stopped" ? [] : machines;

/** The queue without the tasks that are in the gate already. */
export const waitingIn = ({ queue, running }: Standing): Standing["queue"] => {
  const gating = new Set(
    running.flatMap(({ kind, tasks }) => (kind === "land" ? tasks.map(({ task }) => task) : [])),
  );
  return queue.filter(({ task }) => !gating.has(task));
};

/** The label of a job whose end is not in the log. */
export const openJobLabel = (run: RunWord, { isUntaken }: JobPlace = {}): string =>
  run === "stopped" ? "interrupted" : isUntaken ? UNTAKEN : "running";

/** Follows "target branch:". */
export function healthLabel({ target: { health, isVerified, isUngated } }: Standing): string {
  if (isUngated) return "not checked: there is no gate";
  switch (health) {
    case "green":
      return isVerified
        ? "all gate commands pass"
        : "all gate commands passed when last checked; every landing since passed too";
    case "red":
      return "gate commands fail";
    case "suspect":
      return "a gate command failed; re-running in case it is flaky";
    case "unknown":
      return "its gate has not run yet";
  }
}

/** Tells people that the gate fails over its own leftovers: which files, and which setting to choose. */
export function leftoversLabel({ files, more = 0 }: GateLeftovers): string {
  const named = [...files, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  const over = named === "" ? "what its runs leave in their workspace" : `its own leftovers: ${named}`;
  return `Your gate fails over ${over}. It failed in a used workspace and passed in a fresh one; gateWorkspace: fresh in skein.yaml makes every run fresh`;
}

/** The target's health in a word or two, beside its commit. */
export const healthWord = ({ health, isUngated }: Standing["target"]): string =>
  isUngated ? "(no gate)" : HEALTH_WORDS[health];

const HEALTH_WORDS: Readonly<Record<Standing["target"]["health"], string>> = {
  unknown: "not checked yet",
  green: "passing",
  suspect: "failed once; re-running",
  red: "failing",
};

/** What follows a failed gate; empty if nothing does. */
export function phaseLabel(phase: Phase, name: (task: TaskId) => string): string {
  switch (phase.is) {
    case "open":
      return "";
    case "again":
      return "The gate failed; re-running it in case a test is flaky";
    case "base":
      return "The gate failed twice; checking whether the target fails without the change";
    case "bisect": {
      const { guilty, next } = phase;
      const gated = next.length < 3 ? next.map(({ task }) => name(task)).join(" + ") : `${next.length} gated`;
      if (guilty.length === 1) return `Bisecting: the other tasks pass the gate; testing ${gated} alone`;
      const queued = guilty.length > next.length ? ` + ${guilty.length - next.length} queued` : "";
      return `Bisecting ${guilty.length} tasks (${gated}${queued}): together they fail the gate; the target is not affected`;
    }
  }
}

/** Describes the candidates that were gated ahead of their turn and wait; empty if there are none. */
export function trainLabel(train: readonly TrainCandidate[]): string {
  const results = train.flatMap(({ result }) => result ?? []);
  const failed = results.filter((result) => "is" in result).length;
  const passed = results.length - failed;
  return [
    passed > 0 ? `${passed} passed the gate and wait${passed === 1 ? "s" : ""} to land` : "",
    failed > 0 ? `${failed} failed it and wait${failed === 1 ? "s" : ""} to be judged` : "",
  ]
    .filter(Boolean)
    .join(", ");
}

/** Describes one running gate. */
export const gateLabel = (
  { kind, on, isMoving, machine, isUntaken }: Pick<RunningView, "kind" | "on" | "isMoving"> & JobPlace,
  names: string,
): string => {
  const where = machine === undefined ? "" : `, on ${machine}`;
  if (kind !== "land") return isUntaken ? `check of the target: ${UNTAKEN}` : `checking the target${where}`;
  if (isMoving) return `landing ${names}`;
  const ahead = on ? ` on top of ${on === 1 ? "the one before" : `${on} before`}` : "";
  return isUntaken ? `gate for ${names}${ahead}: ${UNTAKEN}` : `gate on ${names}${ahead}${where}`;
};

/** The speed of a shorter time says nothing about the hours that follow. */
const MIN_SPEED_MS = 60_000;

/** How fast tasks land while an engine runs; empty before the first has landed, and in the first minute. */
export function throughputLabel({ tally: { gate, agents } }: Standing): string {
  if (gate.tasks === 0 || agents.wallMs < MIN_SPEED_MS) return "";
  const perHour = (gate.tasks * 3_600_000) / agents.wallMs;
  if (perHour >= 100) return `${(perHour / 60).toFixed(0)} tasks landed per minute`;
  return `${perHour.toFixed(perHour < 10 ? 1 : 0)} tasks landed per hour`;
}

export const proofLabel = ({ proof, flags = [] }: Pick<LandingView, "proof" | "flags">): string =>
  [gatedLabel(proof), ...flags].join("; ");

function gatedLabel(proof: LandingView["proof"]): string {
  switch (proof) {
    case "green":
      return "gate passed";
    case "red-to-red":
      return "landed on a failing base: compared by name, no new failures";
    case "ungated":
      return "no gate";
    case "found":
      return "landed before a restart, confirmed by its git note";
  }
}

/** An unknown price is called unknown, never shown as $0. */
export function spentLabel(
  spent: Pick<Standing["spent"], "tokens" | "microdollars" | "unpriced" | "unaccounted"> & {
    readonly unreported?: number;
  },
): string {
  const { tokens, microdollars, unpriced, unaccounted, unreported = 0 } = spent;
  if (tokens === 0 && microdollars === 0 && unpriced === 0 && unaccounted.calls === 0)
    return "not reported by the agents";
  const money = microdollars === 0 && unpriced > 0 ? [] : [dollars(microdollars)];
  const unknown = unpriced > 0 ? [`price unknown for ${unpriced} ${unpriced === 1 ? "job" : "jobs"}`] : [];
  const silent =
    unreported > 0 ? [`${unreported} ${unreported === 1 ? "attempt" : "attempts"} reported no cost`] : [];
  const least = unreported > 0 || unaccounted.calls > 0 ? "at least " : "";
  const sum = `${least}${tokens.toLocaleString("en")} ${tokens === 1 ? "token" : "tokens"}`;
  return [sum, ...money, ...unknown, ...silent].join(", ");
}

/** The price alone, for a column. */
export const priceLabel = ({
  microdollars,
  unpriced,
}: Pick<Standing["spent"], "microdollars" | "unpriced">) =>
  microdollars === 0 && unpriced > 0 ? "price unknown" : dollars(microdollars);

/** Four digits for amounts below a cent, so that they are not shown as $0.00. */
export function dollars(microdollars: number): string {
  const isTiny = microdollars > 0 && microdollars < 10_000;
  return `$${(microdollars / 1_000_000).toFixed(isTiny ? 4 : 2)}`;
}
