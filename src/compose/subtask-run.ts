/** How is a task run outside of a run? By the configured agent, in a place of its own, of which nothing stays. */
import { systemClock } from "../adapters/clocks/system.ts";
import { secretsFor } from "../config/accounts.ts";
import { toPolicy } from "../config/to-policy.ts";
import { type Failure, failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { HandledTaskResult, TaskInputs } from "../ports/subtasks.ts";
import { type ExecuteTaskOptions, executeTask } from "../subtasks/execute.ts";
import type { Template } from "../subtasks/template.ts";
import { redactFields, redactor } from "../text/redact.ts";
import { specialistsOf } from "./agent-parts.ts";
import { type LoneAgent, loneParts, loneWorkspaces } from "./lone-agent.ts";
import { loneGovernor } from "./plan-by-agent-governor.ts";
import { openPlanningPlace, type PlanningPlace } from "./plan-by-agent-place.ts";
import type { Project } from "./project.ts";
import { handlersOf } from "./subtask-handlers.ts";
import { scriptsIn } from "./subtask-scripts.ts";
import { filesIn } from "./subtasks.ts";

type WantedTask = LoneAgent &
  Pick<ExecuteTaskOptions, "registry" | "ask" | "onEvent"> & {
    readonly template: Template;
    readonly inputs: TaskInputs;
    /** Scripts of loops are run. */
    readonly allowCode: boolean;
  };

/** `cause`: what was wrong with the agent itself, if the task failed and something was. */
export type TaskEnd = { readonly result: HandledTaskResult; readonly cause?: Failure };

/** A failure means that nothing was begun. `say`: lines for people. */
export async function runTask(
  project: Project,
  wanted: WantedTask,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<TaskEnd | Failed> {
  const place = await openPlanningPlace(project.stateFolder);
  if (hasFailed(place)) return place;
  try {
    return await runAt(place, project, wanted, signal);
  } finally {
    for (const left of await place.close()) say(`could not be removed: ${left}`);
  }
}

async function runAt(
  place: PlanningPlace,
  project: Project,
  wanted: WantedTask,
  signal: AbortSignal,
): Promise<TaskEnd | Failed> {
  const { config, env, spec, template, inputs, allowCode, ...options } = wanted;
  const { top, head } = project.located;
  const governor = loneGovernor(systemClock(), toPolicy(config));
  const secrets = secretsFor(config, env);
  const parts = loneParts(project, wanted, place, { governor, secrets });
  const workspaces = loneWorkspaces(place, top, wanted);
  let failed: Failure | undefined;
  const handlers = await handlersOf(spec, parts, {
    ...{ workspaces, commit: head, maxMs: config.timeout.work },
    roles: await specialistsOf(top)(),
    onFailure: (why) => {
      failed ??= why;
    },
  });
  if (hasFailed(handlers)) return handlers;
  // What is committed, as agents see it: of the checkout itself nothing is sent to a model.
  const shown = await workspaces.take({ job: READER, commit: head, use: "plan" }, signal);
  if (hasFailed(shown)) return shown;
  const result = await executeTask(template, inputs, {
    ...options,
    ...handlers,
    files: filesIn(shown.folder),
    runScript: allowCode ? scriptsIn(shown, parts) : async () => ({ failure: NO_CODE }),
    limits: { turnMs: config.timeout.work },
    signal,
  });
  const redacted = redactFields(result, redactor(secrets));
  return { result: redacted, ...(result.status === "FAILED" && failed && { cause: failed }) };
}

const READER = "task:files#0" as JobId;

const NO_CODE = failure(
  "policy",
  "the template has a script, which is code of the repository and is not run",
  "read it, then allow it: --allow-code",
);
