/** What went before in a worker's conversation? Its calls and the responses to them, oldest first. */
import type { JobId } from "../../core/job.ts";
import type { ToolResponse } from "../../core/subtask.ts";
import type { Ask, Said } from "../../ports/agent.ts";
import { type GoingOn, type KeptCall, readRecord, turnFiles } from "./turn-files.ts";

export type Entry =
  | ({ readonly is: "call"; readonly attempt: number } & KeptCall)
  | ({ readonly is: "response" } & ToolResponse)
  /** What it answered to a question of its subtask. */
  | { readonly is: "answer"; readonly text: string };

/** `home`: where the turns' files are. Undefined for a worker that begins. */
export async function goingOn(home: string, { brief }: Pick<Ask, "brief">): Promise<Going | undefined> {
  if (brief.kind !== "work" || !brief.goOn) return undefined;
  const { session, response } = brief.goOn;
  const conversation: readonly Entry[] = [
    ...(await conversationUpTo(home, session)),
    { is: "response", ...response },
  ];
  return { response, conversation };
}

export type Going = Pick<GoingOn, "response"> & { readonly conversation: readonly Entry[] };

/** All of it until the end of a job's turn. */
export async function conversationUpTo(home: string, job: JobId): Promise<readonly Entry[]> {
  const files = turnFiles(home, job);
  const before = (await readRecord<readonly Entry[]>(files.conversation)) ?? [];
  const call = await readRecord<KeptCall>(files.called);
  if (call) return [...before, { is: "call", attempt: attemptOf(job), ...call }];
  const said = await readRecord<Said>(files.said);
  return said?.is === "said" ? [...before, { is: "answer", text: said.text }] : before;
}

const attemptOf = (job: JobId): number => Number(/#(\d+)$/.exec(job)?.[1] ?? 1);
