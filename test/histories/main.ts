/** `npm run histories -- --seeds N --from S`: plays that many histories in real git and says what was seen. */
import { parseArgs } from "node:util";
import { type Told, tellAll } from "./history.ts";
import { KINDS, Tally } from "./tally.ts";

const HELP = `Lands the tasks of random histories in real repositories, one a seed, and checks with git what became of them.

  npm run histories -- --seeds 200            seeds 1 to 200
  npm run histories -- --seeds 1 --from 37    one seed, for instance one that failed
  npm run histories -- --seeds 1 --from 37 --log    and its events, one a line
  npm run histories -- --json                 the summary for machines

Exit: 0 no rule was broken, 1 one was, 2 usage.`;

/** Two wait for git while a third thinks. */
const AT_ONCE = 3;

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
    return { seeds, from, json: values.json, log: values.log, help: values.help };
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
