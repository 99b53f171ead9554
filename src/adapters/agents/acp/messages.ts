/** What is an agent told in a turn, and which session does it go on with? */
import type { Ask } from "../../../ports/agent.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import { planMessage } from "../../../prompting/plan-message.ts";
import { systemPrompt } from "../../../prompting/system-prompt.ts";
import { goOnMessage, workMessage } from "../../../prompting/work-message.ts";
import { writeDurably } from "../../files/write-whole.ts";
import { conversationUpTo, type Going } from "../conversation.ts";
import { readRecord, turnFiles } from "../turn-files.ts";
import { retold } from "./going-on.ts";

/** `goOnMessage`: for an agent that can go on with its session. */
export type Messages = { readonly message: string; readonly goOnMessage?: string };

type Telling = {
  readonly prompts: Prompts;
  /** Where the turns' files are. */
  readonly home: string;
  readonly goesOn: Going | undefined;
};

/** An agent of its own has no place for a system prompt: the role comes first in the message. */
export async function messagesFor(ask: Ask, { prompts, home, goesOn }: Telling): Promise<Messages> {
  const { brief, context } = ask;
  const isGoingOn = brief.kind === "work" && brief.goOn !== undefined;
  const inherited = context?.inherits && (await conversationUpTo(home, context.inherits));
  const known = {
    ...(inherited && { inherited: { text: retold(inherited) } }),
    // Without the response, which has a place of its own.
    ...(goesOn && { asked: retold(goesOn.conversation.slice(0, -1)) }),
  };
  const parts = [
    systemPrompt(prompts, ask),
    brief.kind === "plan" ? planMessage(ask, "new") : workMessage(ask, undefined, known),
    ANSWER[brief.kind],
  ];
  const message = parts.map((part) => part.trimEnd()).join("\n\n");
  return {
    message,
    ...(isGoingOn && { goOnMessage: `${goOnMessage(ask, false).trimEnd()}\n\n${ANSWER.work}` }),
  };
}

/** The tools that the prompts speak of are those of Skein's own agent. */
const ANSWER = {
  plan:
    "You have no tool `plan` here: end with your plan as one JSON object, as the last thing that you write. " +
    "Change no file.",
  work: "You have no tool `handoff` here: end with your handoff as one JSON object, as the last thing that you write.",
} as const;

/** On the disk before anything is said in it. One that cannot be kept is retold. */
export const keepSession = async (home: string, { job, brief }: Ask, session: string): Promise<void> => {
  if (brief.kind !== "work") return;
  await writeDurably(turnFiles(home, job).session, JSON.stringify({ session })).catch(() => {});
};

export async function sessionOf(home: string, { brief }: Ask): Promise<{ readonly goesOn?: string }> {
  if (brief.kind !== "work" || !brief.goOn) return {};
  const kept = await readRecord<{ readonly session?: unknown }>(turnFiles(home, brief.goOn.session).session);
  return typeof kept?.session === "string" ? { goesOn: kept.session } : {};
}
