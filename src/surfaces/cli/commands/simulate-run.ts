/** `skein simulate --run`: a recorded run beside its forecast and its replay. */
import { findRun } from "../../../app/which-run.ts";
import { fromSettings, toPolicy } from "../../../config/index.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Policy } from "../../../core/rules/policy.ts";
import { ROOT } from "../../../core/task.ts";
import { spentLabel } from "../../../core/view/labels.ts";
import { assume, NOTHING_LEARNT } from "../../../simulation/assumed.ts";
import { recordingOf } from "../../../simulation/from-log.ts";
import { recordedIn } from "../../../simulation/recorded.ts";
import { replay, withoutHistory } from "../../../simulation/replay.ts";
import { type Timeline, timelineOf } from "../../../simulation/timeline.ts";
import { harmless } from "../../../text/words.ts";
import { hasExit, openHere, orExit } from "../acts/project.ts";
import { table } from "../columns.ts";
import { type Context, refuse, say, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { paint } from "../output.ts";
import { draw, type ForecastSection, saySections, time } from "../render/forecast.ts";
import { forecastSvg } from "../render/forecast-svg.ts";
import type { RepoOption } from "./options.ts";

type Compared = {
  readonly run: string;
  /** By default durations; by its own; as it was. */
  readonly foreseen: Timeline;
  readonly replayed: Timeline;
  readonly actual: Timeline;
  readonly inexact: readonly string[];
  readonly because: readonly string[];
};

type RunToSimulate = RepoOption & { readonly run: string; readonly svg?: string };

export async function simulateRun(context: Context, options: RunToSimulate): Promise<ExitCode> {
  const project = await openHere(context, options);
  if (hasExit(project)) return project.exit;
  const home = await orExit(context, findRun(options.run, project));
  if (hasExit(home)) return home.exit;
  const events = await recordedIn(home);
  if (hasFailed(events)) return refuse(context, EXIT.configuration, events.failure);
  const { record } = home;
  const read = fromSettings(record.settings);
  if ("problems" in read) {
    const message = `the configuration that run ${record.run} was started with cannot be read`;
    return refuse(context, EXIT.configuration, { kind: "configuration", message });
  }
  const policy = toPolicy(read.config);
  const recording = recordingOf(events);
  const assumed = assume(NOTHING_LEARNT);
  const replayed = await replay(recording, policy);
  const foreseen = await replay(withoutHistory(recording, assumed), { ...policy, approval: "never" });
  for (const one of [replayed, foreseen])
    if (hasFailed(one)) return refuse(context, EXIT.notAllDone, one.failure);
  const compared: Compared = {
    run: record.run,
    foreseen: foreseen as Timeline,
    replayed: replayed as Timeline,
    actual: timelineOf(events),
    inexact: recording.inexact,
    because: assumed.because.slice(0, 2),
  };
  return show(context, compared, policy, options);
}

async function show(
  context: Context,
  compared: Compared,
  policy: Policy,
  { svg }: RunToSimulate,
): Promise<ExitCode> {
  const { run, replayed } = compared;
  const picture = () =>
    forecastSvg({
      title: `run ${run}, replayed`,
      timeline: replayed,
      workers: Math.max(1, ...replayed.bars.map(({ lane }) => lane + 1)),
      critical: new Set(),
    });
  const exit = svg === undefined ? undefined : await draw(context, svg, picture());
  if (exit !== undefined) return exit;
  if (context.json) writeJson(context, jsonOf(compared));
  else {
    say(context, paint(context.out, "strong", `Run ${run}, replayed by the real engine on a virtual clock`));
    saySections(context, sections(compared, policy));
    if (svg !== undefined) say(context, `\ndrawn in ${harmless(svg)}`);
  }
  return EXIT.done;
}

/** How far the one is from the other, as a part of it. */
const apart = (one: Timeline, other: Timeline): number =>
  other.makespanMs === 0 ? 0 : Math.abs(one.makespanMs - other.makespanMs) / other.makespanMs;

const isSameOrder = (one: Timeline, other: Timeline): boolean =>
  one.order.length === other.order.length && one.order.every((name, i) => name === other.order[i]);

function sections(compared: Compared, policy: Policy): readonly ForecastSection[] {
  const { foreseen, replayed, actual, inexact, because } = compared;
  const three = [foreseen, replayed, actual];
  const row = (name: string, of: (one: Timeline) => string) => [name, ...three.map(of)];
  const whole = table([
    ["", "with defaults", "with its own durations", "actual"],
    row("time", ({ makespanMs }) => time(makespanMs)),
    row("end", ({ end }) => end),
    row("tasks done", ({ order }) => `${order.filter((name) => name !== ROOT).length}`),
    row("landings", ({ landings }) => `${landings.length}`),
    row("gate runs", ({ gateRuns }) => `${gateRuns}`),
    row("conflicts", ({ conflicts }) => `${conflicts}`),
    row("refused by the gate", ({ reds }) => `${reds}`),
    row("failed attempts", ({ failed }) => `${failed}`),
    ["cost", "", "", spentLabel(actual.used)],
  ]);
  const order = isSameOrder(replayed, actual)
    ? "With its own durations the tasks are done in the same order"
    : `With its own durations the order differs from ${harmless(firstOther(replayed, actual))} on`;
  const close = `${order}, and the time is ${(apart(replayed, actual) * 100).toFixed(1)} % off.`;
  return [
    { title: "In all", lines: [...whole, "", close] },
    { title: "When each task finished", lines: taskTable(compared) },
    ...(inexact.length === 0 ? [] : [{ title: "What the replay cannot reproduce", lines: inexact }]),
    {
      title: "Defaults",
      lines: [
        ...because,
        `workers: ${policy.capacity.work} at most, as in the run; no failures are simulated`,
      ],
    },
  ];
}

const firstOther = (one: Timeline, other: Timeline): string =>
  other.order.find((name, i) => one.order[i] !== name) ?? "the end";

/** Those that were done first, first; then those that were not. */
function taskTable({ foreseen, replayed, actual }: Compared): readonly string[] {
  const [a, b] = [foreseen, replayed].map(({ tasks }) => new Map(tasks.map((task) => [task.name, task])));
  const tasks = actual.tasks.toSorted((x, y) => (x.doneMs ?? Infinity) - (y.doneMs ?? Infinity));
  const when = (ms: number | undefined) => (ms === undefined ? "–" : time(ms));
  return table([
    ["", "with defaults", "with its own durations", "actual", "attempts"],
    ...tasks.map(({ name, doneMs, attempts }) => [
      name === ROOT ? "the goal" : harmless(name, 60),
      when(a!.get(name)?.doneMs),
      when(b!.get(name)?.doneMs),
      when(doneMs),
      `${attempts}`,
    ]),
  ]);
}

function jsonOf(compared: Compared) {
  const { run, foreseen, replayed, actual, inexact, because } = compared;
  return {
    run,
    withDefaults: plain(foreseen),
    withItsDurations: plain(replayed),
    actual: plain(actual),
    isSameOrder: isSameOrder(replayed, actual),
    apart: apart(replayed, actual),
    inexact,
    defaults: because,
  };
}

const plain = ({ tasks, used, bars: _, fileWaits: __, ...rest }: Timeline) => ({
  ...rest,
  tokens: used.tokens,
  tasks: tasks.map(({ id, name, startMs, endMs, doneMs, attempts, workMs }) => ({
    id,
    name,
    startMs,
    endMs,
    doneMs,
    attempts,
    workMs,
  })),
});
