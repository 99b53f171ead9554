/** Reads the demo's project, a small almanac, and what its workers write, from the folder `demo` of the package. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ownFile } from "../../compose/project.ts";

export const demoGoal = "Build the almanac that SPEC.md describes, with tests for every part.";

/**
 * What is there before the run begins, by path: specified, hardly begun, and not quite green. Plain JavaScript without
 * dependencies: its tests run wherever Node does, with nothing to install. They run in one process: that takes 110 ms,
 * one process a file 1.7 s.
 */
export const demoProject = (): DemoFiles => filesIn("project");

/** What a worker writes, by path: in `demo/work` each task has a folder, and each worse first try one of its own. */
export const writtenFor = (task: string): DemoFiles => filesIn(path.join("work", task));

type DemoFiles = Readonly<Record<string, string>>;

function filesIn(name: string): DemoFiles {
  const folder = ownFile(path.join("demo", name));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  // The code before its test: in the order of their names.
  return Object.fromEntries(
    paths
      .sort()
      .map((file) => [file.split(path.sep).join("/"), readFileSync(path.join(folder, file), "utf8")]),
  );
}
