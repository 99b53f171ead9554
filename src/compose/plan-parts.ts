/** What does a run that follows a plan need besides? A scratchpad, a way to try criteria, and the plan itself. */
import { lstatSync, mkdirSync, readlinkSync, realpathSync, symlinkSync } from "node:fs";
import path from "node:path";
import { CommandCriteria } from "../adapters/criteria/command.ts";
import { FolderOutbox } from "../adapters/outboxes/folder.ts";
import type { Sandbox } from "../adapters/sandboxes/sandbox.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure, messageOf } from "../core/failure.ts";
import type { FixedPlanner } from "../jobs/job-parts.ts";
import { readValue } from "../planning/read-plan.ts";
import { fixedPlanner } from "../planning/to-answer.ts";
import type { Criteria } from "../ports/criteria.ts";
import type { Outbox } from "../ports/outbox.ts";
import type { ProgramLimits, Programs } from "../ports/programs.ts";
import type { Failed } from "../ports/repository.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Transcripts } from "../ports/transcripts.ts";
import type { Environment, Project } from "./project.ts";

export type PlanWorld = {
  readonly outbox: Outbox;
  readonly criteria: Criteria;
  /** Instead of whoever else would plan. */
  readonly planner?: FixedPlanner;
  /** Why this run cannot go on. */
  readonly problem?: Failure;
};

export type PlanWorldParts = {
  readonly config: Config;
  readonly env: Environment;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: ProgramLimits;
  readonly redact: (text: string) => string;
};

export function planWorld(project: Project, home: RunHome, parts: PlanWorldParts): PlanWorld {
  const { config, env, ...criteria } = parts;
  const scratchpad = scratchpadOf(project, home, env);
  const planned = plannerOf(home, scratchpad.folder);
  const problem = planned.problem ?? scratchpad.problem;
  const sandbox = () => sandboxOf(project, config, env);
  return {
    outbox: new FolderOutbox(scratchpad),
    criteria: new CommandCriteria({ ...criteria, scratchpad: scratchpad.folder, sandbox }),
    ...(planned.planner && { planner: planned.planner }),
    ...(problem && { problem }),
  };
}

function plannerOf({ record, folder }: RunHome, scratchpad: string): Pick<PlanWorld, "planner" | "problem"> {
  if (record.plan === undefined) return {};
  const read = readValue(record.plan, { scratchpad });
  if (read.is === "plan") return { planner: fixedPlanner(read.plan) };
  const [first] = read.problems;
  const where = path.join(folder, "run.json");
  const what = `${first?.place ?? ""} ${first?.message ?? ""}`.trim();
  const why = `the plan of run ${record.run} cannot be followed: ${where}: ${what}`;
  return { problem: failure("repository", why, "restore the file from a backup, or start a new run") };
}

type Scratchpad = { readonly folder: string; readonly problem?: Failure };

/**
 * The folder that CLAUDE_SCRATCHPAD_DIR names, if it is set when the run first follows its plan; a link in the run's
 * own folder keeps it, because whoever resumes a run may have another.
 */
function scratchpadOf(project: Project, home: RunHome, env: Environment): Scratchpad {
  const own = path.join(home.folder, "scratchpad");
  const wanted = env[VARIABLE];
  if (home.record.plan === undefined) return { folder: own };
  try {
    const kept = lstatSync(own, { throwIfNoEntry: false });
    if (kept) return { folder: kept.isSymbolicLink() ? readlinkSync(own) : own };
    if (!wanted) return { folder: own };
    if (!path.isAbsolute(wanted))
      return unfit(own, `is ${JSON.stringify(wanted)}, which is no absolute path`);
    mkdirSync(wanted, { recursive: true, mode: 0o700 });
    const folder = realpathSync(wanted);
    const why = wrongWith(folder, [env["HOME"] ?? "", project.located.top, project.stateFolder]);
    if (why !== undefined) return unfit(own, why);
    symlinkSync(folder, own);
    return { folder };
  } catch (error) {
    const why = `the scratchpad ${wanted ?? own} cannot be used: ${messageOf(error)}`;
    return { folder: own, problem: failure("policy", why, NEXT) };
  }
}

const VARIABLE = "CLAUDE_SCRATCHPAD_DIR";
const NEXT = `set ${VARIABLE} to a folder of its own, or unset it: then the run has one`;

const unfit = (folder: string, why: string): Scratchpad => ({
  folder,
  problem: failure("policy", `${VARIABLE} ${why}`, NEXT),
});

/** Agents read all that is in a scratchpad, and its path stands in what they answer. */
function wrongWith(folder: string, guarded: readonly string[]): string | undefined {
  if (/[\p{Cc}|]/u.test(folder)) return "holds characters that no path in an answer can have";
  const above = folder.endsWith("/") ? folder : `${folder}/`;
  const held = guarded.find((one) => one !== "" && `${realOr(one)}/`.startsWith(above));
  return held === undefined ? undefined : `is ${folder}, which holds ${held}: agents would read that`;
}

function realOr(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder); // It is not there yet.
  }
}

/** As for the commands of the built-in agent. */
async function sandboxOf(project: Project, config: Config, env: Environment): Promise<Sandbox | Failed> {
  const { located, stateFolder } = project;
  try {
    const { sandboxFor } = await import("./sandbox.ts");
    return await sandboxFor({ config, env, top: located.top, gitDir: located.gitDir, stateFolder });
  } catch (error) {
    return { failure: failure("repository", `the sandbox could not be opened: ${messageOf(error)}`) };
  }
}
