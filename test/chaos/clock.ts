/** Checks a run whose machine's clock was set meanwhile: its log must keep the time that really passed. */
import { rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Event } from "../../src/core/log/event.ts";
import type { Random } from "../../src/simulation/random.ts";
import type { Place } from "./scenario.ts";
import { checkoutOf, freshPlace, look, startRun, type Trial, type Truth, violationsOf } from "./trial.ts";

/** After `afterMs` the clock is set to the real time plus `setMs`, or the run is killed and started again. */
export type ClockStep = { readonly afterMs: number } & ({ readonly setMs: number } | { readonly kill: true });

const MONTH_MS = 30 * 24 * 3_600_000;
/** The time until a running engine has noticed a jump: it looks each second, on a machine that may be busy. */
const NOTICED_MS = 2_500;

/** Plans that set the clock forward or back, and mostly right again: without a kill, and with one between or after. */
export function clockPlans(random: Random, count: number, truth: Pick<Truth, "ms">): readonly ClockStep[][] {
  // By then the run's engine has started.
  const soon = () => random.between(Math.ceil(truth.ms / 8), Math.ceil(truth.ms / 2));
  return Array.from({ length: count }, (_, i) => {
    const setMs = random.pick([1, 1, -1]) * random.pick([60_000, MONTH_MS]);
    const [away, home] = [
      { afterMs: soon(), setMs },
      { afterMs: random.between(1, NOTICED_MS), setMs: 0 },
    ];
    const kill = { afterMs: random.between(1, NOTICED_MS), kill: true } as const;
    return [
      [away, home],
      [away, kill, home],
      [away, home, kill],
      [away, kill],
    ][i % 4]!;
  });
}

export async function clockTrial(steps: readonly ClockStep[], truth: Truth): Promise<Trial> {
  await using place = await freshPlace();
  const before = await checkoutOf(place);
  const clock = path.join(place.folder, "clock");
  const set = async (ms: number) => {
    await writeFile(`${clock}.new`, String(ms));
    await rename(`${clock}.new`, clock);
  };
  await set(0);
  const run = () => start(place, clock);
  const began = performance.now();
  let kills = 0;
  let running = await run();
  for (const step of steps) {
    const isOver = await Promise.race([running.ended.then(() => true), after(step.afterMs, false)]);
    if (isOver) break;
    if ("setMs" in step) await set(step.setMs);
    else {
      running.kill();
      await running.ended;
      kills += 1;
      running = await run();
    }
  }
  const end = await running.ended;
  if (end.code !== running.goodCode)
    throw new Error(`the run ended with ${end.code ?? end.signal}: ${end.words}`);
  const found = await look(place);
  const wrong = timeViolations(found.log, steps, performance.now() - began);
  return { kills, violations: [...(await violationsOf(place, found, truth, before)), ...wrong] };
}

const PRELOAD = fileURLToPath(new URL("./set-clock.ts", import.meta.url));

const start = (place: Place, clock: string) =>
  startRun({ ...place, env: { ...place.env, SKEIN_CHAOS_CLOCK: clock } }, ["--import", PRELOAD]);

function timeViolations(
  log: readonly Event[],
  steps: readonly ClockStep[],
  realMs: number,
): readonly string[] {
  const back = log.filter(({ at }, i) => at < (log[i - 1]?.at ?? at));
  const lasted = log.at(-1)!.at - log[0]!.at;
  const said = log.flatMap((event) => (event.type === "clock.jumped" ? [event.ms] : []));
  const set = steps.flatMap((step) => ("setMs" in step ? [step.setMs] : []));
  const jumps = set.map((ms, i) => ms - (set[i - 1] ?? 0));
  // A jump that an engine did not live to notice looks to the next engine like time that passed without one.
  const unsaid = jumps.filter((jump) => !said.some((ms) => Math.abs(ms - jump) < NOTICED_MS));
  const isKilled = steps.some((step) => "kill" in step);
  const mayLeap = isKilled ? Math.max(0, ...unsaid) : 0;
  return [
    ...back.map(({ type, at }) => `the log's time went back, to ${at} at ${type}`),
    ...(lasted > realMs + mayLeap + NOTICED_MS
      ? [`the log says ${lasted} ms, and only ${Math.round(realMs)} ms passed`]
      : []),
  ];
}
