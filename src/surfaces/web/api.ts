/** All requests of the page to its server: queries, commands, and streams. Failures are texts that can be shown. */
import type { RunLine } from "../../core/view/run-line.ts";
import { readMessages } from "./messages.ts";
import { secretHere } from "./secret.ts";

export type ListedRun = RunLine | { readonly problem: string };
type DeviceLine = {
  readonly id: string;
  readonly name: string;
  readonly since: number;
  readonly usedAt: number;
  readonly isThis: boolean;
};
/** The facts of a run's record that the page needs. */
type RunFacts = {
  readonly run: string;
  /** False if there is no planner besides the workers. */
  readonly hasPlanner: boolean;
};

/** `lines`: only if the whole text was requested. */
type GateText =
  | {
      readonly is: "kept";
      readonly excerpt: readonly { readonly from: number; readonly lines: readonly string[] }[];
      readonly total: number;
      readonly lines?: readonly string[];
    }
  | { readonly is: "missing"; readonly why: string };
type AttemptText =
  | { readonly is: "kept"; readonly ref: string; readonly lines: readonly string[] }
  | { readonly is: "missing"; readonly why: string };

/** A refusal has the `status` of the response; 0 if there was none. */
export type ServerAnswer<T> =
  | { readonly value: T; readonly error?: never; readonly status?: never }
  | { readonly error: string; readonly status: number; readonly value?: never };

export const api = {
  /** Exchanges a sign-in link for this browser's secret. */
  signIn: (link: string) =>
    ask<{ readonly secret: string }>("/api/devices", { method: "POST", secret: link }),
  repository: () => ask<{ readonly repository: string }>("/api/repository"),
  runs: () => ask<readonly ListedRun[]>("/api/runs"),
  run: (run: string) => ask<RunFacts>(ofRun(run)),
  diff: (run: string, from: string, to: string) =>
    ask<{ readonly diff: string }>(ofRun(run, "diff", from, to)),
  /** `hasPassed`: the end of the output is shown first, because nothing failed. */
  gateOutput: (
    run: string,
    output: string,
    { isWhole, hasPassed }: { readonly isWhole: boolean; readonly hasPassed: boolean },
  ) => ask<GateText>(`${ofRun(run, "gate", output)}?all=${Number(isWhole)}&passed=${Number(hasPassed)}`),
  attempt: (run: string, task: string, attempt: number) =>
    ask<AttemptText>(ofRun(run, "attempts", task, String(attempt))),
  devices: () => ask<readonly DeviceLine[]>("/api/devices"),
  revoke: (id: string) => ask(`/api/devices/${encodeURIComponent(id)}`, { method: "DELETE" }),
};

/** `undefined`: done. A delivery takes as long as the gate does. */
export async function command(
  run: string,
  said: Readonly<Record<string, unknown>>,
): Promise<string | undefined> {
  const answer = await ask<{ note?: string }>(ofRun(run, "commands"), { method: "POST", body: said });
  return "error" in answer ? answer.error : answer.value.note;
}

/** Follows the events of a run from the `after`th on, and other facts about it. */
export const followRun = (run: string, after: () => number, heard: Heard): (() => void) =>
  connect(() => `${ofRun(run, "events")}?after=${after()}`, heard);

/** Follows the output of a job's programs, from its end. */
export const followTranscript = (run: string, job: string, heard: Heard): (() => void) =>
  connect(() => ofRun(run, "transcripts", job), heard);

const ofRun = (run: string, ...parts: readonly string[]): string =>
  `/api/runs/${[run, ...parts].map(encodeURIComponent).join("/")}`;

type AskOptions = {
  readonly method?: string;
  readonly body?: unknown;
  readonly secret?: string;
  readonly signal?: AbortSignal | null;
};

async function ask<T>(path: string, options?: AskOptions): Promise<ServerAnswer<T>> {
  try {
    const response = await send(path, options);
    const text = await response.text();
    if (response.ok) return { value: JSON.parse(text) as T };
    return { error: reasonIn(text), status: response.status };
  } catch {
    return { error: "the server does not answer; is skein serve still running?", status: 0 };
  }
}

const send = (
  path: string,
  { method = "GET", body, secret = secretHere(), signal = null }: AskOptions = {},
): Promise<Response> => {
  const headers = { Authorization: `Bearer ${secret}` };
  return fetch(path, { method, signal, headers, body: JSON.stringify(body) });
};

function reasonIn(text: string): string {
  try {
    const { error, reason, next } = JSON.parse(text) as { error?: string; reason?: string; next?: string };
    return `${error ?? reason ?? text}${next === undefined ? "" : `. Try: ${next}`}`;
  } catch {
    return text;
  }
}

export type Connection = "connecting" | "live" | "lost";
type Heard = {
  /** Handlers by the kind of message. */
  readonly on: Readonly<Record<string, (data: unknown) => void>>;
  readonly onState: (connection: Connection) => void;
};

const AGAIN_MS = 2_000;

/**
 * Reconnects until the returned function is called. Not while the tab is hidden: a browser keeps six connections to a
 * server for all its tabs, and a seventh would wait for ever.
 */
function connect(address: () => string, heard: Heard): () => void {
  let stop = new AbortController();
  const look = () => {
    stop.abort();
    stop = new AbortController();
    if (!document.hidden) void follow(address, heard, stop.signal);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop.abort();
  };
}

/** By fetch, because an EventSource cannot send the header that identifies the browser. */
async function follow(address: () => string, { on, onState }: Heard, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const { ok, body } = await send(address(), { signal });
      if (ok) {
        onState("live");
        await readMessages(body!, (kind, data) => on[kind]?.(data), signal);
      }
    } catch {} // Cut off, or unreachable: it connects again.
    if (signal.aborted) return;
    onState("lost");
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
