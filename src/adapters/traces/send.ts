/** Brings spans to a collector over HTTP: within a time limit, and without ever saying what the headers hold. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { OtlpDocument } from "./otlp.ts";
import type { TraceSettings } from "./settings.ts";

/** `why` is for people. `mayRetry`: the same again may be taken later. */
export type SendEnd =
  | { readonly is: "sent"; readonly rejected: number }
  | { readonly is: "failed"; readonly why: string; readonly mayRetry: boolean };

/** Does not throw. */
export async function send(
  document: OtlpDocument,
  { endpoint, headers, timeoutMs, isGrpc, isZipped }: TraceSettings,
  signal: AbortSignal,
): Promise<SendEnd> {
  if (isGrpc)
    return {
      is: "failed",
      why: "OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and Skein sends by HTTP",
      mayRetry: false,
    };
  const text = JSON.stringify(document);
  try {
    const response = await fetch(endpoint, {
      method: "POST",
      redirect: "manual", // The headers are for this address alone.
      headers: {
        ...headers,
        "content-type": "application/json",
        ...(isZipped && { "content-encoding": "gzip" }),
      },
      body: isZipped ? await promisify(gzip)(text) : text,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (response.ok) return { is: "sent", rejected: await rejectedIn(response) };
    await response.body?.cancel();
    const { status } = response;
    return { is: "failed", why: `it answered with status ${status}`, mayRetry: RETRIED.has(status) };
  } catch (thrown) {
    return { is: "failed", why: reasonOf(thrown), mayRetry: true };
  }
}

/** As the protocol says; any other status would be the same again. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A collector may take some of the spans only. */
async function rejectedIn(response: Response): Promise<number> {
  const length = Number(response.headers.get("content-length"));
  if (!(length > 2 && length < MAX_ANSWER_BYTES)) {
    await response.body?.cancel();
    return 0;
  }
  try {
    const answer = (await response.json()) as { partialSuccess?: { rejectedSpans?: string | number } };
    return Number(answer.partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0; // The spans were taken; what is said about it is not JSON.
  }
}

const MAX_ANSWER_BYTES = 64_000;

/** Never the error's own message: that may quote a header. */
function reasonOf(thrown: unknown): string {
  const { name, cause } = Object(thrown) as Error;
  if (name === "TimeoutError" || name === "AbortError") return "it did not answer in time";
  const { code } = Object(cause) as NodeJS.ErrnoException;
  return code === undefined
    ? "the address or a header in the OTEL_* variables cannot be used"
    : `it cannot be reached (${code})`;
}

/** Without a name or password in it. */
export const placeOf = ({ endpoint }: TraceSettings): string =>
  URL.parse(endpoint)?.origin ?? "the address in OTEL_EXPORTER_OTLP_ENDPOINT";
