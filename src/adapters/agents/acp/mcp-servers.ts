/** Reads the MCP servers that a repository's `.mcp.json` names for agents. The file is untrusted. */
import { messageOf } from "../../../core/failure.ts";
import { AGREES_TO_ALL, type Agrees, type TrustAsk } from "../../../ports/trust.ts";
import { wordsToAgree } from "../../../text/asked-words.ts";
import { fields, type LooseFields, parseJson } from "../../../text/json.ts";
import { list, shown, text } from "./loose.ts";

type Pair = { readonly name: string; readonly value: string };

export type McpServer =
  | {
      readonly type: "stdio";
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: readonly Pair[];
    }
  | {
      readonly type: "http" | "sse";
      readonly name: string;
      readonly url: string;
      readonly headers: readonly Pair[];
    };

export type McpServers = { readonly servers: readonly McpServer[]; readonly problems: readonly string[] };

/**
 * `passed`: the variables that the user passes on. `${NAME}` stands for one of them, `${NAME:-else}` has a
 * default. A server that names another variable is left out, so that no file of a repository can ask for a secret.
 *
 * ```ts
 * readMcpServers('{"mcpServers": {"docs": {"command": "docs-mcp", "env": {"KEY": "${KEY}"}}}}', { KEY: "k" });
 * ```
 */
export function readMcpServers(
  json: string,
  passed: Readonly<Record<string, string>>,
  agrees: Agrees = AGREES_TO_ALL,
): McpServers {
  if (json.length > MAX_CHARS) return none(`.mcp.json is longer than ${MAX_CHARS} characters`);
  let whole: unknown;
  try {
    whole = JSON.parse(json);
  } catch (thrown) {
    return none(`.mcp.json is not JSON: ${shown(messageOf(thrown), 200)}`);
  }
  const named = Object.entries(fields(fields(whole)["mcpServers"]));
  const servers: McpServer[] = [];
  const problems: string[] = [];
  if (named.length > MAX_SERVERS) problems.push(`.mcp.json: only the first ${MAX_SERVERS} servers are used`);
  for (const [name, entry] of named.slice(0, MAX_SERVERS)) {
    const read = agrees(serverAsk(name, entry))
      ? serverIn(name, fields(entry), expander(passed))
      : { problem: "nobody has agreed to it: skein trust" };
    if ("problem" in read) problems.push(`.mcp.json: ${shown(name, 60)} is left out: ${read.problem}`);
    else servers.push(read.server);
  }
  return { servers, problems };
}

/** What the file asks trust for, server by server; empty if it cannot be read. */
export function serverAsks(json: string): readonly TrustAsk[] {
  if (json.length > MAX_CHARS) return [];
  const named = Object.entries(fields(fields(parseJson(json))["mcpServers"]));
  return named.slice(0, MAX_SERVERS).map(([name, entry]) => serverAsk(name, entry));
}

/** Returns the file with only those servers that the user agreed to. */
export function agreedServers(json: string, agrees: Agrees): string {
  const named = Object.entries(fields(fields(parseJson(json))["mcpServers"]));
  const kept = named.filter(([name, entry]) => agrees(serverAsk(name, entry)));
  return JSON.stringify({ mcpServers: Object.fromEntries(kept) });
}

/** Describes a server as the file has it: with the names of variables, not their values. */
function serverAsk(name: string, entry: unknown): TrustAsk {
  const { command, args, url, env } = fields(entry);
  const variables = pairs(env, String).map((one) => `${one.name}=${one.value}`);
  const line = [...variables, text(command), ...list(args).map(String)].join(" ").trim();
  const does =
    typeOf(fields(entry)) === "stdio"
      ? `starts ${wordsToAgree(line)}, as you`
      : `reaches ${wordsToAgree(text(url))}`;
  const keys = [...new Set([...JSON.stringify(entry ?? null).matchAll(VARIABLE)].map(([, key]) => key))];
  const also = keys.length === 0 ? "" : `, with ${keys.join(", ")}`;
  return {
    is: "server",
    from: ".mcp.json",
    name,
    value: entry ?? null,
    words: `the server ${wordsToAgree(name)} ${does}${also}`,
  };
}

const MAX_CHARS = 200_000;
const MAX_SERVERS = 50;

const none = (problem: string): McpServers => ({ servers: [], problems: [problem] });

type Problem = { readonly problem: string };
type Read = { readonly server: McpServer } | Problem;
type Expand = (value: string) => string;

function serverIn(name: string, entry: LooseFields, { expand, missing }: Expander): Read {
  const type = typeOf(entry);
  const server = type === "stdio" ? program(name, entry, expand) : remote(name, type, entry, expand);
  if ("problem" in server) return server;
  if (missing.size === 0) return { server };
  const names = [...missing].join(", ");
  return { problem: `${names} ${missing.size === 1 ? "is" : "are"} not passed on (see "pass")` };
}

const typeOf = (entry: LooseFields): string =>
  text(entry["type"]) || (entry["url"] === undefined ? "stdio" : "http");

function program(name: string, entry: LooseFields, expand: Expand): McpServer | Problem {
  const command = expand(text(entry["command"]));
  if (command === "") return { problem: "it has no command" };
  const args = list(entry["args"]).map((one) => expand(String(one)));
  return { type: "stdio", name, command, args, env: pairs(entry["env"], expand) };
}

function remote(name: string, type: string, entry: LooseFields, expand: Expand): McpServer | Problem {
  if (type !== "http" && type !== "sse") return { problem: `its type is ${JSON.stringify(shown(type, 40))}` };
  const url = expand(text(entry["url"]));
  if (!/^https?:\/\/\S+$/.test(url)) return { problem: "it has no address that begins with http" };
  return { type, name, url, headers: pairs(entry["headers"], expand) };
}

const pairs = (value: unknown, expand: Expand): readonly Pair[] =>
  Object.entries(fields(value)).map(([name, one]) => ({ name, value: expand(String(one)) }));

type Expander = { readonly expand: Expand; readonly missing: Set<string> };

function expander(passed: Readonly<Record<string, string>>): Expander {
  const missing = new Set<string>();
  const known = (name: string, otherwise: string | undefined) => {
    if (Object.hasOwn(passed, name)) return passed[name] as string;
    if (otherwise === undefined) missing.add(name);
    return otherwise ?? "";
  };
  const expand = (value: string) =>
    value.replace(VARIABLE, (_, name: string, otherwise?: string) => known(name, otherwise));
  return { expand, missing };
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
