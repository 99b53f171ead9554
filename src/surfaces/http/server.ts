/** What does the server answer? The page, the runs, a run's events as a stream, and commands to a run. */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import * as z from "zod";
import { deliveryOf } from "../../app/deliverable.ts";
import type { Parts } from "../../app/parts.ts";
import { seeRun } from "../../app/see-run.ts";
import { tellRun } from "../../app/tell-run.ts";
import { messageOf } from "../../core/failure.ts";
import type { JobId } from "../../core/job.ts";
import type { Event } from "../../core/log/event.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { TaskId } from "../../core/task.ts";
import { budgetOf } from "../../core/view/budget-left.ts";
import { type RunLine, runLine } from "../../core/view/run-line.ts";
import { standingOf } from "../../core/view/standing.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome, RunRecord, Runs } from "../../ports/runs.ts";
import { type Access, COOKIE, refusedOrigin } from "./access.ts";
import type { Page } from "./page.ts";

type ServerParts = Pick<Parts, "git" | "mailboxOf" | "openWorld"> & {
  /** The repository's folder name, for the title. */
  readonly repository: string;
  readonly runs: Runs;
  readonly files: RunFiles;
  readonly access: Access;
  /** "127.0.0.1:4000" and the like: what a request may call this server. */
  readonly hosts: ReadonlySet<string>;
  readonly isSecure: boolean;
  readonly page: Page;
};

const MAX_BODY_BYTES = 64 * 1024;
/** Events that come within so many ms travel together: a page draws ten times a second at most. */
const GATHER_MS = 100;
/** A page reads so many in a few ms. */
const MAX_BATCH = 200;
/** How late a run that was killed is shown as stopped. Proxies and sleeping laptops close what is silent for longer. */
const BEAT_MS = 5_000;

const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A run's name and a job's id as they are made; anything else never reaches the disk. */
const RUN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const JOB = /^(?:(?:plan|work):t(?:\.\d{1,9}){0,50}|land|check)#\d{1,9}$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const text = z.string().trim();
const task = z
  .string()
  .regex(/^t(?:\.\d{1,9}){0,50}$/)
  .transform((id) => id as TaskId);
const SAID = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("pause") }),
  z.strictObject({ type: z.literal("resume") }),
  z.strictObject({ type: z.literal("steer"), message: text }),
  z.strictObject({ type: z.literal("approve"), task: task.optional() }),
  z.strictObject({ type: z.literal("decline"), reason: text, task: task.optional() }),
  z.strictObject({ type: z.literal("answer"), question: z.string().max(200), text }),
  z.strictObject({ type: z.literal("cancel"), task: task.optional(), reason: text.optional() }),
]);

export function createServerApp(parts: ServerParts): Hono {
  const app = new Hono();
  app.use(async (c, next) => {
    const refused = refusedOrigin(
      { host: c.req.header("host"), origin: c.req.header("origin"), site: fetchSite(c) },
      parts.hosts,
    );
    if (refused !== undefined) return c.text(`refused: ${refused}\n`, 403);
    await next();
    c.header("Content-Security-Policy", CSP);
    c.header("X-Content-Type-Options", "nosniff");
    c.header("Referrer-Policy", "no-referrer");
    c.header("Cross-Origin-Opener-Policy", "same-origin");
    if (c.res.headers.get("Cache-Control") === null) c.header("Cache-Control", "no-store");
    return undefined;
  });
  app.use(async (c, next) => admit(c, next, parts));
  app.use(
    "/api/*",
    bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => c.json({ error: "too large" }, 413) }),
  );
  addPage(app, parts);
  addRuns(app, parts);
  addDevices(app, parts);
  app.notFound((c) => c.json({ error: "not found" }, 404));
  app.onError((error, c) => {
    console.error(`skein serve: ${error.message}`);
    return c.json({ error: "the server failed; its terminal says why" }, 500);
  });
  return app;
}

/** A link in a mail to our address is a navigation of another site: it shows the page, and can send nothing. */
const fetchSite = (c: Context) =>
  c.req.header("sec-fetch-mode") === "navigate" && c.req.method === "GET"
    ? undefined
    : c.req.header("sec-fetch-site");

/** The token in the address becomes a cookie, and leaves the address. */
async function admit(c: Context, next: () => Promise<void>, { access, isSecure }: ServerParts) {
  const token = c.req.query("token");
  if (token !== undefined && c.req.method === "GET" && c.req.path === "/") {
    const cookie = access.admit(token, c.req.header("user-agent") ?? "unknown", Date.now());
    if (cookie === undefined)
      return c.text("This address is not valid any more: skein serve prints a new one.\n", 401);
    setCookie(c, COOKIE, cookie, {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      secure: isSecure,
      maxAge: 2_592_000,
    });
    return c.redirect("/");
  }
  if (!isIn(c, access))
    return c.text("Open the address that skein serve printed: it lets this browser in.\n", 401);
  return next();
}

function isIn(c: Context, access: Access): boolean {
  const bearer = /^Bearer (.+)$/.exec(c.req.header("authorization") ?? "")?.[1];
  return (
    access.deviceOf(getCookie(c, COOKIE)) !== undefined || (bearer !== undefined && access.isToken(bearer))
  );
}

function addPage(app: Hono, { page: { asset } }: ServerParts): void {
  const send = (c: Context, name: string) => {
    const found = asset(name);
    return found ? c.body(found.body, 200, { "Content-Type": found.type }) : c.notFound();
  };
  app.get("/", (c) => send(c, "index.html"));
  app.get("/assets/:name", (c) => send(c, c.req.param("name")));
}

function addRuns(app: Hono, { repository, runs, files, access, git, ...tellParts }: ServerParts): void {
  app.get("/api/repository", (c) => c.json({ repository }));

  const lines = new Map<string, RunLine>();
  app.get("/api/runs", async (c) => {
    const found: (RunLine | { readonly problem: string })[] = [];
    for (const run of await runs.list()) {
      const line = hasFailed(run) ? run : (lines.get(run.run) ?? (await lineOf(run, runs)));
      if (hasFailed(line)) found.push({ problem: line.failure.message });
      else {
        found.push(line);
        if (line.isOver) lines.set(line.run, line); // A log that was closed does not change.
      }
    }
    return c.json(found);
  });

  app.get("/api/runs/:run/events", async (c) => {
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const after = Number(c.req.header("last-event-id") ?? c.req.query("after") ?? 0);
    if (!Number.isSafeInteger(after) || after < 0)
      return c.json({ error: "after is no number of an event" }, 400);
    return openStream(c, access, async (stream, signal) => {
      // A process that was killed says nothing: so it is asked for.
      const tellOwner = async () =>
        stream.writeSSE({ event: "owner", data: JSON.stringify((await home.owner()) ?? null) });
      const beat = setInterval(() => void tellOwner().catch(() => {}), BEAT_MS); // The stream is over then.
      signal.addEventListener("abort", () => clearInterval(beat), { once: true });
      await tellOwner();
      await stream.writeSSE({ event: "budget", data: JSON.stringify(budgetOf(home.record)) });
      const delivery = await deliveryOf(home.record, git);
      await stream.writeSSE({ event: "delivery", data: JSON.stringify(delivery) });
      let number = after;
      for await (const batch of gathered(home.log.follow(after, signal), signal)) {
        number += batch.length;
        await stream.writeSSE({ id: String(number), data: JSON.stringify(batch) });
      }
    });
  });

  app.get("/api/runs/:run/transcripts/:job", async (c) => {
    const job = c.req.param("job");
    if (!JOB.test(job)) return c.json({ error: "no such job" }, 404);
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    return openStream(c, access, async (stream, signal) => {
      for await (const part of files.transcript(home, job as JobId, signal))
        await stream.writeSSE({ data: JSON.stringify(part) });
    });
  });

  app.get("/api/runs/:run/diff/:from/:to", async (c) => {
    const { from, to } = c.req.param();
    if (!COMMIT.test(from) || !COMMIT.test(to)) return c.json({ error: "no such commit" }, 404);
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const diff = await files.diff(from, to, c.req.raw.signal);
    return hasFailed(diff) ? c.json({ error: diff.failure.message }, 404) : c.json(diff);
  });

  app.post("/api/runs/:run/commands", async (c) => {
    const said = SAID.safeParse(await c.req.json().catch(() => undefined));
    if (!said.success) return c.json({ error: "this is no command that a run understands" }, 400);
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const command = said.data as MailboxMessage;
    const known = await seeRun(home);
    const told = hasFailed(known) ? known : await tellRun({ ...known, command }, tellParts, c.req.raw.signal);
    if (!hasFailed(told)) return c.json({ ok: true, ...("note" in told && { note: told.note }) });
    const { message: reason, next } = told.failure;
    return c.json({ ok: false, reason, ...(next && { next }) }, told.because === "usage" ? 400 : 409);
  });
}

function addDevices(app: Hono, { access }: ServerParts): void {
  app.get("/api/devices", (c) => {
    const own = access.deviceOf(getCookie(c, COOKIE))?.id;
    return c.json(access.devices().map((device) => ({ ...device, isThis: device.id === own })));
  });
  app.delete("/api/devices/:id", (c) => {
    if (!access.revoke(c.req.param("id"))) return c.json({ error: "no such device" }, 404);
    if (access.deviceOf(getCookie(c, COOKIE)) === undefined) deleteCookie(c, COOKIE);
    return c.json({ ok: true });
  });
}

async function lineOf(record: RunRecord, runs: Runs): Promise<RunLine | Failed> {
  const home = await runs.open(record.run);
  if (hasFailed(home)) return home;
  const known = await seeRun(home);
  if (hasFailed(known)) return known;
  const owner = await home.owner().catch(() => undefined); // As if nobody drove it: its page says more.
  return runLine(record, standingOf(known.seen), owner !== undefined);
}

async function homeOf(c: Context, runs: Runs): Promise<RunHome | Response> {
  const run = c.req.param("run") ?? "";
  if (!RUN.test(run)) return c.json({ error: "no such run" }, 404);
  const home = await runs.open(run);
  return hasFailed(home) ? c.json({ error: home.failure.message }, 404) : home;
}

/** Until the client leaves, or its device is revoked. */
function openStream(
  c: Context,
  access: Access,
  send: (stream: SSEStreamingApi, signal: AbortSignal) => Promise<void>,
): Response {
  return streamSSE(c, async (stream) => {
    const stop = new AbortController();
    stream.onAbort(() => stop.abort());
    access.revocations.addEventListener("revoked", () => isIn(c, access) || stop.abort(), stop);
    try {
      await send(stream, stop.signal);
    } catch (error) {
      if (!stop.signal.aborted)
        await stream.writeSSE({ event: "problem", data: JSON.stringify(messageOf(error)) });
    } finally {
      stop.abort();
    }
  });
}

/** What comes within a moment, as one list. */
async function* gathered(
  events: AsyncIterable<Event>,
  signal: AbortSignal,
): AsyncGenerator<readonly Event[]> {
  const waiting: Event[] = [];
  let wake = Promise.withResolvers<void>();
  let end: { readonly error?: unknown } | undefined;
  const reading = (async () => {
    try {
      for await (const event of events) {
        waiting.push(event);
        wake.resolve();
        if (waiting.length >= MAX_BATCH) await pause(GATHER_MS / 10);
      }
      end = {};
    } catch (error) {
      end = { error };
    }
    wake.resolve();
  })();
  while (!signal.aborted) {
    await wake.promise;
    wake = Promise.withResolvers();
    if (waiting.length > 0) {
      if (waiting.length < MAX_BATCH && !end) await pause(GATHER_MS);
      while (waiting.length > 0) yield waiting.splice(0, MAX_BATCH);
    }
    if (end) {
      await reading;
      if (end.error !== undefined) throw end.error;
      return;
    }
  }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
