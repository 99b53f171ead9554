/** Serves the page's requests about runs: the list, a run's events, its output and changes, and commands to it. */
import type { Context, Hono } from "hono";
import * as z from "zod";
import { type DeliverParts, deliverRun } from "../../app/deliver.ts";
import { deliverCommand, deliveredOf, deliveryOf } from "../../app/deliverable.ts";
import { deliveredWords, isDeliveredEnd, undeliveredWords } from "../../app/delivery-words.ts";
import { attemptDiff, gateOutput } from "../../app/gate-output.ts";
import { targetOf } from "../../app/lost-run.ts";
import type { Parts } from "../../app/parts.ts";
import type { Refused } from "../../app/refused.ts";
import { type SeenRun, seeRun } from "../../app/see-run.ts";
import { tellRun } from "../../app/tell-run.ts";
import type { JobId } from "../../core/job.ts";
import { type Failed, hasFailed } from "../../core/result.ts";
import type { TaskId } from "../../core/task.ts";
import { budgetOf } from "../../core/view/budget-left.ts";
import { type RunLine, runLine } from "../../core/view/run-line.ts";
import { standingOf } from "../../core/view/standing.ts";
import type { MailboxMessage } from "../../ports/mailbox.ts";
import type { RunFiles } from "../../ports/run-files.ts";
import type { RunHome, RunRecord, Runs } from "../../ports/runs.ts";
import { hasPlanner } from "../cli/run-record.ts";
import { gathered, type OpenStream } from "./streams.ts";

export type RunsParts = Pick<Parts, "git" | "mailboxOf" | "openWorld" | "delivery"> & {
  /** The repository's folder name, for the title. */
  readonly repository: string;
  readonly runs: Runs;
  readonly files: RunFiles;
  readonly openStream: OpenStream;
};

/**
 * The delay after which a killed run is shown as stopped. Also keeps connections open, which proxies and sleeping
 * laptops close after a longer silence.
 */
const BEAT_MS = 5_000;

/** Valid names of runs and ids of jobs; other texts never reach the disk. */
const RUN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/;
const JOB = /^(?:(?:plan|work):t(?:\.\d{1,9}){0,50}|land|check)#\d{1,9}$/;
const TASK = /^t(?:\.\d{1,9}){0,50}$/;
const ATTEMPT = /^\d{1,9}$/;
/** Valid names of gate outputs in the log: the job's name and a suffix; in a fleet, after a slash. */
const OUTPUT = /^(?:work:t(?:\.\d{1,9}){0,50}|land|check)#\d{1,9}[A-Za-z0-9._/-]{0,80}$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

const text = z.string().trim();
const task = z
  .string()
  .regex(TASK)
  .transform((id) => id as TaskId);
const SAID = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("pause") }),
  z.strictObject({ type: z.literal("resume") }),
  z.strictObject({ type: z.literal("steer"), message: text }),
  z.strictObject({ type: z.literal("approve"), task: task.optional() }),
  z.strictObject({ type: z.literal("decline"), reason: text, task: task.optional() }),
  z.strictObject({ type: z.literal("answer"), question: z.string().max(200), text }),
  z.strictObject({ type: z.literal("deliver") }),
  z.strictObject({ type: z.literal("cancel"), task: task.optional(), reason: text.optional() }),
]);

export function addRuns(
  app: Hono,
  { repository, runs, files, openStream, git, delivery, ...tellParts }: RunsParts,
): void {
  app.get("/api/repository", (c) => c.json({ repository }));

  const lines = new Map<string, RunLine>();
  app.get("/api/runs", async (c) => {
    const listed = await runs.list();
    const found: (RunLine | { readonly problem: string })[] = [];
    for (const run of listed) {
      const line = hasFailed(run) ? run : (lines.get(run.run) ?? (await lineOf(run, runs)));
      if (hasFailed(line)) found.push({ problem: line.failure.message });
      else {
        found.push(line);
        if (line.isOver) lines.set(line.run, line); // A closed log does not change.
      }
    }
    return c.json(await withDelivered(found, listed, git));
  });

  app.get("/api/runs/:run", async (c) => {
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    return c.json({ run: home.record.run, hasPlanner: hasPlanner(home.record) });
  });

  app.get("/api/runs/:run/events", async (c) => {
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const after = Number(c.req.header("last-event-id") ?? c.req.query("after") ?? 0);
    if (!Number.isSafeInteger(after) || after < 0)
      return c.json({ error: "after is no number of an event" }, 400);
    return openStream(c, async (stream, signal) => {
      // A killed process sends nothing, so the owner is polled.
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
    return openStream(c, async (stream, signal) => {
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

  app.get("/api/runs/:run/gate/:output", async (c) => {
    const output = c.req.param("output");
    if (!OUTPUT.test(output)) return c.json({ error: "no such run of the gate" }, 404);
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const hasPassed = c.req.query("passed") === "1";
    const found = await gateOutput({ home, output, hasPassed }, { files }, c.req.raw.signal);
    if (found.is === "missing") return c.json(found);
    const { lines, ...first } = found;
    return c.json({ ...first, total: lines.length, ...(c.req.query("all") === "1" && { lines }) });
  });

  app.get("/api/runs/:run/attempts/:task/:attempt", async (c) => {
    const { task: asked, attempt } = c.req.param();
    if (!TASK.test(asked) || !ATTEMPT.test(attempt)) return c.json({ error: "no such attempt" }, 404);
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const which = { home, task: asked as TaskId, attempt: Number(attempt) };
    const found = await attemptDiff(which, { files }, c.req.raw.signal);
    return hasFailed(found) ? c.json({ error: found.failure.message }, 404) : c.json(found);
  });

  app.post("/api/runs/:run/commands", async (c) => {
    const said = SAID.safeParse(await c.req.json().catch(() => undefined));
    if (!said.success) return c.json({ error: "this is no command that a run understands" }, 400);
    const home = await homeOf(c, runs);
    if (home instanceof Response) return home;
    const known = await seeRun(home);
    if (said.data.type === "deliver")
      return hasFailed(known)
        ? c.json({ error: known.failure.message }, 409)
        : deliver(c, known, { git, delivery, openWorld: tellParts.openWorld });
    const command = said.data as MailboxMessage;
    const told = hasFailed(known) ? known : await tellRun({ ...known, command }, tellParts, c.req.raw.signal);
    if (hasFailed(told)) return no(c, told);
    return c.json({ ok: true, ...("note" in told && { note: told.note }) });
  });
}

/** Delivers to the run's own branch only: not into a checkout, not a partial run, and not a failing target. */
async function deliver(c: Context, run: SeenRun, parts: DeliverParts): Promise<Response> {
  const delivered = await deliverRun({ home: run.home, seen: run.seen }, parts, c.req.raw.signal);
  if (hasFailed(delivered)) return no(c, delivered);
  const { record } = run.home;
  const { end, branch: baseBranch } = delivered;
  const again = await deliverCommand(record, parts.git);
  const said = { run: record.run, again, baseBranch, target: targetOf(record) };
  if (isDeliveredEnd(end)) return c.json({ ok: true, note: deliveredWords(end, said) });
  const { message, lines = [], next } = undeliveredWords(end, said);
  return c.json({ ok: false, reason: [message, ...lines].join("; "), next }, 409);
}

function no(c: Context, { failure: { message: reason, next }, because }: Refused): Response {
  return c.json({ ok: false, reason, ...(next && { next }) }, because === "usage" ? 400 : 409);
}

/** For finished runs with landed work, asks git whether the work is on its branch. */
async function withDelivered(
  lines: readonly (RunLine | { readonly problem: string })[],
  records: readonly (RunRecord | Failed)[],
  git: Parts["git"],
): Promise<typeof lines> {
  const asked = new Set(
    lines.flatMap((line) => ("run" in line && line.isOver && line.delivered === undefined ? [line.run] : [])),
  );
  const delivered = await deliveredOf(
    records.flatMap((record) => (!hasFailed(record) && asked.has(record.run) ? [record] : [])),
    git,
  );
  return lines.map((line) =>
    "run" in line && asked.has(line.run)
      ? { ...line, delivered: delivered.has(line.run) ? ("yes" as const) : ("no" as const) }
      : line,
  );
}

async function lineOf(record: RunRecord, runs: Runs): Promise<RunLine | Failed> {
  const home = await runs.open(record.run);
  if (hasFailed(home)) return home;
  const known = await seeRun(home);
  if (hasFailed(known)) return known;
  const owner = await home.owner().catch(() => undefined); // Treated as not driven; the run's page says more.
  return runLine(record, standingOf(known.seen), { isDriven: owner !== undefined, now: Date.now() });
}

async function homeOf(c: Context, runs: Runs): Promise<RunHome | Response> {
  const run = c.req.param("run") ?? "";
  if (!RUN.test(run)) return c.json({ error: "no such run" }, 404);
  const home = await runs.open(run);
  return hasFailed(home) ? c.json({ error: home.failure.message }, 404) : home;
}
