/** Finds the run that a command is for: the named one, else one that fits the command; refuses if there is none. */
import path from "node:path";
import { type Failure, failure } from "../core/failure.ts";
import { hasFailed } from "../core/result.ts";
import type { TaskId } from "../core/task.ts";
import { findTask } from "../core/view/view.ts";
import type { Project } from "../ports/project.ts";
import type { RunHome } from "../ports/runs.ts";
import { quoted } from "../text/words.ts";
import { misused, type Refused, refused } from "./refused.ts";
import { runsWhere, type SeenRun, seeRun, underWay } from "./see-run.ts";

export async function findRun(run: string, project: Project): Promise<RunHome | Refused> {
  const { runs } = project;
  const home = await runs.open(run);
  if (!hasFailed(home)) return home;
  const isBroken = (await runs.list()).some((entry) => entry.run === run);
  const moved = isBroken ? undefined : await movedHere(project, run);
  if (moved) return refused("repository", moved);
  // An unknown name is a typing error; a run that cannot be read is not.
  return refused(isBroken ? "repository" : "unknown-run", home.failure);
}

/** Finds runs that began when the repository was elsewhere; with `run`, only one with that name. */
export async function movedHere(project: Project, run?: string): Promise<Failure | undefined> {
  const all = await project.movedRuns();
  const moved = run === undefined ? all[0] : all.find(({ runs }) => runs.includes(run));
  if (!moved) return undefined;
  const { from, folder, runs } = moved;
  const [old, here] = [path.join(folder, "runs"), path.join(project.stateFolder, "runs")];
  const what = run === undefined ? `${runs.slice(0, 5).join(", ")}: they were` : `run ${run}: it was`;
  return failure(
    "repository",
    `this repository was moved, and its state folder does not know ${what} begun when it was in ${from}`,
    `move it back; or bring them along: mkdir -p ${quoted(here)} && mv ${quoted(old)}/${run ?? "*"} ${quoted(here)}/`,
  );
}

export async function findSeen(run: string, project: Project): Promise<SeenRun | Refused> {
  const home = await findRun(run, project);
  return hasFailed(home) ? home : seeRun(home);
}

/** The id of the task with this name or id. */
export function taskIn({ home, seen }: SeenRun, said: string): TaskId | Refused {
  const task = findTask(seen.state, said);
  if (typeof task === "string") return task;
  const names = task.several.slice(0, 5).map(({ name }) => name);
  const message =
    names.length === 0
      ? `there is no task ${JSON.stringify(said)}`
      : `several tasks are called ${said}: ${names.join(", ")}`;
  return misused(message, `skein show ${home.record.run} lists them`);
}

/** The named run; else the only open one; else the newest. */
export async function runToShow(run: string | undefined, project: Project): Promise<SeenRun | Refused> {
  if (run !== undefined) return findSeen(run, project);
  const all = await runsWhere(project.runs);
  const [open, ...others] = all.filter(({ seen }) => seen.state.closed === undefined);
  const meant = open !== undefined && others.length === 0 ? open : all[0];
  return (
    meant ??
    misused("there is no run in this repository", "`skein status` lists the runs; `skein run` starts one")
  );
}

/** The named run, else the only open one, even if no process drives it: a command can be left for it. */
export async function runToTell(run: string | undefined, project: Project): Promise<SeenRun | Refused> {
  if (run !== undefined) return findSeen(run, project);
  const open = await runsWhere(project.runs, isOpen);
  const [one, ...others] = open;
  if (one === undefined) return misused("there is no open run", "`skein status` lists the runs");
  if (others.length === 0) return one;
  return misused(`several runs are open: ${namesOf(open)}`, "name one of them");
}

/** The named run, else the only one that a process drives; undefined if there is none. */
export async function runToStop(
  run: string | undefined,
  project: Project,
): Promise<RunHome | Refused | undefined> {
  if (run !== undefined) return findRun(run, project);
  const going = await runsWhere(project.runs, async ({ home }) => (await home.owner()) !== undefined);
  if (going.length <= 1) return going[0]?.home;
  return misused(`several runs are running: ${namesOf(going)}`, "name the one to stop");
}

/** `others`: other runs that could be resumed. */
type RunToResume = SeenRun & { readonly others: readonly string[] };

/** The named run; else the newest open one that no process drives; else the only paused one. */
export async function runToResume(run: string | undefined, project: Project): Promise<RunToResume | Refused> {
  if (run !== undefined) {
    const found = await findSeen(run, project);
    return hasFailed(found) ? found : { ...found, others: [] };
  }
  const open = await runsWhere(project.runs, isOpen);
  const owners = await Promise.all(open.map(({ home }) => home.owner()));
  const [newest, ...others] = open.filter((_, i) => owners[i] === undefined);
  if (newest) return { ...newest, others: others.map(({ home }) => home.record.run) };
  const [paused, ...more] = open.filter(({ seen }) => seen.state.paused);
  if (paused && more.length === 0) return { ...paused, others: [] }; // The user means to end its pause.
  const [first] = open;
  if (first && owners[0]) return underWay(first.home.record.run, owners[0]);
  const moved = await movedHere(project);
  if (moved) return refused("repository", moved);
  return misused("there is no run to resume", "`skein status` lists the runs; `skein run` starts one");
}

const isOpen = ({ seen }: SeenRun): boolean => seen.state.closed === undefined;

const namesOf = (runs: readonly SeenRun[]): string => runs.map(({ home }) => home.record.run).join(", ");
