/** Reads the demo's project, a small almanac, and its workers' files from the package's `demo` folder. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ownFile } from "../../compose/project.ts";

export const demoGoal = "Build the almanac that SPEC.md describes, with tests for every part.";

/**
 * The project before the run begins, by path: specified, hardly begun, and with one failing test. Plain JavaScript
 * without dependencies, so that its tests run wherever Node does, with nothing to install. The tests run in one
 * process, which takes 110 ms; one process per file takes 1.7 s.
 */
export const demoProject = (): DemoFiles => filesIn("project");

/**
 * The files that a worker writes, by path: `demo/work` has a folder for each task, and one for each faulty first
 * attempt.
 */
export const writtenFor = (task: string): DemoFiles => filesIn(path.join("work", task));

type DemoFiles = Readonly<Record<string, string>>;

function filesIn(name: string): DemoFiles {
  const folder = ownFile(path.join("demo", name));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = files.map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
  // In the order of their names, so that code comes before its test.
  return Object.fromEntries(
    paths
      .sort()
      .map((file) => [file.split(path.sep).join("/"), readFileSync(path.join(folder, file), "utf8")]),
  );
}
