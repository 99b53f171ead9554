/** Who talks for tasks? An agent, as itself or in the role of a specialist that a template names. */
import type { Specialist } from "../../../core/specialist.ts";
import type { TaskHandler, TaskHandlers } from "../../../ports/subtasks.ts";
import { withSpeciality } from "../../../prompting/system-prompt.ts";
import { type AgentHandlerParts, agentHandler } from "./agent-handler.ts";
import type { OpenTalk } from "./talk.ts";

type HandlersParts = Omit<AgentHandlerParts, "openTalk" | "system"> & {
  /** `model`: that a role asks for, which only the built-in agent can heed. */
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
