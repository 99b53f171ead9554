/** `npm run chaos`: kills a real run after each event of its log in turn, and at random moments; counts what broke. */
import { parseArgs } from "node:util";
import { randomFrom } from "../../src/simulation/random.ts";
import { type Kill, trial, undisturbed } from "./trial.ts";

const HELP = `Kills a small real run (real git, real processes) and resumes it; what must hold is checked each time.

  npm run chaos                    after each event in turn, and 20 times at random moments
  npm run chaos -- --every 7       after every seventh event
  npm run chaos -- --random 50 --seed 3
  npm run chaos -- --json          the summary for machines

Exit: 0 no rule was broken, 1 one was, 2 usage.`;

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
  const truth = await undisturbed();
  const say = options.json ? () => {} : (line: string) => console.log(line);
  say(`undisturbed: ${truth.events} events in ${(truth.ms / 1000).toFixed(1)} s`);
  const violations: { readonly kills: readonly Kill[]; readonly what: string }[] = [];
  let kills = 0;
  let trials = 0;
  for (const plan of plansOf(options, truth)) {
    const result = await trial(plan, truth).catch((error: unknown) => ({
      kills: plan.length,
      violations: [String(error)],
    }));
    trials += 1;
    kills += result.kills;
    for (const what of result.violations) {
      violations.push({ kills: plan, what });
      console.error(`${JSON.stringify(plan)}: ${what}`);
    }
    if (trials % 10 === 0) say(`${trials} runs, ${kills} kills, ${violations.length} violations`);
  }
  if (options.json) console.log(JSON.stringify({ events: truth.events, trials, kills, violations }));
  else say(`${trials} runs, ${kills} kills, ${violations.length} violations`);
  return violations.length === 0 ? 0 : 1;
}

type Options = {
  readonly every: number;
  readonly random: number;
  readonly seed: number;
  readonly json: boolean;
  readonly help: boolean;
};

/** After an event: one kill. At random moments: up to three in one run, the resumed one among them. */
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
        every: { type: "string", default: "1" },
        random: { type: "string", default: "20" },
        seed: { type: "string", default: "1" },
        json: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    const numbers = { every: Number(values.every), random: Number(values.random), seed: Number(values.seed) };
    const wrong = Object.entries(numbers).find(
      ([name, n]) => !Number.isSafeInteger(n) || n < (name === "every" ? 1 : 0),
    );
    return wrong ? `--${wrong[0]} must be a whole number` : { ...values, ...numbers };
  } catch (error) {
    return (error as Error).message;
  }
}
