/** Opens a session with an agent: loads an earlier one or makes a new one, and logs in with a key if required. */

import { fields } from "../../../text/json.ts";
import { orAbort } from "../../or-abort.ts";
import type { JobCalls } from "../job-calls.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Greeting, Login, Peer } from "./peer.ts";

export type SessionParts = {
  readonly peer: Peer;
  readonly folder: string;
  readonly mcpServers: readonly McpServer[];
  /** Skein's own MCP server: over HTTP, and as a program for agents that only take programs. */
  readonly own?: OwnServer | undefined;
  readonly resumes?: string | undefined;
  /** Shows which logins need no person: those whose key is in these variables. */
  readonly environment: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly note: (line: string) => void;
};

type OwnServer = { readonly http: McpServer; readonly stdio: McpServer };

export type Opened = { readonly session: string; readonly isLoaded: boolean };

/** Never begins a login that needs a person. */
export async function openSession(
  parts: SessionParts,
  greeting: Greeting,
  signal: AbortSignal,
): Promise<Opened> {
  const { peer, startMs: ms, note } = parts;
  const servers = serversFor(parts, greeting);
  const open = async (): Promise<Opened> =>
    (await loaded(parts, greeting, servers, signal)) ?? {
      session: await inTime(peer.open(parts.folder, servers), { ms, what: "session/new", signal }),
      isLoaded: false,
    };
  try {
    return await open();
  } catch (thrown) {
    const login = loginByKey(greeting.logins, parts.environment);
    if (fields(thrown)["code"] !== AUTH_REQUIRED || login === undefined) throw thrown;
    note(`logs in by ${JSON.stringify(login.id)}\n`);
    await inTime(peer.authenticate(login.id), { ms, what: "authenticate", signal }).catch(
      (refusal: unknown) => {
        throw isClosing(refusal) ? refusal : loginRefused(refusal);
      },
    );
    return await open();
  }
}

function serversFor({ mcpServers, own, note }: SessionParts, { takes }: Greeting): readonly McpServer[] {
  const usable = mcpServers.filter(({ type }) => type === "stdio" || takes[type]);
  if (usable.length < mcpServers.length) note("some MCP servers are left out: the agent cannot use them\n");
  if (!own) return usable;
  const ours = takes.http ? own.http : own.stdio;
  return [...usable.filter(({ name }) => name !== ours.name), ours];
}

/** Loads an earlier session. Undefined if the agent lost it, or can only resume it in the folder where it began. */
async function loaded(
  { peer, folder, startMs: ms, resumes, note }: SessionParts,
  { canLoad }: Greeting,
  servers: readonly McpServer[],
  signal: AbortSignal,
): Promise<Opened | undefined> {
  if (resumes === undefined || !canLoad) return undefined;
  try {
    await inTime(peer.load(resumes, folder, servers), { ms, what: "session/load", signal });
    return { session: resumes, isLoaded: true };
  } catch (thrown) {
    const isGone = signal.aborted || (isClosing(thrown) && !(thrown instanceof Late));
    if (isGone || fields(thrown)["code"] === AUTH_REQUIRED) throw thrown;
    note("cannot resume its session, and starts another\n");
    return undefined;
  }
}

export const AUTH_REQUIRED = -32000;

const loginByKey = (logins: readonly Login[], environment: SessionParts["environment"]): Login | undefined =>
  logins.find(
    ({ id, variables }) =>
      (variables.length > 0 && variables.every((name) => environment[name])) || /api[-_]?key/i.test(id),
  );

/** A refused login still counts as "login required", however the agent words it ("OPENAI_API_KEY is not set"). */
const loginRefused = (refusal: unknown) => ({
  code: AUTH_REQUIRED,
  message: fields(refusal)["message"] ?? (refusal instanceof Error ? refusal.message : ""),
  data: fields(refusal)["data"],
});

export function ownServer({ place }: Pick<JobCalls, "place">): OwnServer | undefined {
  if (!place) return undefined;
  const { url, token, skein } = place;
  const name = "skein";
  const headers = [{ name: "Authorization", value: `Bearer ${token}` }];
  const env = [
    { name: "SKEIN_CALL_URL", value: url },
    { name: "SKEIN_CALL_TOKEN", value: token },
  ];
  return {
    http: { type: "http", name, url: `${url}/mcp`, headers },
    stdio: { type: "stdio", name, command: skein, args: ["subtask", "serve"], env },
  };
}

/**
 * Waits until the agent has listed the tools of Skein's MCP server: Codex does not see the tools of a server that
 * it has not listed before its first prompt. Other agents list later, or never; after one wait that timed out
 * there is no further wait.
 */
export class Listing {
  #waits = true;

  async wait({ place }: Pick<JobCalls, "place">, signal: AbortSignal): Promise<boolean> {
    if (!place) return false;
    const ms = this.#waits ? LIST_MS : 0;
    const hasListed = await inTime(place.listed, { ms, what: "tools/list", signal }).then(
      () => true,
      () => false,
    );
    this.#waits &&= hasListed;
    return hasListed;
  }
}

const LIST_MS = 3_000;

type Limit = { readonly ms?: number; readonly what?: string; readonly signal?: AbortSignal };

/** Settles as `promise` does; rejects with `Late` after `ms`, or with the signal's reason. */
export async function inTime<T>(promise: Promise<T>, { ms, what = "", signal }: Limit): Promise<T> {
  const late = new AbortController();
  const timer = ms === undefined ? undefined : setTimeout(() => late.abort(new Late(what)), ms);
  try {
    return await orAbort(promise, AbortSignal.any([late.signal, ...(signal ? [signal] : [])]));
  } finally {
    clearTimeout(timer);
  }
}

export class Late extends Error {
  readonly what: string;

  constructor(what: string) {
    super(`${what} was not answered in time`);
    this.what = what;
  }
}

/**
 * Whether the connection was closed: an agent's answer to a request carries a code, the end of a connection does
 * not.
 */
export const isClosing = (thrown: unknown): boolean => typeof fields(thrown)["code"] !== "number";
