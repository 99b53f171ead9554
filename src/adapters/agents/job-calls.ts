/** Takes the call that ends a worker's turn: writes it to disk, and gives the agent a while to end by itself. */
import type { Program, ProgramLimits, Programs } from "../../ports/programs.ts";
import type { Transcripts } from "../../ports/transcripts.ts";
import { redactFields } from "../../text/redact.ts";
import type { CallDesk, CallPlace } from "../call-desk/desk.ts";
import { CALL_TOKEN, CALL_URL } from "../call-desk/send.ts";
import type { Call } from "../call-desk/tools.ts";
import { writeDurably } from "../files/write-whole.ts";
import type { KeptCall, TurnFiles } from "./turn-files.ts";

/** The call server, and the start of this very Skein by which a worker's program makes a call. */
export type CallDoor = { readonly desk: CallDesk; readonly skein: () => Promise<string> };

export type ProgramAgentOptions = {
  /** Run without a shell. Nothing of a brief is added to it, because every user of a machine can see arguments. */
  readonly command: readonly [string, ...string[]];
  /** Where each job gets a folder; it must survive a restart of this process. */
  readonly folder: string;
  readonly programs: Programs;
  readonly transcripts: Transcripts;
  readonly limits: Omit<ProgramLimits, "maxMs">;
  readonly redact: (text: string) => string;
  /** Lets workers call for subtasks and ask questions; without it they cannot. */
  readonly calls?: CallDoor;
  /** How long the agent may take to end its turn after a call. */
  readonly graceMs?: number;
};

export type JobCalls = {
  /** Undefined if this job cannot call. */
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
  /** The agent's last words, if they are known. */
  readonly words?: () => string;
};

/** Opens a job's access to calls. If the machine has no free port, the worker works without calls. */
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

/** Tells the call server which process group may use this access, once the turn's program has started. */
export const callsFrom = ({ place }: JobCalls): Pick<Program, "onGroup"> =>
  place ? { onGroup: place.startedAs } : {};

export const callVariables = ({ place }: JobCalls): Readonly<Record<string, string>> =>
  place ? { SKEIN: place.skein, [CALL_URL]: place.url, [CALL_TOKEN]: place.token } : {};
