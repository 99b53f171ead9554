/** How does a talk with an agent begin? A greeting, a session, and a login in between if one by key will do. */
import { fields } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Greeting, Login, Peer } from "./peer.ts";
import { closing, inTime, isLate } from "./waits.ts";

export type SessionParts = {
  readonly peer: Peer;
  readonly version: 1 | 2;
  readonly folder: string;
  readonly mcpServers: readonly McpServer[];
  /** Skein's own server: for agents that take it by HTTP, and for those that take only programs. */
  readonly own?: OwnServer;
  /** The session that goes on, if the agent can. */
  readonly goesOn?: string;
  /** Which of the agent's ways to log in need nobody: those by a key that it was given. */
  readonly environment: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly note: (line: string) => void;
};

export type OwnServer = { readonly http: McpServer; readonly stdio: McpServer };

export type Opened = { readonly session: string; readonly isLoaded: boolean };

/** `other-version`: what it speaks instead. */
export type Greeted = Greeting | { readonly is: "other-version"; readonly version: number };

export async function greet(parts: SessionParts, signal: AbortSignal): Promise<Greeted> {
  const { peer, version, startMs } = parts;
  const greeting = await inTime(peer.initialize(), { ms: startMs, what: "initialize", signal }).catch(
    (thrown: unknown) => {
      const { code } = Object(thrown) as { readonly code?: unknown };
      if (version === 1 && REFUSING.has(code)) return { version: OTHER };
      throw thrown;
    },
  );
  if (greeting.version === version && "logins" in greeting) return greeting;
  return { is: "other-version", version: greeting.version };
}

/** Invalid request, invalid parameters, and the protocol's "unsupported version": it may want another greeting. */
const REFUSING: ReadonlySet<unknown> = new Set([-32600, -32602, -32022]);
/** Not said: the only other one that there is. */
const OTHER = 2;

/** Whoever wants a login gets one if a key is at hand for it; one that needs a person is not begun. */
export async function openSession(
  parts: SessionParts,
  greeting: Greeting,
  signal: AbortSignal,
): Promise<Opened> {
  const { peer, startMs, note } = parts;
  const servers = serversFor(parts, greeting);
  const open = async (): Promise<Opened> =>
    (await loaded(parts, greeting, servers, signal)) ?? {
      session: await inTime(peer.open(parts.folder, servers), { ms: startMs, what: "session/new", signal }),
      isLoaded: false,
    };
  try {
    return await open();
  } catch (thrown) {
    const login = loginByKey(greeting.logins, parts.environment);
    if (fields(thrown)["code"] !== AUTH_REQUIRED || login === undefined) throw thrown;
    note(`logs in by ${JSON.stringify(login.id)}\n`);
    const asking = inTime(peer.authenticate(login.id), { ms: startMs, what: "authenticate", signal });
    await asking.catch((refusal: unknown) => {
      throw closing(refusal) ? refusal : unmet(refusal);
    });
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

/** Undefined if it cannot go on with that session: it has lost it, or wants the folder in which it began. */
async function loaded(
  { peer, folder, startMs, goesOn, note }: SessionParts,
  { loads }: Greeting,
  servers: readonly McpServer[],
  signal: AbortSignal,
): Promise<Opened | undefined> {
  if (goesOn === undefined || !loads) return undefined;
  try {
    await inTime(peer.load(goesOn, folder, servers), { ms: startMs, what: "session/load", signal });
    return { session: goesOn, isLoaded: true };
  } catch (thrown) {
    const isGone = signal.aborted || (closing(thrown) && !isLate(thrown));
    if (isGone || fields(thrown)["code"] === AUTH_REQUIRED) throw thrown;
    note("cannot go on with its session, and begins another\n");
    return undefined;
  }
}

/** The protocol's own number for it. */
export const AUTH_REQUIRED = -32000;

const loginByKey = (logins: readonly Login[], environment: SessionParts["environment"]): Login | undefined =>
  logins.find(
    ({ id, variables }) =>
      (variables.length > 0 && variables.every((name) => environment[name])) || /api[-_]?key/i.test(id),
  );

/** Whatever an agent calls it when it cannot log in ("OPENAI_API_KEY is not set"), the login is still required. */
const unmet = (refusal: unknown) => ({
  code: AUTH_REQUIRED,
  message: fields(refusal)["message"] ?? (refusal instanceof Error ? refusal.message : ""),
  data: fields(refusal)["data"],
});
