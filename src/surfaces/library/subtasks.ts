/**
 * Runs a program's tasks that delegate, ask and continue, with the program's own handler.
 *
 * ```ts
 * import { executeTask, functionHandler, TemplateRegistry } from "skein-agents/subtasks";
 *
 * const registry = new TemplateRegistry();
 * registry.register({ name: "check", type: "verification", description: "Check a text" });
 * const handler = functionHandler(({ task, responses }) => {
 *   if (task.template === "check") return "no mistakes";
 *   if (responses.length > 0) return `written, and ${responses[0]?.result.content}`;
 *   const subtask_request = { type: "verification", description: "Check it", inputs: { text: "…" } };
 *   return { status: "CONTINUATION", notes: { subtask_request } };
 * });
 * const { content } = await executeTask({ description: "Write a text" }, {}, { handler, registry });
 * console.log(content); // written, and no mistakes
 * ```
 *
 * @module skein-agents/subtasks
 */
export { filesIn } from "../../compose/agents.ts";
export type { Failure } from "../../core/failure.ts";
export type { Failed } from "../../core/result.ts";
export type { Clock } from "../../ports/clock.ts";
export type {
  Artefacts,
  AssembledContext,
  ContextEntry,
  ContextFiles,
  ContextNotes,
  ContextSettings,
  FailureDetails,
  FailureReason,
  FileChange,
  FileSource,
  HandledTaskResult as TaskResult,
  Iteration,
  ReturnStatus,
  ScriptOutcome,
  ScriptRunner,
  SpawnedTask,
  TaskError,
  TaskHandler,
  TaskInputs,
  TaskNotes,
} from "../../ports/subtasks.ts";
export { MemoryArtefacts } from "../../subtasks/artefacts.ts";
export { AssociativeFiles } from "../../subtasks/associative-files.ts";
export {
  type Canonical as CanonicalText,
  canonicalJson,
  type Identity as SubtaskIdentity,
  signatureOf,
} from "../../subtasks/canonical.ts";
export { type ExecuteTaskOptions as ExecuteOptions, executeTask } from "../../subtasks/execute.ts";
export {
  type Checked as CheckedResult,
  checkExpectation,
  type Expectation,
  NAMED_FORMATS,
} from "../../subtasks/expectations.ts";
export {
  type FunctionResponse as ToolResponse,
  type FunctionTurn,
  functionHandler,
  type Session as FunctionSession,
  type TurnAnswer,
} from "../../subtasks/function-handler.ts";
export {
  type Allowance,
  DEFAULT_LIMITS,
  type SomeLimits,
  type SubtaskLimits,
} from "../../subtasks/limits.ts";
export type {
  QuestionAnswer,
  SubtaskEvent,
  TaskQuestion as Question,
} from "../../subtasks/live-task.ts";
export { DEFAULT_ITERATIONS } from "../../subtasks/loop.ts";
export {
  MATCH_WEIGHTS,
  type Registered,
  type TemplateMatch,
  TemplateRegistry,
  type TemplateWish,
} from "../../subtasks/registry.ts";
export { type ReadRequest, readRequest, type SubtaskRequest } from "../../subtasks/request.ts";
export {
  type ContextManagement,
  DEFAULT_SETTINGS,
  EXCLUSIVITY_RULE,
  type SettledContext,
  settingsOf,
} from "../../subtasks/settings.ts";
export {
  type ReadTemplate,
  readTemplate,
  type TaskRef,
  type TaskTemplate,
  type Template as NamedTemplate,
  type TemplateInput,
} from "../../subtasks/template.ts";
export { readTemplateXml } from "../../subtasks/template-xml.ts";
