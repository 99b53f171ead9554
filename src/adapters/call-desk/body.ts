/** What was sent with a request? JSON, up to a limit; the rest of what is longer is read and thrown away. */
import type { IncomingMessage } from "node:http";

export type Body =
  /** `value`: undefined if it is no JSON. */
  | { readonly is: "read"; readonly value: unknown }
  | { readonly is: "too-large"; readonly maxBytes: number }
  /** The other side is gone. */
  | { readonly is: "cut" };

export async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) break; // Which ends the connection.
      if (bytes <= MAX_BYTES) chunks.push(chunk);
    }
  } catch {
    return { is: "cut" };
  }
  if (bytes > MAX_BYTES) return { is: "too-large", maxBytes: MAX_BYTES };
  try {
    return { is: "read", value: JSON.parse(Buffer.concat(chunks).toString()) as unknown };
  } catch {
    return { is: "read", value: undefined }; // Whoever reads it says so, in its own way.
  }
}

/** More than the inputs of any subtask. */
const MAX_BYTES = 1_000_000;
/** A sender that is cut off sees no answer, only a broken connection. */
const MAX_DRAINED_BYTES = 64_000_000;
