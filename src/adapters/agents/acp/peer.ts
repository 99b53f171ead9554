/** What can be asked of an agent, whichever version of the protocol it speaks? */
import type { Streams } from "../../../ports/programs.ts";
import { type Fields, fields, list, text } from "./loose.ts";
import type { McpServer } from "./mcp-servers.ts";
import type { Heard } from "./wire.ts";

/** Everything rejects with what the agent or the library said, and when the connection is closed. */
export type Peer = {
  initialize(): Promise<Greeting>;
  authenticate(method: string): Promise<void>;
  /** The session's name. */
  open(folder: string, servers: readonly McpServer[]): Promise<string>;
  /** Goes on with a session of another process, in another folder. */
  load(session: string, folder: string, servers: readonly McpServer[]): Promise<void>;
  prompt(session: string, message: string): Promise<Ended>;
  cancel(session: string): void;
  close(): void;
};

export type PeerParts = {
  readonly streams: Streams;
  readonly heard: Heard;
  readonly mayRead: boolean;
  readonly mayWrite: boolean;
  readonly answer: (method: string, params: unknown) => Promise<Answered>;
};

/** What we answer to what the agent asks of us. */
export type Answered =
  | { readonly result: Fields }
  | { readonly error: { readonly code: number; readonly message: string } };

export type Greeting = {
  readonly version: number;
  readonly logins: readonly Login[];
  readonly takes: { readonly http: boolean; readonly sse: boolean };
  /** Whether it can go on with an earlier session. */
  readonly loads: boolean;
};

/** `variables`: those of the environment that it takes its key from, if it says so. */
export type Login = {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly description: string;
  readonly variables: readonly string[];
};

/** How a prompt ended: why, and the fields that may say what it cost. */
export type Ended = { readonly stop: string; readonly bill: Fields; readonly error?: unknown };

export const CLIENT = { name: "skein", title: "Skein", version: "1" } as const;

export const loginsIn = (greeting: Fields): readonly Login[] =>
  list(greeting["authMethods"])
    .map(fields)
    .map((one) => ({
      id: text(one["id"]) || text(one["methodId"]),
      type: text(one["type"]),
      name: text(one["name"]),
      description: text(one["description"]),
      variables: list(one["vars"]).map((variable) => text(variable) || text(fields(variable)["name"])),
    }));
