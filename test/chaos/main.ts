/** `npm run chaos`: kills a real run after each event of its log in turn, and at random moments; then other mishaps. */
import { parseArgs } from "node:util";
import { randomFrom } from "../../src/simulation/random.ts";
import { fleetPlans, fleetTrial, type Mishap, onOneMachine } from "../fleet/mishaps.ts";
import { clockPlans, clockTrial } from "./clock.ts";
import { overload } from "./overload.ts";
import { noPowerCuts, powerCut } from "./power.ts";
import { prunedTrial } from "./prune.ts";
import { type Trial, type Truth, trial, undisturbed } from "./trial.ts";

const HELP = `Kills a small real run (real git, real processes) and resumes it; what must hold is checked each time.

  npm run chaos                    all kinds: kills after each event in turn and 20 times at random; then the others
  npm run chaos -- --kind power    one kind alone: kills, clock, power (takes root), overload, prune
  npm run chaos -- --every 7       after every seventh event
  npm run chaos -- --random 50 --seed 3
  npm run chaos -- --gates 2       with several gates at once
  npm run chaos -- --fleet         a fleet: workers killed, stopped for 60 s, or lying; Postgres and the remote away;
                                   coordinators killed after every fifth event (--every) and replaced by others
  npm run chaos -- --json          the summary for machines

Exit: 0 no rule was broken, 1 one was, 2 usage.`;

type Planned = { readonly plan: unknown; readonly run: () => Promise<Trial> };

/** The kinds of mishaps, by name. */
const KINDS: Readonly<Record<string, (options: Options, truth: Truth) => Iterable<Planned>>> = {
  kills: (options, truth) =>
    [...plansOf(options, truth)].map((plan) => ({ plan, run: () => trial(plan, truth) })),
  clock: ({ random, seed }, truth) =>
    clockPlans(randomFrom(seed), random, truth).map((plan) => ({ plan, run: () => clockTrial(plan, truth) })),
  /** One power cut for each kill; in every second run the log is on another disk than the repository. */
  power: (options, truth) =>
    [...plansOf(options, truth)].map(([kill], number) => ({
      plan: { power: kill },
      run: () => powerCut(kill!, truth, number % 2 === 1),
    })),
  overload: () => [{ plan: "overload", run: overload }],
  prune: ({ random, seed }, truth) =>
    Array.from({ length: random }, (_, i) => ({
      plan: { prune: seed + i },
      run: () => prunedTrial(seed + i, truth),
    })),
};

/** Gives the reason why a kind of mishap cannot be tried on this machine. */
const OBSTACLES: Readonly<Record<string, () => Promise<string | undefined>>> = { power: noPowerCuts };

/** Coordinators of a fleet are killed after every fifth event, unless `--every` says otherwise. */
const FLEET_EVERY = 5;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    console.error(`${options}\n\n${HELP}`);
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  if (options.fleet) return fleetMain(options);
  const truth = await undisturbed();
  const say = options.json ? () => {} : (line: string) => console.log(line);
  say(`undisturbed: ${truth.events} events in ${(truth.ms / 1000).toFixed(1)} s`);
  const violations: { readonly plan: unknown; readonly what: string }[] = [];
  let kills = 0;
  let trials = 0;
  const asked = options.kind === undefined ? Object.keys(KINDS) : [options.kind];
  for (const kind of asked) {
    const obstacle = await OBSTACLES[kind]?.();
    if (obstacle !== undefined) console.error(obstacle);
    if (obstacle !== undefined && options.kind === kind) return 2;
    for (const { plan, run } of obstacle === undefined ? KINDS[kind]!(options, truth) : []) {
      const result = await run().catch((error: unknown) => ({ kills: 0, violations: [String(error)] }));
      trials += 1;
      kills += result.kills;
      for (const what of result.violations) {
        violations.push({ plan, what });
        console.error(`${JSON.stringify(plan)}: ${what}`);
      }
      if (trials % 10 === 0) say(`${trials} runs, ${kills} kills, ${violations.length} violations`);
    }
    say(`${kind}: ${trials} runs so far, ${violations.length} violations`);
  }
  if (options.json) console.log(JSON.stringify({ events: truth.events, trials, kills, violations }));
  else say(`${trials} runs, ${kills} kills, ${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}

async function fleetMain({ every, json }: Options): Promise<number> {
  // Neither Postgres nor its clients keep this process alive, so a timer does.
  const alive = setInterval(() => {}, 60_000);
  const truth = await onOneMachine();
  const violations: { readonly plan: Mishap; readonly what: string }[] = [];
  let [trials, kills] = [0, 0];
  for (const plan of fleetPlans(truth, every === 1 ? FLEET_EVERY : every)) {
    const result = await fleetTrial([plan], truth).catch((error: unknown) => ({
      ...{ kills: 0, ms: 0, violations: [String(error)] },
    }));
    trials += 1;
    kills += result.kills;
    for (const what of result.violations) violations.push({ plan, what });
    if (!json)
      console.log(
        `${JSON.stringify(plan)}: ${(result.ms / 1000).toFixed(0)} s, ${result.violations.length} violations`,
      );
    for (const what of result.violations) console.error(`  ${what}`);
  }
  clearInterval(alive);
  const summary = { events: truth.events, trials, kills, violations };
  console.log(
    json ? JSON.stringify(summary) : `${trials} runs, ${kills} mishaps, ${violations.length} violations`,
  );
  return violations.length === 0 ? 0 : 1;
}

type Options = {
  readonly fleet: boolean;
  readonly kind?: string | undefined;
  readonly every: number;
  readonly random: number;
  readonly seed: number;
  readonly json: boolean;
  readonly help: boolean;
};

/** After an event: one kill. At random moments: up to three kills in one run, also of a resumed one. */
function* plansOf({ every, random, seed }: Options, truth: { readonly events: number; readonly ms: number }) {
  for (let afterEvent = 1; afterEvent <= truth.events; afterEvent += every) yield [{ afterEvent }];
  const chance = randomFrom(seed);
  for (let i = 0; i < random; i += 1) {
    const count = chance.between(1, 3);
    yield Array.from({ length: count }, () => ({ afterMs: chance.between(1, Math.ceil(truth.ms)) }));
  }
}

function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        kind: { type: "string" },
        every: { type: "string", default: "1" },
        random: { type: "string", default: "20" },
        seed: { type: "string", default: "1" },
        gates: { type: "string", default: "1" },
        fleet: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const numbers = { every: Number(values.every), random: Number(values.random), seed: Number(values.seed) };
    process.env["CHAOS_GATES"] = values.gates; // The killed processes read it, too.
    const wrong = Object.entries({ ...numbers, gates: Number(values.gates) }).find(
      ([name, n]) => !Number.isSafeInteger(n) || n < (name === "every" || name === "gates" ? 1 : 0),
    );
    if (values.kind !== undefined && !Object.hasOwn(KINDS, values.kind))
      return `--kind must be one of ${Object.keys(KINDS).join(", ")}`;
    return wrong ? `--${wrong[0]} must be a whole number` : { ...values, ...numbers };
  } catch (error) {
    return (error as Error).message;
  }
}
