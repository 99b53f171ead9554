/** Reads the JSON body of a request up to a limit; what is longer is read and dropped. */
import type { IncomingMessage } from "node:http";
import { parseJson } from "../../text/json.ts";

export type RequestBody =
  /** `value`: undefined if it is not JSON. */
  | { readonly is: "read"; readonly value: unknown }
  | { readonly is: "too-large"; readonly maxBytes: number }
  | { readonly is: "too-deep" }
  | { readonly is: "cut" };

export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_DRAINED_BYTES) break; // Ends the connection.
      if (bytes <= MAX_BYTES) chunks.push(chunk);
    }
  } catch {
    return { is: "cut" };
  }
  if (bytes > MAX_BYTES) return { is: "too-large", maxBytes: MAX_BYTES };
  const text = Buffer.concat(chunks).toString();
  return isTooDeep(text) ? { is: "too-deep" } : { is: "read", value: parseJson(text) };
}

/** Checked before it is parsed: deeper JSON could exceed the stack of its readers. Brackets in strings count, too. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text.charCodeAt(at);
    if (letter === OPEN_BRACE || letter === OPEN_BRACKET) depth += 1;
    else if (letter === CLOSE_BRACE || letter === CLOSE_BRACKET) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];
const MAX_DEPTH = 200;

/** More than the inputs of any subtask. */
const MAX_BYTES = 1_000_000;
/** A sender that is cut off would see no answer, only a broken connection. */
const MAX_DRAINED_BYTES = 64_000_000;
