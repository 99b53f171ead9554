/** Takes the call that ends a worker's turn: keeps it on disk, and gives the agent a while to end by itself. */
import type { Program, ProgramLimits, Programs } from "../../ports/programs.ts";
import type { Transcripts } from "../../ports/transcripts.ts";
import { redactFields } from "../../text/redact.ts";
import type { CallDesk, CallPlace } from "../call-desk/desk.ts";
import { CALL_TOKEN, CALL_URL } from "../call-desk/send.ts";
import type { Call } from "../call-desk/tools.ts";
import { writeDurably } from "../files/write-whole.ts";
import type { KeptCall, TurnFiles } from "./turn-files.ts";

/** Where calls go, and the program that a worker starts to make one: this very Skein. */
export type CallDoor = { readonly desk: CallDesk; readonly skein: () => Promise<string> };

export type ProgramAgentOptions = {
  /** No shell reads it, and nothing of a brief is added to it: everyone on a machine can see arguments. */
  readonly command: readonly [string, ...string[]];
  /** Where each job gets a folder; it must outlive this process. */
  readonly folder: string;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: Omit<ProgramLimits, "maxMs">;
  readonly redact: (text: string) => string;
  /** Where workers can call for subtasks and ask; without it they cannot. */
  readonly calls?: CallDoor;
  /** How long it may take to end its turn after a call. */
  readonly graceMs?: number;
};

export type JobCalls = {
  /** Undefined: this job cannot call. */
  readonly place: (CallPlace & { readonly skein: string }) | undefined;
  readonly call: () => Call | undefined;
  /** Aborted when the time to end after the call is over. */
  readonly late: AbortSignal;
  readonly close: () => void;
};

type CallParts = {
  readonly files: Pick<TurnFiles, "called">;
  /** How long the agent may take to end its turn after the call. */
  readonly graceMs: number;
  readonly redact: (text: string) => string;
  /** The agent's last words, where they are known. */
  readonly words?: () => string;
};

/** If the machine has no port left, the worker works without calls. */
export async function openCalls(door: CallDoor | undefined, parts: CallParts): Promise<JobCalls> {
  const { files, graceMs, redact, words } = parts;
  const late = new AbortController();
  let call: Call | undefined;
  let timer: NodeJS.Timeout | undefined;
  const take = async ({ tool, input }: Call): Promise<void> => {
    const taken = { tool, input: redactFields(input, redact) };
    const kept: KeptCall = { ...taken, ...(words && { words: redact(words()) }) };
    await writeDurably(files.called, JSON.stringify(kept));
    call = taken;
    timer = setTimeout(() => late.abort(), graceMs);
  };
  const place = door && (await openPlace(door, take).catch(() => undefined));
  const close = () => {
    clearTimeout(timer);
    place?.close();
  };
  return { place, call: () => call, late: late.signal, close };
}

async function openPlace({ desk, skein }: CallDoor, take: (call: Call) => Promise<void>) {
  const started = await skein();
  return { ...(await desk.open(take)), skein: started };
}

/** To whom the place belongs, as soon as the program of the turn is there. */
export const callsFrom = ({ place }: JobCalls): Pick<Program, "onGroup"> =>
  place ? { onGroup: place.startedAs } : {};

export const callVariables = ({ place }: JobCalls): Readonly<Record<string, string>> =>
  place ? { SKEIN: place.skein, [CALL_URL]: place.url, [CALL_TOKEN]: place.token } : {};
