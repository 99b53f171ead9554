/** How does a turn end with a call? The call is kept, and the agent gets a while to end its turn by itself. */
import { redactFields } from "../../core/redact.ts";
import type { CallDesk, CallPlace } from "../call-desk/desk.ts";
import { CALL_TOKEN, CALL_URL } from "../call-desk/send.ts";
import type { Call } from "../call-desk/tools.ts";
import { writeDurably } from "../files/write-whole.ts";
import type { KeptCall, TurnFiles } from "./turn-files.ts";

/** Where calls go, and what a worker's program starts to make one: this very Skein. */
export type Calls = { readonly desk: CallDesk; readonly skein: () => Promise<string> };

export type JobCalls = {
  /** Undefined: this job cannot call. */
  readonly place: (CallPlace & { readonly skein: string }) | undefined;
  /** What was called for so far. */
  readonly call: () => Call | undefined;
  /** Aborted when it has had its time to end after the call. */
  readonly late: AbortSignal;
  /** Ends the token. */
  readonly close: () => void;
};

export type CallParts = {
  readonly files: Pick<TurnFiles, "called">;
  /** How long it may take to end its turn by itself. */
  readonly graceMs: number;
  readonly redact: (text: string) => string;
  /** The agent's last words, if they are heard. */
  readonly words?: () => string;
};

/** On a machine that has no port left, the worker works without. */
export async function openCalls(calls: Calls | undefined, parts: CallParts): Promise<JobCalls> {
  const late = new AbortController();
  let call: Call | undefined;
  let timer: NodeJS.Timeout | undefined;
  const take = async ({ tool, input }: Call): Promise<void> => {
    const taken = { tool, input: redactFields(input, parts.redact) };
    const words = parts.words === undefined ? {} : { words: parts.redact(parts.words()) };
    const kept: KeptCall = { ...taken, ...words };
    await writeDurably(parts.files.called, JSON.stringify(kept));
    call = taken;
    timer = setTimeout(() => late.abort(), parts.graceMs);
  };
  const place = calls && (await openPlace(calls, take).catch(() => undefined));
  return {
    place,
    call: () => call,
    late: late.signal,
    close: () => {
      clearTimeout(timer);
      place?.close();
    },
  };
}

async function openPlace({ desk, skein }: Calls, take: (call: Call) => Promise<void>) {
  const started = await skein();
  return { ...(await desk.open(take)), skein: started };
}

/** What a program needs to call. */
export const callVariables = ({ place }: JobCalls): Readonly<Record<string, string>> =>
  place ? { SKEIN: place.skein, [CALL_URL]: place.url, [CALL_TOKEN]: place.token } : {};
