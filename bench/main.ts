/**
 * Runs the benchmarks by name (`npm run bench -- graph`), all of them without one; `--json` prints one document.
 *
 * `--check [names]` runs short forms, and fails beyond a limit or 1.4 × the best value that `bench/results.json` keeps.
 * `--slips [names]` does the same and only prints what is beyond a limit, which takes a quiet machine to judge.
 * `--keep [names]` runs them whole, and keeps what is better than before.
 */
import { checkBenches } from "./check.ts";
import { contextBench } from "./context.ts";
import { engineBench } from "./engine.ts";
import { fleetBench } from "./fleet.ts";
import { graphBench } from "./graph.ts";
import { readKept, withBetter, writeKept } from "./kept.ts";
import { landingBench } from "./landing.ts";
import { type Bench, type BenchReport, holds, printReport } from "./measure.ts";
import { runBench } from "./run.ts";
import { startupBench } from "./startup.ts";
import { subtasksBench } from "./subtasks.ts";
import { tuiBench } from "./tui.ts";
import { webBench } from "./web.ts";

const BENCHES: readonly Bench[] = [
  graphBench,
  engineBench,
  landingBench,
  runBench,
  startupBench,
  subtasksBench,
  contextBench,
  tuiBench,
  webBench,
  fleetBench,
];

const FLAGS = ["--json", "--check", "--slips", "--keep"];

/** The benches that `--check` runs without a name: about a minute and a half on two idle cores. */
const CHECKED = ["graph", "subtasks", "engine", "startup", "landing"];

type Mode = "show" | "json" | "check" | "slips" | "keep";

const parsed = parse(process.argv.slice(2));
if ("problem" in parsed) {
  console.error(parsed.problem);
  process.exit(2);
}
const { mode, names } = parsed;
const isHeld =
  mode === "check" || mode === "slips"
    ? await checkBenches(
        benchesOf(names, CHECKED),
        { kept: readKept(), onlySlips: mode === "slips" },
        console.log,
      )
    : await measure(names, mode);
process.exitCode = isHeld ? 0 : 1;

/** Returns false if a limit does not hold. */
async function measure(names: readonly string[], mode: Exclude<Mode, "check" | "slips">): Promise<boolean> {
  const reports: Record<string, BenchReport> = {};
  for (const bench of benchesOf(
    names,
    BENCHES.map(({ name }) => name),
  )) {
    console.error(`${bench.name}: measuring, which takes some minutes`); // Stdout may be read by a program.
    const report = await bench.run();
    reports[bench.name] = report;
    if (mode !== "json") printReport(report);
  }
  if (mode === "json") console.log(JSON.stringify(reports, undefined, 2));
  if (mode === "keep") {
    const { kept, better } = withBetter(readKept(), reports, new Date().toISOString().slice(0, 10));
    writeKept(kept);
    console.log(`\n${better} values are better than before`);
  }
  return Object.values(reports).every((report) => report.limits.every(holds));
}

function benchesOf(names: readonly string[], otherwise: readonly string[]): readonly Bench[] {
  const wanted = names.length > 0 ? names : otherwise;
  return BENCHES.filter(({ name }) => wanted.includes(name));
}

function parse(args: readonly string[]): { mode: Mode; names: string[] } | { problem: string } {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const flags = args.filter((arg) => arg.startsWith("-"));
  const known = BENCHES.map((bench) => bench.name);
  const flag = flags.find((arg) => !FLAGS.includes(arg));
  if (flag !== undefined) return { problem: `unknown option ${flag}; there are: ${FLAGS.join(", ")}` };
  if (flags.length > 1) return { problem: `${flags.join(" and ")} do not go together` };
  const name = names.find((candidate) => !known.includes(candidate));
  if (name !== undefined)
    return { problem: `there is no benchmark "${name}"; there are: ${known.join(", ")}` };
  return { mode: (flags[0]?.slice(2) ?? "show") as Mode, names };
}
