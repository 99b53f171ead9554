/** Builds the messages of an ACP turn, and records which session a later turn resumes. */
import type { Ask } from "../../../ports/agent.ts";
import type { Prompts } from "../../../ports/prompts.ts";
import { planMessage } from "../../../prompting/plan-message.ts";
import { systemPrompt } from "../../../prompting/system-prompt.ts";
import { resumeMessage, workMessage } from "../../../prompting/work-message.ts";
import { writeDurably } from "../../files/write-whole.ts";
import { conversationUpTo, type Resumed, readRecord, type TurnEntry, turnFiles } from "../turn-files.ts";

/** `resumedMessage`: for an agent that can resume its session. */
type Messages = { readonly message: string; readonly resumedMessage?: string };

type Telling = {
  readonly prompts: Prompts;
  readonly home: string;
  readonly resumed: Resumed | undefined;
};

/** These agents take no system prompt, so the role comes first in the message. */
export async function messagesFor(ask: Ask, { prompts, home, resumed }: Telling): Promise<Messages> {
  const { brief, context } = ask;
  const inherited = context?.inherits && (await conversationUpTo(home, context.inherits));
  const known = {
    ...(inherited && { inherited: { text: retold(inherited) } }),
    // Without the response, which the message holds elsewhere.
    ...(resumed && { asked: retold(resumed.conversation.slice(0, -1)) }),
  };
  const parts = [
    systemPrompt(prompts, ask),
    brief.kind === "plan" ? planMessage(ask, "new") : workMessage(ask, undefined, known),
    ANSWER[brief.kind],
  ];
  return {
    message: parts.map((part) => part.trimEnd()).join("\n\n"),
    ...(resumed && { resumedMessage: `${resumeMessage(ask, false).trimEnd()}\n\n${ANSWER.work}` }),
  };
}

/** The prompts name the tools of Skein's own agent, which an ACP agent does not have. */
const ANSWER = {
  plan:
    "You have no tool `plan` here: end with your plan as one JSON object, as the last thing that you write. " +
    "Change no file.",
  work: "You have no tool `handoff` here: end with your handoff as one JSON object, as the last thing that you write.",
} as const;

function retold(entries: readonly TurnEntry[]): string {
  const text = entries.map(entryText).join("\n\n");
  const left = text.length - MAX_RETOLD_CHARS;
  return left <= 0
    ? text
    : `[${left} characters before this are left out]\n${text.slice(left).toWellFormed()}`;
}

/** About 10,000 tokens. */
const MAX_RETOLD_CHARS = 40_000;

const entryText = (entry: TurnEntry): string => {
  switch (entry.is) {
    case "call":
      return `${entry.words?.trim() ?? ""}\n[You called ${entry.tool}: ${JSON.stringify(entry.input)}]`.trim();
    case "response":
      return `[${entry.name}, ${entry.result.status}] ${entry.result.content}`;
    case "answer":
      return entry.text;
  }
};

/** Names the command as well, because some agents run commands but do not use MCP servers. */
export const callsText = (hasTools: boolean): string =>
  [
    hasTools
      ? "You have two tools of the MCP server `skein`: `spawn_subtask` hands a part of this task to another worker, `ask` " +
        "asks a question."
      : 'You can hand a part of this task to another worker by the command `"$SKEIN" subtask spawn <type> "<what to do>"`, ' +
        'and ask a question by `"$SKEIN" ask "<question>" --default "<answer>"`.',
    "Either ends your turn: after such a call do and say nothing more, and give no handoff. You are prompted again with",
    "the result. Most tasks need neither.",
  ].join(" ");

/** Writes the session's id to disk before the first prompt. If that fails, the next turn retells the conversation. */
export const keepSession = async (home: string, { job, brief }: Ask, session: string): Promise<void> => {
  if (brief.kind !== "work") return;
  await writeDurably(turnFiles(home, job).session, JSON.stringify({ session })).catch(() => {});
};

export async function sessionOf(home: string, { brief }: Ask): Promise<string | undefined> {
  if (brief.kind !== "work" || !brief.goOn) return undefined;
  const kept = await readRecord<{ readonly session?: unknown }>(turnFiles(home, brief.goOn.session).session);
  return typeof kept?.session === "string" ? kept.session : undefined;
}
