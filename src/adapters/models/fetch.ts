/** Fetches from a provider: only from the given address, as a stream, up to a limit. */

/**
 * A redirect is not followed: `fetch` would send the prompt to the new address, with all headers but one, and a
 * key in any other header with them. Throws errors that `problemOf` reads.
 */
export async function askProvider(
  input: Parameters<typeof fetch>[0],
  init?: Parameters<typeof fetch>[1],
): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: "manual" });
  if (response.status >= 300 && response.status < 400) {
    await response.body?.cancel();
    throw new Unusable(elsewhere(response), { is: "failed", mayHaveCost: false });
  }
  const isWhole = !response.ok || isOf(response, "json");
  const body = response.body?.pipeThrough(limited(isWhole ? MAX_WHOLE_BYTES : MAX_STREAM_BYTES)) ?? null;
  const bounded = new Response(body, response);
  return response.ok && isForStream(init?.body) ? streamIn(bounded) : bounded;
}

/** The error of an answer that is not a model's answer. */
export class Unusable extends Error {
  readonly is: "transient" | "failed";
  readonly mayHaveCost: boolean;

  constructor(message: string, { is, mayHaveCost }: Pick<Unusable, "is" | "mayHaveCost">) {
    super(message);
    this.is = is;
    this.mayHaveCost = mayHaveCost;
  }
}

function elsewhere({ headers, url }: Response): string {
  const to = headers.get("location") ?? "";
  const place = URL.canParse(to, url) ? new URL(to, url) : undefined;
  const where = place ? `${place.origin}${place.pathname}`.slice(0, MAX_PLACE_CHARS) : "another address";
  return `it redirects to ${where}: give the right address as baseUrl`;
}

const MAX_PLACE_CHARS = 200;

/** 32,000 tokens in chunks of 300 bytes are 10 MB, so a stream ten times as long is endless. */
const MAX_STREAM_BYTES = 100_000_000;
/** Errors have a few hundred bytes, web pages a few thousand. */
const MAX_WHOLE_BYTES = 10_000_000;

/** Counts bytes after decompression, which can be a thousand times what was sent. */
function limited(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let tail = "";
  let lingering: NodeJS.Timeout | undefined;
  return new TransformStream({
    transform(piece, to) {
      clearTimeout(lingering);
      bytes += piece.byteLength;
      const why = `it sent more than ${maxBytes} bytes and was cut off`;
      if (bytes > maxBytes) return to.error(new Unusable(why, { is: "failed", mayHaveCost: true }));
      to.enqueue(piece);
      tail = `${tail}${Buffer.from(piece.subarray(-MARK_BYTES)).toString("latin1")}`.slice(-MARK_BYTES);
      if (END_MARK.test(tail)) lingering = setTimeout(() => ended(to), LINGER_MS).unref();
    },
    flush: () => clearTimeout(lingering),
  });
}

/** The last event of a stream of OpenAI or Anthropic. In JSON, a model's text has no line ends. */
const END_MARK = /(?:^|\n)data: ?(?:\[DONE\]|\{"type": ?"message_stop"[^\n]*)\r?\n\r?\n$/;
const MARK_BYTES = 200;

/** How long a server may take to end a finished stream itself, so that the connection can be reused. */
const LINGER_MS = 1_000;

function ended(to: TransformStreamDefaultController<Uint8Array>): void {
  try {
    to.terminate();
  } catch {
    // The reader is gone.
  }
}

const isForStream = (body: unknown): boolean => typeof body === "string" && /"stream"\s*:\s*true/.test(body);

const isOf = ({ headers }: Response, type: "json" | "html"): boolean =>
  (headers.get("content-type") ?? "").toLowerCase().includes(type);

/**
 * Turns an answer that is no stream into an error: with status 200 it would be read as a stream that ended too
 * soon.
 */
async function streamIn(response: Response): Promise<Response> {
  if (isOf(response, "html")) {
    await response.body?.cancel();
    const why = "it answered with a web page: see whether baseUrl is right";
    throw new Unusable(why, { is: "transient", mayHaveCost: false });
  }
  if (!isOf(response, "json")) return response;
  const text = await response.text();
  if (/^\s*(?:data|event|id|retry)?:/.test(text)) return new Response(text, response); // Only its content type is wrong.
  const error = errorIn(text);
  if (error) throw error;
  const why = "it answered without streaming, which is required";
  throw new Unusable(why, { is: "failed", mayHaveCost: true });
}

/** The error, as if it had come with the status that it names. */
function errorIn(text: string): Error | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (!error) return undefined;
    const { message, code, status } = Object(error) as Readonly<Record<string, unknown>>;
    const said = typeof message === "string" ? message : typeof error === "string" ? error : "an error";
    const statusCode = [code, status].find((one) => typeof one === "number");
    return Object.assign(new Error(said), { responseBody: text, ...(statusCode ? { statusCode } : {}) });
  } catch {
    return undefined; // It is no JSON, whatever its content type says.
  }
}
