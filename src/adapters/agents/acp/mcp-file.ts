/** Reads the `.mcp.json` of a repository's checkout. It is untrusted: limited in size, and no link is followed. */
import path from "node:path";
import { readBounded } from "../../files/read-bounded.ts";

export async function mcpFileIn(top: string): Promise<string | undefined> {
  const file = await readBounded(path.join(top, ".mcp.json"), MAX_BYTES);
  return file.is === "bytes" ? file.bytes.toString() : undefined;
}

const MAX_BYTES = 200_000;
