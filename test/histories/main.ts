/** `npm run histories -- --seeds N --from S`: plays that many histories in real git and reports what happened. */
import { parseArgs } from "node:util";
import { bisectProblem, mostRuns, WarmRun } from "./culprits.ts";
import { type Told, tellAll } from "./history.ts";
import { KINDS, Tally } from "./tally.ts";

const HELP = `Lands the tasks of random histories in real repositories, one a seed, and checks with git what became of them.

  npm run histories -- --seeds 200            seeds 1 to 200
  npm run histories -- --seeds 1 --from 37    one seed, for instance one that failed
  npm run histories -- --seeds 1 --from 37 --log    and its events, one a line
  npm run histories -- --json                 the summary for machines
  npm run histories -- --culprits 50          instead: one culprit at every place in batches of 2 to 50

Exit: 0 no rule was broken, 1 one was, 2 usage.`;

/** Two histories wait for git while a third computes. */
const AT_ONCE = 3;

/** The policy of these bisections puts no more tasks into one candidate. */
const MAX_CULPRITS = 50;

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
  if (options.culprits > 0) return culprits(options);
  const { seeds, from, json, log } = options;
  const started = performance.now();
  const tally = new Tally();
  const told: Omit<Told, "log" | "tally">[] = [];
  const numbers = Array.from({ length: seeds }, (_, i) => from + i);
  await tellAll(numbers, AT_ONCE, ({ log: lines, tally: own, ...one }) => {
    if (log) for (const line of lines) console.log(line);
    for (const what of one.violations) {
      console.error(
        `seed ${one.seed}: ${what}\n  again: npm run histories -- --seeds 1 --from ${one.seed} --log`,
      );
    }
    tally.addAll(own);
    told.push(one);
  });
  report({ seeds, from, json, seconds: (performance.now() - started) / 1000, told, tally });
  return told.every(({ violations }) => violations.length === 0) ? 0 : 1;
}

async function culprits({ culprits: largest, json }: Options): Promise<number> {
  await using warm = await WarmRun.start();
  const started = performance.now();
  const most: { size: number; gateRuns: number; atMost: number }[] = [];
  let bisects = 0;
  let wrong = 0;
  for (let n = 2; n <= largest; n += 1) {
    let [size, gateRuns] = [0, 0];
    for (let at = 0; at < n; at += 1) {
      const found = await warm.bisect(n, at);
      const problem = bisectProblem(found, at);
      if (problem) console.error(`${n} tasks, the culprit at ${at}: ${problem}`);
      wrong += problem ? 1 : 0;
      bisects += 1;
      [size, gateRuns] = [Math.max(size, found.size), Math.max(gateRuns, found.gateRuns)];
    }
    most.push({ size, gateRuns, atMost: mostRuns(size) });
    if (!json) console.log(`batch of ${size}: at most ${gateRuns} gate runs, of ${mostRuns(size)}`);
  }
  const seconds = (performance.now() - started) / 1000;
  if (json) console.log(JSON.stringify({ bisects, wrong, seconds, most }));
  else console.log(`${bisects} bisects in ${seconds.toFixed(1)} s; violations: ${wrong}`);
  return wrong === 0 ? 0 : 1;
}

type Options = {
  readonly seeds: number;
  readonly from: number;
  /** The largest batch in which one culprit is bisected; 0: histories are played instead. */
  readonly culprits: number;
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
        culprits: { type: "string", default: "0" },
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
    const largest = Number(values.culprits);
    if (!Number.isSafeInteger(largest) || largest < 0 || largest > MAX_CULPRITS)
      return `--culprits must be a whole number up to ${MAX_CULPRITS}, not "${values.culprits}"`;
    return { seeds, from, culprits: largest, json: values.json, log: values.log, help: values.help };
  } catch (error) {
    return `${(error as Error).message}\n\n${HELP}`;
  }
}

type Summary = Pick<Options, "seeds" | "from" | "json"> & {
  readonly seconds: number;
  readonly told: readonly Omit<Told, "log" | "tally">[];
  readonly tally: Tally;
};

function report({ seeds, from, json, seconds, told, tally }: Summary): void {
  const sum = (of: (one: Summary["told"][number]) => number) => told.reduce((all, one) => all + of(one), 0);
  const tasks = sum((one) => one.tasks);
  const gateRuns = sum((one) => one.gateRuns);
  const ends: Record<string, number> = {};
  for (const { how } of told) ends[how] = (ends[how] ?? 0) + 1;
  const violations = told.flatMap(({ seed, violations: all }) => all.map((rule) => ({ seed, rule })));
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, tally.of(kind)]));
  if (json) {
    console.log(JSON.stringify({ seeds, from, tasks, gateRuns, seconds, ends, counts, violations }));
    return;
  }
  const words = Object.entries(ends).map(([how, n]) => `${n} ${how}`);
  console.log(
    `seeds ${from} to ${from + seeds - 1}: ${tasks} tasks, ${gateRuns} gate runs in ${seconds.toFixed(1)} s`,
  );
  console.log(`ends: ${words.join(", ")}`);
  console.log("planted, and what came of it:");
  const width = Math.max(...KINDS.map((kind) => kind.length));
  for (const kind of KINDS) console.log(`  ${kind.padEnd(width)}  ${tally.of(kind)}`);
  console.log(`violations: ${violations.length}`);
}
