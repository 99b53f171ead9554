/** `npm run simulate -- --seeds N --from S`: simulates that many runs, checks every rule, and reports what happened. */
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { FAULTS, Tally } from "./faults.ts";
import { type Told, tell } from "./story.ts";

const HELP = `Runs whole simulated runs with faults, one a seed, and checks the rules after every event.

  npm run simulate -- --seeds 2000            seeds 1 to 2000
  npm run simulate -- --seeds 1 --from 437    one seed, for instance one that failed
  npm run simulate -- --seeds 1 --from 437 --log    and its events, one a line
  npm run simulate -- --json                  the summary for machines

Exit: 0 no rule was broken, 1 one was, 2 usage.`;

/** Every 20th seed is simulated twice: the same seed must give the same log, byte for byte. */
const REPEAT_EVERY = 20;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    console.error(options);
    return 2;
  }
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const started = performance.now();
  const all = new Tally();
  const ends: Record<string, number> = {};
  const violations: { seed: number; rule: string }[] = [];
  let events = 0;
  for (let seed = options.from; seed < options.from + options.seeds; seed += 1) {
    const told = await tell(seed);
    const rule = told.violation ?? (await repeats(told, options.from));
    if (options.log) for (const event of told.events) console.log(JSON.stringify(event));
    if (rule) violations.push({ seed, rule });
    if (rule)
      console.error(`seed ${seed}: ${rule}\n  again: npm run simulate -- --seeds 1 --from ${seed} --log`);
    all.addAll(told.faults);
    ends[told.how] = (ends[told.how] ?? 0) + 1;
    events += told.events.length;
  }
  const seconds = (performance.now() - started) / 1000;
  report({ ...options, events, seconds, ends, violations, faults: all });
  return violations.length === 0 ? 0 : 1;
}

async function repeats(told: Told, from: number): Promise<string | undefined> {
  if ((told.seed - from) % REPEAT_EVERY !== 0) return undefined;
  const again = await tell(told.seed);
  return hash(told) === hash(again) ? undefined : "the same seed told another story";
}

function hash({ events }: Told): string {
  const sum = createHash("sha256");
  for (const event of events) sum.update(`${JSON.stringify(event)}\n`);
  return sum.digest("hex");
}

type Options = {
  readonly seeds: number;
  readonly from: number;
  readonly json: boolean;
  readonly log: boolean;
  readonly help: boolean;
};

function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: "string", default: "200" },
        from: { type: "string", default: "1" },
        json: { type: "boolean", default: false },
        log: { type: "boolean", default: false },
        help: { type: "boolean", default: false, short: "h" },
      },
    });
    const [seeds, from] = [Number(values.seeds), Number(values.from)];
    if (!Number.isSafeInteger(seeds) || seeds < 1)
      return `--seeds must be a whole number from 1, not "${values.seeds}"`;
    if (!Number.isSafeInteger(from) || from < 0)
      return `--from must be a whole number from 0, not "${values.from}"`;
    if (seeds - 1 > Number.MAX_SAFE_INTEGER - from)
      return `the last seed, --from + --seeds - 1, must be at most ${Number.MAX_SAFE_INTEGER}: beyond it two seeds are one number`;
    return { seeds, from, json: values.json, log: values.log, help: values.help };
  } catch (error) {
    return `${(error as Error).message}\n\n${HELP}`;
  }
}

type Summary = Options & {
  readonly events: number;
  readonly seconds: number;
  readonly ends: Readonly<Record<string, number>>;
  readonly violations: readonly { readonly seed: number; readonly rule: string }[];
  readonly faults: Tally;
};

function report({ seeds, from, json, events, seconds, ends, violations, faults }: Summary): void {
  const counts = Object.fromEntries(FAULTS.map((kind) => [kind, faults.of(kind)]));
  if (json) {
    console.log(JSON.stringify({ seeds, from, events, seconds, ends, faults: counts, violations }));
    return;
  }
  const width = Math.max(...FAULTS.map((kind) => kind.length));
  console.log(`seeds ${from} to ${from + seeds - 1}: ${events} events in ${seconds.toFixed(1)} s`);
  console.log(
    `ends: ${Object.entries(ends)
      .map(([how, n]) => `${n} ${how}`)
      .join(", ")}`,
  );
  console.log("faults injected:");
  for (const kind of FAULTS) console.log(`  ${kind.padEnd(width)}  ${faults.of(kind)}`);
  console.log(`violations: ${violations.length}`);
}
