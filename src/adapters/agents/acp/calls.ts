/** How does an agent that is talked with call? By Skein's own MCP server, which it is handed with its session. */
import type { JobCalls } from "../job-calls.ts";
import type { OwnServer } from "./session.ts";
import { inTime } from "./waits.ts";

export function ownServer({ place }: JobCalls): { readonly own?: OwnServer } {
  if (!place) return {};
  const { url, token, skein } = place;
  const name = "skein";
  const headers = [{ name: "Authorization", value: `Bearer ${token}` }];
  const env = [
    { name: "SKEIN_CALL_URL", value: url },
    { name: "SKEIN_CALL_TOKEN", value: token },
  ];
  return {
    own: {
      http: { type: "http", name, url: `${url}/mcp`, headers },
      stdio: { type: "stdio", name, command: skein, args: ["subtask", "serve"], env },
    },
  };
}

/**
 * Codex has no tools of a server that it has not asked for them before its first prompt. Others ask while they are
 * prompted, or never: for an agent that was once waited for in vain nobody waits again.
 */
export class Listing {
  #isWaited = true;

  /** Whether it has. */
  async wait({ place }: Pick<JobCalls, "place">, signal: AbortSignal): Promise<boolean> {
    if (!place) return false;
    const ms = this.#isWaited ? LIST_MS : 0;
    const hasListed = await inTime(place.listed, { ms, what: "tools/list", signal }).then(
      () => true,
      () => false,
    );
    this.#isWaited &&= hasListed;
    return hasListed;
  }
}

const LIST_MS = 3_000;
