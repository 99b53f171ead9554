/** Reads a worker's handoff tolerantly from untrusted text, or makes one from its branch if it gave none. */

import { findJson, type Json, type JsonObject } from "../../text/json-salvage.ts";
import { quoted } from "../../text/lines.ts";
import { boundHandoff, type Handoff, type HandoffStatus, type Metrics, NO_METRICS } from "../handoff.ts";
import type { Spent } from "../job.ts";
import type { Evidence } from "../rules/evidence.ts";

export type ReadHandoff =
  | { readonly is: "handoff"; readonly handoff: Handoff }
  /** The text holds nothing that looks like a handoff. */
  | { readonly is: "none" }
  /** The text holds a handoff that does not say how the work ended. */
  | { readonly is: "broken"; readonly reasons: readonly string[] };

/**
 * Never throws, and takes time in proportion to the text. Only the status can break a handoff: a report of "blocked"
 * with an unreadable summary must still count as a report.
 *
 * ```ts
 * readHandoff('Done!\n{"status": "complete", "summary": "added the parser"}', "t.1"); // { is: "handoff", … }
 * readHandoff("Done!", "t.1"); // { is: "none" }
 * readHandoff('{"status": "great"}', "t.1"); // { is: "broken", reasons: ['"status" is "great"; …'] }
 * ```
 */
export function readHandoff(
  text: string,
  taskId: string,
  maxSummaryChars = LIMITS.maxSummaryChars,
): ReadHandoff {
  const last = lastReport(end(text));
  if (last === undefined) return text.length > MAX_READ_CHARS ? TOO_LONG : { is: "none" };
  const status = readStatus(last.fields.get("status") ?? null);
  if ("problem" in status) return { is: "broken", reasons: [status.problem] };
  if (last.isCut && status.is === "complete") return { is: "broken", reasons: [CUT_OFF] };
  const { fields } = last;
  const concerns = [...readTexts(fields.get("concerns")), ...(last.isCut ? [CUT_OFF] : [])];
  const handoff: Handoff = {
    taskId,
    status: status.is,
    summary: readTexts(fields.get("summary")).join("\n"),
    diff: "",
    filesChanged: [],
    concerns,
    suggestions: readTexts(fields.get("suggestions")),
    metrics: readMetrics(fields.get("metrics")),
  };
  return { is: "handoff", handoff: boundHandoff(handoff, { ...LIMITS, maxSummaryChars }) };
}

/** Makes the handoff of a worker that ended without error but gave no readable handoff from what its branch shows. */
export function handoffFromEvidence(
  taskId: string,
  evidence: Pick<Evidence, "filesChanged" | "linesAdded" | "linesRemoved">,
  why: Exclude<ReadHandoff, { readonly is: "handoff" }>,
): Handoff {
  const { filesChanged, linesAdded, linesRemoved } = evidence;
  const concern =
    why.is === "none"
      ? "the worker gave no handoff: its summary was made from its branch, and there was no report that the task is complete"
      : `the worker's handoff could not be read (${why.reasons.join("; ")}): its summary was made from its branch`;
  const handoff: Handoff = {
    taskId,
    // An agent that gives no handoff may be a program that never gives one; an unreadable handoff may say "failed".
    status: why.is === "none" ? "complete" : "failed",
    summary:
      filesChanged.length === 0
        ? "changed no file"
        : `changed ${named(filesChanged)} (${linesAdded} lines added, ${linesRemoved} removed)`,
    diff: "",
    filesChanged,
    concerns: [concern],
    suggestions: [],
    metrics: NO_METRICS,
  };
  return boundHandoff(handoff, LIMITS);
}

/** Reads what a turn says that it cost: in `spent`, or as `metrics.tokensUsed`. Undefined if the turn does not say. */
export function readSpent(text: string): Spent | undefined {
  const isBill = (fields: JsonObject) => fields.has("spent") || fields.has("metrics");
  const fields = lastLine(end(text), isBill)?.fields ?? lastWhole(end(text), isBill);
  const spent = fields?.get("spent");
  const metrics = fields?.get("metrics");
  const tokens =
    (spent instanceof Map ? cost(spent.get("tokens")) : undefined) ??
    (metrics instanceof Map ? cost(metrics.get("tokensUsed")) : undefined);
  if (tokens === undefined) return undefined;
  const microdollars = spent instanceof Map ? cost(spent.get("microdollars")) : undefined;
  return microdollars === undefined ? { tokens } : { tokens, microdollars };
}

/** Generous limits for one report read by a person or a model; the policy cuts it further for the log. */
const LIMITS = { maxSummaryChars: 20_000, maxDiffChars: 0, maxConcerns: 100 };

/**
 * Only the end of a worker's output is read, because the report is the last thing that it writes. Of long output 4 MB
 * are kept, which is more than this number of characters: so output that was cut is never read as "no handoff".
 */
export const MAX_READ_CHARS = 1_300_000;
const TOO_LONG: ReadHandoff = {
  is: "broken",
  reasons: [`there is no handoff in the last ${MAX_READ_CHARS} characters, and more than these were written`],
};
const end = (text: string) => (text.length > MAX_READ_CHARS ? text.slice(-MAX_READ_CHARS) : text);

const CUT_OFF = "the handoff was cut off: what followed is not known";

type Report = { readonly fields: JsonObject; readonly isCut: boolean };

/**
 * The last object whose status is text is the handoff: an example quoted before it is not, and neither is a log line
 * like `{"status": 200}` after it. An object that is the whole text was meant as a handoff.
 */
function lastReport(text: string): Report | undefined {
  const line = lastLine(text, saysStatus);
  let last: Report | undefined = line && { fields: line.fields, isCut: false };
  let pieces = 0;
  let only: JsonObject | undefined;
  for (const found of findJson(line ? text.slice(line.end) : text)) {
    pieces += 1;
    const written = found.is === "whole" ? found.value : found.open[0];
    const value = Array.isArray(written) && written.length === 1 ? written[0] : written;
    if (!(value instanceof Map)) continue;
    const fields = unwrapped(value);
    only = found.is === "whole" && (value === written || saysStatus(fields)) ? value : undefined;
    const isBegun = found.is === "cut" && fields.has("status"); // Its status was cut off, too.
    if (isBegun || (saysStatus(fields) && value === written)) last = { fields, isCut: found.is !== "whole" };
  }
  if (last) return last;
  // The text must be nothing but the object (or a list or fence with it): JSON among other output may mean anything.
  return pieces === 1 && only && /^\s*(?:```|[{[])/.test(text) ? { fields: only, isCut: false } : undefined;
}

const saysStatus = (fields: JsonObject) => typeof fields.get("status") === "string";

/** Some models wrap the handoff: `{"handoff": {…}}`. */
function unwrapped(fields: JsonObject): JsonObject {
  const inner = fields.get("handoff");
  return inner instanceof Map ? inner : fields;
}

/** The last line that is one whole object. What comes before it does not matter, not even an unclosed bracket. */
function lastLine(
  text: string,
  is: (fields: JsonObject) => boolean,
): { readonly fields: JsonObject; readonly end: number } | undefined {
  for (let to = text.length; to > 0; ) {
    const from = text.lastIndexOf("\n", to - 1) + 1;
    const fields = objectIn(text.slice(from, to).trim());
    if (fields && is(fields)) return { fields, end: to };
    to = from - 1;
  }
  return undefined;
}

function objectIn(line: string): JsonObject | undefined {
  if (!line.startsWith("{") || !line.endsWith("}")) return undefined;
  const [found, ...more] = findJson(line);
  const whole = found?.is === "whole" && more.length === 0 ? found.value : undefined;
  return whole instanceof Map ? unwrapped(whole) : undefined;
}

function lastWhole(text: string, is: (fields: JsonObject) => boolean): JsonObject | undefined {
  let last: JsonObject | undefined;
  for (const found of findJson(text)) {
    if (found.is === "whole" && found.value instanceof Map && is(found.value)) last = found.value;
  }
  return last;
}

const STATUSES: readonly HandoffStatus[] = ["complete", "partial", "blocked", "failed"];

function readStatus(written: Json): { readonly is: HandoffStatus } | { readonly problem: string } {
  const rule = `it must be one of ${STATUSES.join(", ")}`;
  if (written === null) return { problem: `"status" is missing; ${rule}` };
  if (typeof written !== "string") return { problem: `"status" must be text; ${rule}` };
  const word = written.trim().toLowerCase();
  const status = STATUSES.find((s) => s === word);
  return status ? { is: status } : { problem: `"status" is ${quoted(written)}; ${rule}` };
}

/** Reads a list of texts. One text counts as a list of one; entries that are not text are left out. */
function readTexts(written: Json | undefined): readonly string[] {
  const entries = Array.isArray(written) ? written : [written];
  return entries.flatMap((entry) => {
    const text = typeof entry === "string" ? entry.toWellFormed().replace(CONTROL, "").trim() : "";
    return text === "" ? [] : [text];
  });
}

/** Control characters except tab and line ends: a terminal obeys escape sequences. */
const CONTROL = /[\p{Cc}--[\t\n\r]]/gv;

function readMetrics(written: Json | undefined): Metrics {
  if (!(written instanceof Map)) return NO_METRICS;
  const count = (name: keyof Metrics) => cost(written.get(name)) ?? 0;
  return {
    linesAdded: count("linesAdded"),
    linesRemoved: count("linesRemoved"),
    filesCreated: count("filesCreated"),
    filesModified: count("filesModified"),
    tokensUsed: count("tokensUsed"),
    toolCallCount: count("toolCallCount"),
    durationMs: count("durationMs"),
  };
}

/** More than one turn can spend, count or wait. */
const MAX_COUNT = 1e12;

const cost = (written: Json | undefined): number | undefined =>
  typeof written === "number" && written >= 0 && written <= MAX_COUNT ? Math.round(written) : undefined;

const MAX_NAMED = 5;
const named = (files: readonly string[]) =>
  files.length <= MAX_NAMED
    ? files.join(", ")
    : `${files.slice(0, MAX_NAMED).join(", ")} and ${files.length - MAX_NAMED} more files`;
