/** Makes a run in which all names and texts of models are hostile, and its report. */

import type { TaskId } from "../../src/core/task.ts";
import { runReport } from "../../src/core/view/report.ts";
import { nothingSeen, see, viewOf } from "../../src/core/view/view.ts";
import { reportOf } from "../../src/surfaces/cli/render/report.ts";
import { CoreRun, task } from "./core-run.ts";

/** HTML, a script, ANSI and OSC escapes, links and pictures, bidirectional marks, and a line of a megabyte. */
export const HOSTILE = [
  "</title></style></svg><script>alert(1)</script><img src=x onerror=alert(1)>",
  "\u001b[2J\u001b]8;;https://example.invalid\u0007here\u001b]8;;\u0007\u009b31m",
  "![x](https://example.invalid/p.png) [y](javascript:alert(1)) `code` | a **b** <b>",
  "\u202egnp.exe\u2066\u200f\u2028\n# a heading\n```",
  "m".repeat(1_000_000),
];

export function hostileRun(text: string): CoreRun {
  const [named, file] = [`n ${text}`, `f ${text}.ts`];
  const tasks = [task("a", { scope: [file] }), task("b", { scope: [file] }), task("c", { after: ["b"] })];
  const run = CoreRun.planned(tasks, { overlap: "allow" });
  for (const { spec } of run.state.tasks.values())
    if (spec.key !== "") Object.assign(spec, { key: `${named} ${spec.key}` });
  run.now = 10_000;
  run.work("t.1", { concerns: [text], filesChanged: [file] });
  run.land();
  run.now = 20_000;
  run.work("t.2", { filesChanged: [file] });
  run.land([{ task: "t.2" as TaskId, files: [file], against: "target" }]);
  for (let n = 0; n < 4 && run.running("work").length > 0; n += 1)
    run.fail("work", "t.2", "agent-failed", text);
  return run;
}

export function sectionsOf(run: CoreRun) {
  const seen = run.log.reduce(see, nothingSeen());
  // Names are changed in the state and not in the log, because a planner's names are checked when they are read.
  Object.assign(seen, { state: run.state });
  const view = viewOf(seen);
  const report = runReport(seen);
  const around = { target: "skein/r/target", command: "skein", bring: { is: "refused" }, report } as const;
  const sections = reportOf(view, around);
  return { view, report, sections };
}
