/** Runs the benchmarks by name (`npm run bench -- graph`), all of them without one; `--json` prints one document. */
import { contextBench } from "./context.ts";
import { engineBench } from "./engine.ts";
import { fleetBench } from "./fleet.ts";
import { graphBench } from "./graph.ts";
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

const { names, isJson, problem } = parse(process.argv.slice(2));
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}
const reports: Record<string, BenchReport> = {};
for (const bench of BENCHES) {
  if (names.length > 0 && !names.includes(bench.name)) continue;
  console.error(`${bench.name}: measuring, which takes some minutes`); // Not on stdout, which may be for a machine.
  const report = await bench.run();
  reports[bench.name] = report;
  if (!isJson) printReport(report);
}
if (isJson) console.log(JSON.stringify(reports, undefined, 2));
const areMet = Object.values(reports).every((report) => report.limits.every(holds));
process.exitCode = areMet ? 0 : 1;

function parse(args: readonly string[]): { names: string[]; isJson: boolean; problem?: string } {
  const names = args.filter((arg) => !arg.startsWith("-"));
  const known = BENCHES.map((bench) => bench.name);
  const flag = args.find((arg) => arg.startsWith("-") && arg !== "--json");
  const name = names.find((candidate) => !known.includes(candidate));
  const isJson = args.includes("--json");
  if (flag !== undefined) return { names, isJson, problem: `unknown option ${flag}; there is --json` };
  if (name !== undefined) {
    return { names, isJson, problem: `there is no benchmark "${name}"; there are: ${known.join(", ")}` };
  }
  return { names, isJson };
}
