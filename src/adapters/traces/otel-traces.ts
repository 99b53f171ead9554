/** Makes the spans of a run and sends them to a collector: all of a log at once, or those of jobs as they end. */

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JobId } from "../../core/job.ts";
import type { Event } from "../../core/log/event.ts";
import { emptyTrace, isComplete, jobSpans, runSpan, type Trace, traceEvent } from "../../core/view/trace.ts";
import type { RunHome } from "../../ports/runs.ts";
import type { TraceDocument, TraceFollower, TraceSent } from "../../ports/traces.ts";
import { detailsOf } from "./details.ts";
import { type OtlpDocument, type OtlpSpan, otlpDocument, otlpSpan, traceName } from "./otlp.ts";
import type { TraceSettings } from "./settings.ts";

/** `redact`: set if content is wanted; all content is redacted by it. */
type SpanParts = { readonly home: RunHome; readonly redact: ((text: string) => string) | undefined };

export async function traceDocument(
  parts: SpanParts,
  resource: TraceSettings["resource"],
): Promise<TraceDocument> {
  const spans = await spansOf(parts);
  return { document: otlpDocument(spans, resource), spans: spans.length };
}

export async function sendTrace(
  parts: SpanParts,
  settings: TraceSettings,
  signal: AbortSignal,
): Promise<TraceSent> {
  const all = await spansOf(parts);
  const to = placeOf(settings);
  let rejected = 0;
  for (let sent = 0; sent < all.length; sent += settings.batch.maxSpans) {
    const batch = all.slice(sent, sent + settings.batch.maxSpans);
    const end = await send(otlpDocument(batch, settings.resource), settings, signal);
    if (end.is === "failed") {
      const { mayRetry: _, ...failed } = end;
      return { ...failed, to, spans: all.length - sent };
    }
    rejected += end.rejected;
  }
  return { is: "sent", to, spans: all.length, rejected };
}

async function spansOf(parts: SpanParts): Promise<readonly OtlpSpan[]> {
  const trace = emptyTrace();
  for await (const event of parts.home.log.read(0)) traceEvent(trace, event);
  const spans = [...rootOf(trace, parts)];
  for (const job of trace.jobs.byId.keys()) spans.push(...(await spansOfJob(trace, job, parts)));
  return spans;
}

function rootOf(trace: Trace, { redact }: SpanParts): readonly OtlpSpan[] {
  const said = redact?.(trace.opened?.request.goal ?? "");
  const goal = said === undefined ? undefined : [{ role: "user", parts: [{ type: "text", content: said }] }];
  const root = runSpan(trace, goal && JSON.stringify(goal));
  return root ? [otlpSpan(traceName(trace), root)] : [];
}

async function spansOfJob(trace: Trace, job: JobId, { home, redact }: SpanParts) {
  const details = await detailsOf(home.folder, job, redact);
  return jobSpans(trace, job, details).map((span) => otlpSpan(traceName(trace), span));
}

/** How long the end of a run waits for the last spans at most. */
const LAST_MS = 2_000;

/**
 * Follows the log beside the engine. Spans that cannot be sent wait, up to a limit; the rest is left to `skein
 * trace`.
 */
export class LiveTrace implements TraceFollower {
  readonly #parts: SpanParts;
  readonly #settings: TraceSettings;
  readonly #warn: (text: string) => void;
  readonly #after: number;
  readonly #stop = new AbortController();
  readonly #tooLate = new AbortController();
  readonly #trace = emptyTrace();
  readonly #ended = new Set<JobId>();
  readonly #following: Promise<void>;
  #events = 0;
  #isClosed = false;
  #queue: OtlpSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();
  #hasWarned = false;

  constructor(
    parts: SpanParts & { readonly after: number },
    settings: TraceSettings,
    warn: (text: string) => void,
  ) {
    this.#parts = parts;
    this.#after = parts.after;
    this.#settings = settings;
    this.#warn = warn;
    this.#following = this.#follow();
  }

  async end(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#following;
    const last = setTimeout(() => this.#tooLate.abort(), LAST_MS);
    try {
      for await (const event of this.#parts.home.log.read(this.#events)) this.#take(event);
      await this.#sending;
      await this.#collect(() => true);
      await this.#send();
    } catch {
      // The run's folder is gone, or its log is damaged: the run has reported it.
    } finally {
      clearTimeout(last);
    }
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.#parts.home.log.follow(0, this.#stop.signal)) this.#take(event);
    } catch {
      // As above.
    }
  }

  #take(event: Event): void {
    traceEvent(this.#trace, event);
    this.#events += 1;
    if (this.#events <= this.#after) return; // An earlier process has sent its spans.
    if (event.type === "job.ended") this.#ended.add(event.job);
    if (event.type === "run.closed") this.#isClosed = true;
    if (!this.#stop.signal.aborted)
      this.#timer ??= setTimeout(() => this.#tick(), this.#settings.batch.delayMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    this.#sending = this.#sending
      .then(() => this.#collect(isComplete))
      .then(() => this.#send())
      .catch(() => {}); // As above.
  }

  async #collect(isReady: typeof isComplete): Promise<void> {
    for (const id of [...this.#ended]) {
      const job = this.#trace.jobs.byId.get(id);
      if (!job || !isReady(job)) continue;
      this.#ended.delete(id);
      this.#queue.push(...(await spansOfJob(this.#trace, id, this.#parts)));
    }
    if (this.#isClosed) this.#queue.push(...rootOf(this.#trace, this.#parts));
    this.#isClosed = false;
    this.#queue = this.#queue.slice(-this.#settings.batch.maxQueue);
  }

  async #send(): Promise<void> {
    const { batch, resource } = this.#settings;
    while (this.#queue.length > 0) {
      const spans = this.#queue.slice(0, batch.maxSpans);
      const end = await send(otlpDocument(spans, resource), this.#settings, this.#tooLate.signal);
      if (end.is === "sent" || !end.mayRetry) this.#queue.splice(0, spans.length);
      if (end.is === "failed") this.#tellOnce(end);
      if (end.is === "failed" && end.mayRetry) return;
    }
  }

  #tellOnce({ why }: SendEnd & { readonly is: "failed" }): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const { run } = this.#parts.home.record;
    this.#warn(
      `traces are not sent to ${placeOf(this.#settings)}: ${why}. The run goes on; skein trace ${run} sends them later`,
    );
  }
}

/** `why`: for people. `mayRetry`: the same request may succeed later. */
type SendEnd =
  | { readonly is: "sent"; readonly rejected: number }
  | {
      readonly is: "failed";
      readonly why: string;
      readonly mayRetry: boolean;
      readonly isMisconfigured?: true;
    };

/** Does not throw. */
async function send(
  document: OtlpDocument,
  { endpoint, headers, timeoutMs, problem, isZipped }: TraceSettings,
  signal: AbortSignal,
): Promise<SendEnd> {
  if (problem !== undefined) return { is: "failed", why: problem, mayRetry: false, isMisconfigured: true };
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

/** The protocol's retryable statuses; with any other, a retry would fail again. */
const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** How many spans the collector rejected: it may take only some of them. */
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
    return 0; // The spans were taken; the body is not JSON.
  }
}

const MAX_ANSWER_BYTES = 64_000;

/** The reason in Skein's words, never the error's own message, which may quote a header. */
function reasonOf(thrown: unknown): string {
  const { name, cause } = Object(thrown) as Error;
  if (name === "TimeoutError" || name === "AbortError") return "it did not answer in time";
  const { code, message } = Object(cause) as NodeJS.ErrnoException;
  if (message === "bad port") return "its port is one that is never used for HTTP";
  return code === undefined
    ? "the address or a header in the OTEL_* variables cannot be used"
    : `it cannot be reached (${code})`;
}

/** The endpoint without a name or password in it. */
const placeOf = ({ endpoint }: TraceSettings): string =>
  URL.parse(endpoint)?.origin ?? "the address in OTEL_EXPORTER_OTLP_ENDPOINT";
