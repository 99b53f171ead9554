/** Reads strictly what a worker of a fleet hands back: anything unexpected makes it invalid. */
import * as z from "zod";
import { AGENT, type AnsweredTask } from "../../core/answers/plan-answer.ts";
import type { Failure, FailureKind } from "../../core/failure.ts";
import { type CommandReport, type GateLeftovers, MAX_GATE_RECORDS } from "../../core/gate.ts";
import type { Handoff, Metrics } from "../../core/handoff.ts";
import type { Evidence } from "../../core/rules/evidence.ts";
import { CHANGED_OF } from "../../core/rules/gate-changes.ts";
import { PROBLEM_CLASSES, type Problem } from "../../core/rules/repair.ts";
import { readPath } from "../../core/scope.ts";
import type { SubtaskOrder } from "../../core/subtask.ts";
import { LABEL, MAX_LABELS } from "../../core/task.ts";
import type { Spent, TurnTally } from "../../core/used.ts";
import type { JobResult } from "../../ports/fleet-jobs.ts";
import { isModestJson, parseJson } from "../../text/json.ts";
import { isCommit } from "../repositories/names.ts";

/** Diffs, results and plans are cut or refused far below this size by the code that makes them. */
export const MAX_RESULT_CHARS = 16_000_000;

/** Undefined if the text is not a valid result. */
export const readResult = (text: unknown): JobResult | undefined =>
  typeof text === "string" && text.length <= MAX_RESULT_CHARS && isModestJson(text)
    ? (RESULT.safeParse(parseJson(text)).data as JobResult | undefined)
    : undefined;

/** A job's cost in a worker's own words; undefined if it is invalid. */
export const readSpent = (said: unknown): Spent | undefined =>
  SPENT.safeParse(said).data as Spent | undefined;

/** Names every field of a type, so that none is dropped by mistake. */
type Shape<T, Left extends keyof T = never> = Record<Exclude<keyof T, Left>, z.ZodType>;

const text = z.string();
const texts = z.array(text).max(100_000);
const count = z.number().nonnegative().max(Number.MAX_SAFE_INTEGER);
const commit = text.refine(isCommit);
const yes = z.literal(true).optional();

const KINDS = Object.keys({
  ...{ "agent-failed": 0, "agent-unreachable": 0, quota: 0, authentication: 0, "timed-out": 0 },
  ...{ interrupted: 0, "plan-unreadable": 0, "plan-invalid": 0, "not-a-planner": 0, incomplete: 0 },
  ...{ "empty-change": 0, "out-of-scope": 0, "rule-broken": 0, unmet: 0, conflict: 0, "gate-red": 0 },
  ...{ "target-red": 0, "children-failed": 0, "planner-gave-up": 0, repository: 0, log: 0, setup: 0 },
  ...{ budget: 0, policy: 0, cancelled: 0 },
} satisfies Record<FailureKind, 0>);

const FAILURE = z.object({
  ...{ kind: z.enum(KINDS), message: text, next: text.optional(), detail: text.optional() },
  agent: text.optional(),
  ...{ account: text.optional(), until: z.number().optional(), waitMs: z.number().optional() },
  budget: z.enum(["run", "subtree", "task"]).optional(),
} satisfies Shape<Failure>);
const FAILED = z.strictObject({ failure: FAILURE });

const SPENT = z.object({
  ...{ tokens: count, microdollars: count.optional() },
  unaccounted: z.object({ calls: count, tokens: count, microdollars: count.optional() }).optional(),
  turn: z
    .object({
      ...{ model: text, calls: count, toolCalls: count, inputTokens: count, outputTokens: count, stop: text },
    } satisfies Shape<TurnTally>)
    .optional(),
} satisfies Shape<Spent>);

const path = text.refine((written) => fits(written, readPath(written)));
const fits = (written: string, read: ReturnType<typeof readPath>) => "path" in read && read.path === written;
const scope = z.array(path).max(100_000);

/** Without terms: these name commands, which only plan files may set. */
const TASK = z.object({
  ...{ id: text.min(1), isIdMade: yes, description: text, scope, acceptance: text, after: texts },
  ...{ priority: z.int().min(1).max(10).optional(), delivers: z.enum(["change", "report"]) },
  ...{ agent: text.regex(AGENT).optional(), needs: z.array(text.regex(LABEL)).max(MAX_LABELS).optional() },
  ...{ size: z.enum(["complex", "atomic"]).optional(), branch: text.regex(/^[\w.-]{1,200}$/).optional() },
} satisfies Shape<AnsweredTask, "terms">);

const PLAN = z.object({
  ...{ scratchpad: text, tasks: z.array(TASK).max(10_000), done: z.boolean().optional(), notes: texts },
  deferred: z.array(z.object({ files: scope, reason: text })),
  addressed: z.array(z.object({ concern: text, by: text.optional(), because: text.optional() })),
});

const HANDOFF = z.object({
  ...{
    taskId: text,
    status: z.enum(["complete", "partial", "blocked", "failed"]),
    summary: text,
    diff: text,
  },
  ...{ filesChanged: texts, commit: commit.optional(), concerns: texts, suggestions: texts },
  metrics: z.object({
    ...{ linesAdded: count, linesRemoved: count, filesCreated: count, filesModified: count },
    ...{ tokensUsed: count, toolCallCount: count, durationMs: count },
  } satisfies Shape<Metrics>),
  flags: texts.optional(),
  tellsOfTests: yes,
  artefact: text.optional(),
} satisfies Shape<Handoff>);

const EVIDENCE = z.object({
  ...{ commit: commit.optional(), filesChanged: texts, diff: text, linesAdded: count, linesRemoved: count },
  ...{ filesCreated: count, filesModified: count, deletedTests: texts, disabledTests: texts },
  ...{ forbiddenMarks: texts, flaggedTests: texts.optional(), usualMarks: texts.optional() },
  deletedWords: z.array(texts).max(100_000).optional(),
  gateChanges: z.array(z.object({ of: z.enum(CHANGED_OF), file: text, what: text })).optional(),
  unmet: FAILURE.optional(),
  isMetBefore: yes,
} satisfies Shape<Evidence>);

const RESPONSE = z.object({
  name: z.enum(["subtask", "answer", "question"]),
  result: z.object({
    ...{ status: z.enum(["COMPLETE", "FAILED", "NEEDS_INPUT"]), content: text },
    notes: z.record(text, z.unknown()),
  }),
});

const ORDER = z.object({
  ...{ type: text, subtype: text, template: text, description: text, instructions: text.optional() },
  ...{ inputs: text.refine((json) => parseJson(json) !== undefined), expectation: text.optional() },
  ...{ maxDepth: count.optional(), signature: text, filePaths: texts, agent: text.regex(AGENT).optional() },
  context: z.object({
    inherit_context: z.enum(["full", "none", "subset"]),
    accumulate_data: z.boolean(),
    accumulation_format: z.enum(["notes_only", "full_output"]),
    fresh_context: z.enum(["enabled", "disabled"]),
  } satisfies Shape<SubtaskOrder["context"]>),
} satisfies Shape<SubtaskOrder>);

const QUESTION = z.object({
  ...{ text, default: text.optional(), waitMs: count.optional() },
});

const CALL = z.discriminatedUnion("is", [
  z.object({ is: z.literal("subtask"), order: ORDER }),
  z.object({ is: z.literal("question"), question: QUESTION }),
  z.object({ is: z.literal("refused"), response: RESPONSE }),
]);

const OUTCOME = z.discriminatedUnion("is", [
  z.object({ is: z.literal("planned"), answer: PLAN }),
  z.object({ is: z.literal("worked"), handoff: HANDOFF, evidence: EVIDENCE }),
  z.object({
    ...{ is: z.literal("called"), call: CALL, start: commit, session: text },
    ...{ notes: texts.optional(), agent: text.regex(AGENT).optional() },
  }),
  z.object({ is: z.literal("answered"), question: text, text }),
  z.object({ is: z.literal("passed-on"), question: text, text: text.optional() }),
  z.object({ is: z.literal("failed"), failure: FAILURE }),
]);

const CLASS = z.enum(PROBLEM_CLASSES);
const REPORT = z.object({
  commands: z.array(
    z.object({
      ...{ name: text, green: z.boolean(), failures: texts, more: count.optional() },
      ...{ classes: z.array(CLASS).optional(), unnamed: yes, nothingYet: yes },
      ...{ tests: count.optional(), hiding: count.optional(), blocked: text.optional() },
      ...{ isOfPackages: yes, names: texts.optional() },
      line: text.optional(),
    } satisfies Shape<CommandReport>),
  ),
});
const PROBLEM = z.object({
  ...{ class: CLASS, name: text, files: texts, message: text },
  ...{ cause: text.optional(), advice: text.optional() },
} satisfies Shape<Problem>);

const GATED = z.object({
  ...{
    report: REPORT,
    problems: z.array(PROBLEM),
    tail: text,
    setup: FAILURE.optional(),
    stale: text.optional(),
  },
  failed: z.array(z.object({ name: text, line: text, lines: texts })).optional(),
  passedAt: z.number().optional(),
  leftovers: z.object({ files: texts, more: count.optional() } satisfies Shape<GateLeftovers>).optional(),
});

const RUNS = z
  .array(z.object({ output: text, ms: z.number().nonnegative(), green: z.boolean().optional() }))
  .max(MAX_GATE_RECORDS);

const PROBED = z.discriminatedUnion("is", [
  z.object({ is: z.literal("proved") }),
  z.object({ is: z.literal("not-probed"), why: text }),
  z.object({ is: z.literal("unproven"), failure: FAILURE }),
]);

const MADE = z.object({
  commit,
  as: z.enum(["branch", "salvage"]),
  bundle: text.regex(/^turns\/[^/]+\.bundle$/).optional(),
});

const RESULT = z.discriminatedUnion("is", [
  z.object({
    is: z.literal("answer"),
    answer: z.object({ outcome: OUTCOME, spent: SPENT.optional() }),
    made: MADE.optional(),
  }),
  z.object({ is: z.literal("gated"), gated: z.union([GATED, FAILED]), runs: RUNS.optional() }),
  // The probed result comes first, because it may have a failure as well.
  z.object({ is: z.literal("probed"), probed: z.union([PROBED, FAILED]) }),
]);
