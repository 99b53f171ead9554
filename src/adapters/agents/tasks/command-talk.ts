/** Talks with a program for a task: each turn starts it anew, with the whole conversation in its brief. */
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
