/** Talks with an ACP agent for a task: each prompt resumes its session in a new process, or retells the conversation. */
import type { Said } from "../../../ports/agent.ts";
import { taskMessage } from "../../../prompting/task-message.ts";
import type { OpenTalk, TalkPlace, TaskTalk, ToldTask } from "../tasks/talk.ts";
import type { AcpAgent } from "./acp-agent.ts";

export const acpTalks =
  (agent: AcpAgent): OpenTalk =>
  (place, signal) =>
    new AcpTalk(agent, place, signal);

class AcpTalk implements TaskTalk {
  /** A new session knows nothing of its parent's. */
  readonly hasInherited = false;
  readonly #agent: AcpAgent;
  readonly #place: TalkPlace;
  readonly #signal: AbortSignal;
  #session: string | undefined;

  constructor(agent: AcpAgent, place: TalkPlace, signal: AbortSignal) {
    this.#agent = agent;
    this.#place = place;
    this.#signal = signal;
  }

  say({ job, message, conversation }: ToldTask): Promise<Said> {
    const { folder, environment, system, maxMs } = this.#place;
    const input = conversation.at(-1)?.text ?? "";
    const all = taskMessage({ inherited: conversation.slice(0, -1), context: "", responses: [], input });
    const first = this.#session === undefined ? message : all;
    return this.#agent.say(
      {
        ...{ job, folder, environment, maxMs, resumes: this.#session },
        message: [system.trimEnd(), first.trimEnd(), NO_TOOL].join("\n\n"),
        resumedMessage: message,
        onSession: async (session) => {
          this.#session = session;
        },
      },
      this.#signal,
    );
  }
}

/** The tool in the prompt is that of Skein's own agent. */
const NO_TOOL =
  "You have no tool `answer` here: end with your answer as one JSON object, as the last thing that you write. " +
  "Change no file.";
