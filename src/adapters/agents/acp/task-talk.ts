/** Talks with an ACP agent for a task: each prompt resumes its session in a new process, or retells the conversation. */
import { taskMessage } from "../../../prompting/task-message.ts";
import type { OpenTalk } from "../tasks/talk.ts";
import type { AcpAgent } from "./acp-agent.ts";

export const acpTalks =
  (agent: AcpAgent): OpenTalk =>
  ({ folder, environment, system, maxMs }, signal) => {
    let known: string | undefined;
    return {
      hasInherited: false, // A new session knows nothing of its parent's.
      say: ({ job, message, conversation }) => {
        const input = conversation.at(-1)?.text ?? "";
        const all = taskMessage({ inherited: conversation.slice(0, -1), context: "", responses: [], input });
        const first = known === undefined ? message : all;
        return agent.say(
          {
            ...{ job, folder, environment, maxMs, resumes: known },
            message: [system.trimEnd(), first.trimEnd(), NO_TOOL].join("\n\n"),
            resumedMessage: message,
            onSession: async (session) => {
              known = session;
            },
          },
          signal,
        );
      },
    };
  };

/** The tool in the prompt is that of Skein's own agent. */
const NO_TOOL =
  "You have no tool `answer` here: end with your answer as one JSON object, as the last thing that you write. " +
  "Change no file.";
