/** How does any program talk for a task? Each turn starts it again, with the whole conversation so far as its brief. */
import type { CommandAgent } from "../command.ts";
import type { OpenTalk } from "./talk.ts";

export const commandTalks =
  (agent: CommandAgent): OpenTalk =>
  ({ task, folder, environment, system, maxMs }, signal) => ({
    hasInherited: true, // It is in the conversation.
    say: ({ job, conversation }) =>
      agent.tell(
        {
          ...{ job, folder, environment, maxMs, kind: "task" },
          brief: { kind: "task", task, prompt: system, conversation },
          variables: { SKEIN_KIND: "task", SKEIN_TASK: task.id },
        },
        signal,
      ),
  });
