/** Makes task handlers from agents: as themselves, or in the role of a specialist that a template names. */

import type { Failure } from "../../../core/failure.ts";
import type { JobId } from "../../../core/job.ts";
import { hasFailed } from "../../../core/result.ts";
import type { Specialist } from "../../../core/specialist.ts";
import type { Said } from "../../../ports/agent.ts";
import type {
  AssembledContext,
  ContextEntry,
  FailureReason,
  HandledTaskResult,
  SpawnedTask,
  TaskError,
  TaskHandler,
  TaskHandlers,
} from "../../../ports/subtasks.ts";
import type { Workspace, Workspaces } from "../../../ports/workspaces.ts";
import { withSpeciality } from "../../../prompting/system-prompt.ts";
import {
  readTaskAnswer,
  responseText,
  type SessionResponse,
  taskMessage,
} from "../../../prompting/task-message.ts";
import type { OpenTalk, TaskTalk } from "./talk.ts";

type HandlersParts = Omit<AgentHandlerParts, "openTalk" | "system"> & {
  /** `model`: the model that a role asks for; only the built-in agent can use it. */
  readonly talks: (model: string | undefined) => OpenTalk;
  readonly prompt: string;
  readonly roles: readonly Specialist[];
};

export function taskHandlers({ talks, prompt, roles, ...rest }: HandlersParts): TaskHandlers {
  const as = (role?: Specialist) => {
    const system = withSpeciality(prompt, role);
    return agentHandler({ ...rest, system, openTalk: talks(role?.model) }) as TaskHandler;
  };
  return { handler: as(), handlers: Object.fromEntries(roles.map((role) => [role.name, as(role)])) };
}

/** Handles tasks by an agent: each has its own workspace and conversation, and answers are read as results. */
type AgentHandlerParts = {
  readonly openTalk: OpenTalk;
  readonly workspaces: Pick<Workspaces, "take" | "release">;
  /** The commit that workspaces begin with. Changes there are thrown away. */
  readonly commit: string;
  readonly system: string;
  readonly maxMs: number;
  readonly onFailure: (why: Failure) => void;
};

type TaskSession = {
  readonly task: SpawnedTask;
  readonly context: AssembledContext;
  readonly talk: TaskTalk;
  /** What the session was given and has said, as the engine counts it. */
  readonly entries: ContextEntry[];
  /** The responses since the last prompt. */
  responses: SessionResponse[];
  turns: number;
  saying: Promise<unknown>;
};

function agentHandler(parts: AgentHandlerParts): TaskHandler<TaskSession> {
  return {
    open: (task, context, signal) => openSession(parts, task, context, signal),
    prompt: (session, input) => prompt(parts, session, input),
    addToolResponse(session, name, result) {
      const response = { name, result };
      session.responses.push(response);
      session.entries.push({ is: "tool", name, text: responseText(response) });
    },
  };
}

async function openSession(
  parts: AgentHandlerParts,
  task: SpawnedTask,
  context: AssembledContext,
  signal: AbortSignal,
): Promise<TaskSession> {
  const { openTalk, workspaces, commit, system, maxMs, onFailure } = parts;
  const job = jobOf(task, 0);
  const workspace = await workspaces.take({ job, commit, use: "plan" }, signal);
  if (hasFailed(workspace)) {
    onFailure(workspace.failure);
    throw new Error(workspace.failure.message); // The engine treats the error as a failure of the task.
  }
  const { folder, environment } = workspace;
  const from = (context.parentSession as TaskSession | undefined)?.talk;
  const inherits = from && { from, entries: context.inherited.length };
  const talk = openTalk({ job, task, folder, environment, system, maxMs, inherits }, signal);
  const entries: ContextEntry[] = [...context.inherited];
  if (context.text !== "") entries.push({ is: "context", text: context.text });
  const session: TaskSession = {
    ...{ task, context, talk, entries, responses: [], turns: 0 },
    saying: Promise.resolve(),
  };
  const leave = () => void release(workspaces, workspace, session);
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  return session;
}

/** Releases the workspace after the session's current turn has ended. */
async function release(
  workspaces: Pick<Workspaces, "release">,
  workspace: Workspace,
  session: TaskSession,
): Promise<void> {
  await session.saying;
  await workspaces.release(workspace);
}

/** Files and transcripts are named by the turn. */
const jobOf = ({ id }: SpawnedTask, turn: number): JobId => `task:${id}#${turn}` as JobId;

async function prompt(
  parts: AgentHandlerParts,
  session: TaskSession,
  input: string,
): Promise<HandledTaskResult> {
  const { task, context, talk, entries, responses } = session;
  const isFirst = session.turns === 0;
  session.turns += 1;
  session.responses = [];
  entries.push({ is: "input", text: input });
  const message = taskMessage({
    inherited: isFirst && !talk.hasInherited ? context.inherited : [],
    context: isFirst ? context.text : "",
    responses,
    input,
  });
  const saying = talk.say({ job: jobOf(task, session.turns), message, conversation: [...entries] });
  session.saying = saying;
  const said = await saying;
  if (said.is === "failed") parts.onFailure(said.failure);
  const result = resultOf(said);
  entries.push({ is: "answer", text: result.content });
  return result;
}

function resultOf(said: Said): HandledTaskResult {
  const usage = said.spent?.tokens === undefined ? {} : { usage: { tokens: said.spent.tokens } };
  if (said.is === "said") {
    const result = readTaskAnswer(said.text);
    return { ...result, notes: { ...result.notes, ...usage } };
  }
  return { content: "", status: "FAILED", notes: { error: errorOf(said.failure), ...usage } };
}

const REASONS: Partial<Record<Failure["kind"], FailureReason>> = {
  "timed-out": "execution_timeout",
  interrupted: "execution_halted",
  cancelled: "execution_halted",
};

const errorOf = ({ kind, message, next }: Failure): TaskError => ({
  type: "TASK_FAILURE",
  reason: REASONS[kind] ?? "unexpected_error",
  message,
  details: { kind, ...(next !== undefined && { next }) },
});
