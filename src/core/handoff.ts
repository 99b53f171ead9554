/** Describes the handoff of a worker or of a finished subtree; computed values override what was claimed. */
import { messageOf } from "./failure.ts";

export type HandoffStatus = "complete" | "partial" | "blocked" | "failed";

export type Metrics = {
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly filesCreated: number;
  readonly filesModified: number;
  readonly tokensUsed: number;
  readonly toolCallCount: number;
  readonly durationMs: number;
};

export type Handoff = {
  readonly taskId: string;
  readonly status: HandoffStatus;
  readonly summary: string;
  readonly diff: string;
  readonly filesChanged: readonly string[];
  /** The commit that was judged and that lands, even if its branch has moved since. Absent in older logs. */
  readonly commit?: string;
  readonly concerns: readonly string[];
  readonly suggestions: readonly string[];
  readonly metrics: Metrics;
  /** The file among the run's artefacts with the whole result, if that was too long for the summary. */
  readonly artefact?: string;
  /** What the branch changes of what the gate runs or of what steers agents, in words. */
  readonly flags?: readonly string[];
  /** Its concerns say which tests the branch removed, moved or skipped. */
  readonly tellsOfTests?: true;
};

/** How every concern about a changed checkout begins. The worker need not be the one who changed it. */
export const CHECKOUT_CHANGED = "the user's checkout changed while";

/** `during`: what was going on meanwhile. */
export function checkoutChanged(during: string, places: readonly string[]): string {
  const some = places.slice(0, MAX_NAMED).join(", ");
  const more = places.length > MAX_NAMED ? ` and ${places.length - MAX_NAMED} more` : "";
  return `${CHECKOUT_CHANGED} ${during}: ${some}${more}`;
}

const MAX_NAMED = 5;

/**
 * Marks a concern about tests and marks that are flagged but not refused; it is read off the branch, not claimed by the
 * worker.
 */
export const toLookAt = (what: string): string => `${LOOK_AT}${what}`;

const LOOK_AT = "to look at: ";

export const flaggedIn = ({ concerns }: Pick<Handoff, "concerns">): readonly string[] =>
  concerns.flatMap((concern) => (concern.startsWith(LOOK_AT) ? [concern.slice(LOOK_AT.length)] : []));

export const NO_METRICS: Metrics = {
  linesAdded: 0,
  linesRemoved: 0,
  filesCreated: 0,
  filesModified: 0,
  tokensUsed: 0,
  toolCallCount: 0,
  durationMs: 0,
};

/**
 * Makes one handoff for a whole subtree, so that the parent's planner sees one task.
 *
 * ```ts
 * const whole = aggregateHandoffs(parent, subtasks, handoffs);
 * whole.status; // "complete" only if every subtask is; without subtasks: "blocked"
 * ```
 */
export function aggregateHandoffs(
  parent: { readonly id: string; readonly description: string },
  subtasks: readonly { readonly id: string }[],
  handoffs: readonly Handoff[],
): Handoff {
  const total = new Set(subtasks.map(({ id }) => id)).size;
  const latest = latestOfEach(subtasks, handoffs);
  const complete = latest.filter((h) => h.status === "complete").length;
  const failed = latest.filter((h) => h.status === "failed").length;
  const headline =
    `"${parent.description}" was split into ${total === 1 ? "1 subtask" : `${total} subtasks`}: ` +
    `${complete} complete, ${failed} failed, ${total - complete - failed} other.`;
  return {
    taskId: parent.id,
    status: aggregateStatus(total, complete, failed),
    summary: [headline, ...latest.map((h) => `[${h.taskId}] ${h.status}: ${h.summary}`)].join("\n"),
    diff: latest.flatMap((h) => (h.diff === "" ? [] : [h.diff])).join("\n"),
    filesChanged: [...new Set(latest.flatMap((h) => h.filesChanged))],
    concerns: latest.flatMap((h) => h.concerns.map((text) => `[${h.taskId}] ${text}`)),
    suggestions: latest.flatMap((h) => h.suggestions.map((text) => `[${h.taskId}] ${text}`)),
    metrics: latest.reduce((sum, h) => addMetrics(sum, h.metrics), NO_METRICS),
  };
}

/** A subtask or report that appears twice counts once; a report of a task that is not a subtask is dropped. */
function latestOfEach(subtasks: readonly { readonly id: string }[], handoffs: readonly Handoff[]) {
  const byTask = new Map(handoffs.map((h) => [h.taskId, h]));
  const seen = new Set<string>();
  return subtasks.flatMap(({ id }) => {
    const handoff = byTask.get(id);
    if (!handoff || seen.has(id)) return [];
    seen.add(id);
    return [handoff];
  });
}

/** The status of a whole with `total` parts, of which some are complete and some failed. */
export function aggregateStatus(total: number, complete: number, failed: number): HandoffStatus {
  if (total === 0) return "blocked"; // Nothing was asked for, so nothing can be complete.
  if (complete === total) return "complete";
  if (failed === total) return "failed";
  return complete > 0 ? "partial" : "blocked";
}

/** Work adds up. Subtasks run side by side, so the longest one is the duration. */
const addMetrics = (a: Metrics, b: Metrics): Metrics => ({
  linesAdded: a.linesAdded + b.linesAdded,
  linesRemoved: a.linesRemoved + b.linesRemoved,
  filesCreated: a.filesCreated + b.filesCreated,
  filesModified: a.filesModified + b.filesModified,
  tokensUsed: a.tokensUsed + b.tokensUsed,
  toolCallCount: a.toolCallCount + b.toolCallCount,
  durationMs: Math.max(a.durationMs, b.durationMs),
});

/**
 * The report of a failed task: what went wrong, and what to try.
 *
 * ```ts
 * createFailureHandoff(task, new Error("model unreachable")).status; // "failed"
 * ```
 */
export function createFailureHandoff(task: { readonly id: string }, error: unknown): Handoff {
  const message = messageOf(error);
  return {
    taskId: task.id,
    status: "failed",
    summary: message,
    diff: "",
    filesChanged: [],
    concerns: [message],
    suggestions: [nextOf(error) ?? TRY_AGAIN],
    metrics: NO_METRICS,
  };
}

const TRY_AGAIN = "find out why, then try again with a smaller or clearer task";

/** The advice that a failure of the engine carries. */
function nextOf(error: unknown): string | undefined {
  try {
    const { next } = Object(error) as { next?: unknown };
    return typeof next === "string" && next !== "" ? next : undefined;
  } catch {
    return undefined; // The getter throws: then there is no advice.
  }
}

/** Bounds a handoff for the log, because a worker may write any amount. */
export function boundHandoff(
  handoff: Handoff,
  max: { readonly maxSummaryChars: number; readonly maxDiffChars: number; readonly maxConcerns: number },
): Handoff {
  const few = (texts: readonly string[]) =>
    texts.slice(0, max.maxConcerns).map((text) => cut(text, max.maxSummaryChars));
  return {
    ...handoff,
    summary: cut(handoff.summary, max.maxSummaryChars),
    filesChanged: handoff.filesChanged.slice(0, MAX_FILES),
    diff: cut(handoff.diff, max.maxDiffChars),
    concerns: few(handoff.concerns),
    suggestions: few(handoff.suggestions),
    ...(handoff.flags && { flags: few(handoff.flags) }),
  };
}

/** More than a person or a model reads; the branch shows all of them. */
const MAX_FILES = 1_000;

export const cut = (text: string, max: number) =>
  text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
