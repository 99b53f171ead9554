/** What does a run that follows a plan need besides? A scratchpad, a way to try criteria, and the plan itself. */
import path from "node:path";
import { CommandCriteria } from "../adapters/criteria.ts";
import { FolderOutbox } from "../adapters/outboxes.ts";
import type { Sandbox } from "../adapters/sandboxes/sandbox.ts";
import type { Config } from "../config/schema.ts";
import { type Failure, failure } from "../core/failure.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { FixedPlanner } from "../jobs/job-parts.ts";
import { readValue } from "../planning/files/read-plan.ts";
import { fixedPlanner } from "../planning/to-answer.ts";
import type { Criteria } from "../ports/criteria.ts";
import type { Outbox } from "../ports/outbox.ts";
import type { ProgramLimits, Programs } from "../ports/programs.ts";
import type { RunHome } from "../ports/runs.ts";
import type { Transcripts } from "../ports/transcripts.ts";
import { scratchpadOf } from "./plan-scratchpad.ts";
import type { Environment, Project } from "./project.ts";

type PlanWorld = {
  readonly outbox: Outbox;
  readonly criteria: Criteria;
  /** Instead of whoever else would plan. */
  readonly planner?: FixedPlanner;
  /** Why this run cannot go on. */
  readonly problem?: Failure;
  /** Before anybody is paid: why its gate and its criteria would not be confined as required. */
  readonly unready: () => Promise<Failure | undefined>;
  /** The run is over: its scratchpad is free for others. */
  readonly leave: () => void;
};

type PlanWorldParts = {
  readonly config: Config;
  readonly env: Environment;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: ProgramLimits;
  readonly redact: (text: string) => string;
  readonly sandbox: () => Promise<Sandbox | Failed>;
};

export function planWorld(project: Project, home: RunHome, parts: PlanWorldParts): PlanWorld {
  const { config, env, ...criteria } = parts;
  const { sandbox } = parts;
  const scratchpad = scratchpadOf(project, home, env);
  const planned = plannerOf(home, scratchpad.folder);
  const problem = planned.problem ?? scratchpad.problem;
  return {
    outbox: new FolderOutbox(scratchpad),
    criteria: new CommandCriteria({ ...criteria, scratchpad: scratchpad.folder }),
    ...(planned.planner && { planner: planned.planner }),
    ...(problem && { problem }),
    unready: async () => {
      const isNeeded = config.gateSandbox === "auto" || planned.hasCriteria;
      if (config.sandbox !== "required" || !isNeeded) return undefined;
      const opened = await sandbox();
      return hasFailed(opened) ? opened.failure : undefined;
    },
    leave: scratchpad.leave,
  };
}

type Planned = Pick<PlanWorld, "planner" | "problem"> & { readonly hasCriteria?: boolean };

function plannerOf({ record, folder }: RunHome, scratchpad: string): Planned {
  if (record.plan === undefined) return {};
  const read = readValue(record.plan, { scratchpad });
  if (read.is === "plan")
    return {
      planner: fixedPlanner(read.plan),
      hasCriteria: read.plan.tasks.some(({ success_criterion }) => success_criterion !== undefined),
    };
  const [first] = read.problems;
  const where = path.join(folder, "run.json");
  const what = `${first?.place ?? ""} ${first?.message ?? ""}`.trim();
  const why = `the plan of run ${record.run} cannot be followed: ${where}: ${what}`;
  const next = "use the Skein that made the run, restore the file from a backup, or start a new run";
  return { problem: failure("repository", why, next) };
}
