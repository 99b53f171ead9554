/** Runs a subtask outside of any run: by the configured agent, in a temporary folder. */

import type { Config } from "../config/schema.ts";
import type { Failure } from "../core/failure.ts";
import type { JobId } from "../core/job.ts";
import { type Failed, hasFailed } from "../core/result.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { LoneAgent } from "../ports/lone-agent.ts";
import type { Project } from "../ports/project.ts";
import type { HandledTaskResult, TaskInputs } from "../ports/subtasks.ts";
import { type ExecuteTaskOptions, executeTask } from "../subtasks/execute.ts";
import type { Template } from "../subtasks/template.ts";
import { redactFields } from "../text/redact.ts";
import type { LoneParts } from "./lone-agent.ts";

type SubtaskRequest = Pick<ExecuteTaskOptions, "registry" | "ask" | "onEvent"> & {
  readonly config: Config;
  readonly spec: AgentSpec;
  readonly template: Template;
  readonly inputs: TaskInputs;
  /** Whether scripts of loops may run. */
  readonly allowCode: boolean;
  /** Called with lines for people. */
  readonly say: (line: string) => void;
};

type SubtaskParts = Pick<LoneParts, "openAlone" | "specialists" | "filesIn"> & {
  readonly project: Pick<Project, "located">;
};

/** `cause`: why the agent itself failed, if the task failed and that is known. */
export type SubtaskEnd = { readonly result: HandledTaskResult; readonly cause?: Failure };

/** A failure means that nothing was begun. */
export async function runSubtask(
  request: SubtaskRequest,
  parts: SubtaskParts,
  signal: AbortSignal,
): Promise<SubtaskEnd | Failed> {
  const alone = await parts.openAlone(request.config, request.spec);
  if (hasFailed(alone)) return alone;
  try {
    return await runWith(alone, request, parts, signal);
  } finally {
    for (const left of await alone.close()) request.say(`could not be removed: ${left}`);
  }
}

async function runWith(
  alone: LoneAgent,
  { config, template, inputs, allowCode, registry, ask, onEvent }: SubtaskRequest,
  parts: SubtaskParts,
  signal: AbortSignal,
): Promise<SubtaskEnd | Failed> {
  const commit = parts.project.located.head;
  const turnMs = config.timeout.work;
  let failed: Failure | undefined;
  const onFailure = (why: Failure) => {
    failed ??= why;
  };
  const roles = await parts.specialists();
  const handlers = await alone.taskHandlers({ roles, commit, maxMs: turnMs, onFailure });
  if (hasFailed(handlers)) return handlers;
  // Committed files only, as agents see them: nothing uncommitted is sent to a model.
  const shown = await alone.workspaces.take({ job: READER, commit, use: "plan" }, signal);
  if (hasFailed(shown)) return shown;
  const result = await executeTask(template, inputs, {
    ...{ registry, ...(ask && { ask }), ...(onEvent && { onEvent }), ...handlers, signal },
    files: parts.filesIn(shown.folder),
    ...(allowCode ? { runScript: alone.scriptsIn(shown) } : { whyNoScripts: NO_CODE }),
    limits: { turnMs },
    artefacts: alone.artefacts,
  });
  const redacted = redactFields(result, alone.redact);
  return { result: redacted, ...(result.status === "FAILED" && failed && { cause: failed }) };
}

const READER = "task:files#0" as JobId;

const NO_CODE =
  "the template has a script, which is code of the repository and is not run; read it, then allow it: --allow-code";
