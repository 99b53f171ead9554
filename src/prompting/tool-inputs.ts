/** The input schemas of the tools that end a turn: as lenient as their readers, which check the inputs. */
import * as z from "zod";

/**
 * Models are shown a strict schema; these preprocessors also accept variants that models write and the readers
 * understand.
 */
const id = z.preprocess((is) => (typeof is === "number" ? `${is}` : is), z.string());
const text = z.preprocess((is) => (isTexts(is) ? is.join("\n") : is), z.string());
const texts = z.preprocess((is) => (typeof is === "string" ? [is] : is), z.array(z.string()));
const wholeNumber = z.preprocess(
  (is) => (typeof is === "string" && /^\d{1,2}$/.test(is) ? Number(is) : is),
  z.int().min(1).max(10),
);
const oneOf = <Word extends string>(...words: readonly [Word, ...Word[]]) =>
  z.preprocess((is) => (typeof is === "string" ? is.trim().toLowerCase() : is), z.enum(words));
const paths = z.array(z.string());
const ids = z.preprocess((is) => (Array.isArray(is) ? is : [is]), z.array(id));

const isTexts = (is: unknown): is is readonly string[] =>
  Array.isArray(is) && is.every((one) => typeof one === "string");

/** Removes null, which models write for a missing field, down to the depth of a task's fields. */
function withoutNulls(is: unknown, levels = 3): unknown {
  if (typeof is !== "object" || is === null || levels === 0) return is;
  if (Array.isArray(is)) return is.map((one) => withoutNulls(one, levels - 1));
  const said = Object.entries(is).filter(([, value]) => value !== null);
  return Object.fromEntries(said.map(([key, value]) => [key, withoutNulls(value, levels - 1)]));
}

/** Unknown keys are kept, because the reader explains what becomes of "dependsOn". */
const task = z.looseObject({
  id: id
    .optional()
    .describe(
      "Your own name for it, never used before: letters, digits, dots, dashes, underscores; " +
        "made from the description if left out.",
    ),
  description: text.describe(
    "All that its worker will know: what, why, where, and which patterns to follow.",
  ),
  acceptance: text.describe("How to tell that it is done."),
  scope: paths
    .optional()
    .describe('The files that it may change, from the top of the repository; a folder ends in "/".'),
  priority: wholeNumber
    .optional()
    .describe("1 is the most urgent, 10 the least; that of your own task if left out."),
  after: z.array(id).optional().describe("Ids of your tasks that must have landed before this one starts."),
  agent: z.string().optional().describe("The name of a specialist, if one was offered and suits."),
  delivers: oneOf("change", "report")
    .optional()
    .describe('"report" if nothing is to be changed; "change" if left out.'),
  size: oneOf("complex", "atomic")
    .optional()
    .describe('"complex" if a subplanner should split it first, "atomic" if one worker must take it whole.'),
  branch: z.string().optional().describe("A hint for the name of its branch."),
});

/** For a concern that a worker only mentioned, an id is enough. */
const addressed = z.preprocess(
  (is) => (typeof is === "string" || typeof is === "number" ? { concern: is } : is),
  z.looseObject({
    concern: id.optional().describe("Its id."),
    by: id.optional().describe("If a task was not done: the id of your task that takes its place."),
    because: text.optional().describe("If a task was not done and nothing takes its place: why not."),
  }),
);

const planInput = (tasks: typeof task) =>
  z.preprocess(
    (is) => withoutNulls(is),
    z.looseObject({
      scratchpad: z
        .string()
        .optional()
        .describe("What you must remember: done, next, deferred and why. It replaces the last one."),
      tasks: z.array(tasks).describe("The next tasks; empty if there are none."),
      deferred: z
        .array(z.looseObject({ files: paths.optional(), reason: text }))
        .optional()
        .describe("Files of your scope that no task covers yet, and why."),
      addressed: z.array(addressed).optional().describe("Concerns that are dealt with, and how."),
      done: z.boolean().optional().describe("Whether nothing is left to plan."),
    }),
  );

export const planToolInput = planInput(task);

/** For fleets whose machines have labels. */
export const fleetPlanToolInput = planInput(
  task.extend({
    needs: texts.optional().describe("Labels of the machine that it must run on; any if left out."),
  }),
);

/** A task of a plan file; waves are derived from these. */
const planTask = z.looseObject({
  id: id.describe("A short name, unique in the plan: letters, digits, dots, dashes, underscores."),
  subject: z.string().describe("A short imperative title."),
  description: text.describe("All that its worker will know: what, why, where, which patterns to follow."),
  activeForm: z.string().optional().describe("The title in the present continuous."),
  blockedBy: z.array(id).optional().describe("Ids of tasks that must be done first; none if left out."),
  scope: paths
    .optional()
    .describe('Files that it may change, from the top of the repository; a folder ends in "/".'),
  reads: paths.optional().describe("Files that it has to read."),
  delivers: oneOf("change", "report").optional().describe('"report" if nothing is to be changed.'),
  requirements: texts.optional().describe("What must hold when it is done."),
  success_criterion: z
    .string()
    .optional()
    .describe("One command, run by a shell in the repository, that passes when it is done."),
  priority: wholeNumber.optional().describe("1 is the most urgent, 10 the least; 5 if left out."),
  metadata: z
    .looseObject({
      agent: z.string().optional().describe("A specialist that was offered, or general-purpose."),
      depth: wholeNumber.optional().describe("How often the request was split to come to it."),
      parent_id: id.optional().describe("What it is a part of."),
      output_file: z
        .string()
        .optional()
        .describe("$CLAUDE_SCRATCHPAD_DIR/<name>.md, if it writes its result there; else leave it out."),
    })
    .optional(),
});

export const executionPlanToolInput = z.preprocess(
  (is) => withoutNulls(is, 4),
  z.looseObject({
    goal: text.optional().describe("The request in one sentence."),
    success_criteria: texts.optional().describe("How to tell that all of it is done."),
    assumptions: texts.optional().describe("What you assumed where the request does not say."),
    questions: z
      .array(z.looseObject({ question: text, default: text, blocking: z.boolean().optional() }))
      .optional()
      .describe(
        "At most one, if its answer decides what is built: with the default that this plan is made for.",
      ),
    context: z
      .looseObject({ files: paths.optional(), patterns: texts.optional(), tests: paths.optional() })
      .optional()
      .describe("Files, patterns to follow and places of tests that matter to more than one task."),
    tasks: z.array(planTask).describe("All of them, each with what it waits for."),
    risks: texts.optional().describe("What could go wrong, and why."),
    coverage: z
      .array(z.looseObject({ says: text, in: ids }))
      .optional()
      .describe(
        'Each order and limit of the request, and the ids of the tasks that have it, or "assumption".',
      ),
  }),
);

export const handoffToolInput = z.preprocess(
  (is) => withoutNulls(is),
  z.looseObject({
    status: oneOf("complete", "partial", "blocked", "failed").describe(
      '"complete" only if every point of the acceptance holds and you have verified it.',
    ),
    summary: text
      .optional()
      .describe("What you did and how you verified it; for a report, the whole report."),
    concerns: texts
      .optional()
      .describe("What the planner must know: what you doubt, what is missing, what you found broken."),
    suggestions: texts.optional().describe("What could be done next, outside of this task."),
  }),
);

/** Unknown keys are kept: `readCall` checks the request and explains what is wrong. */
export const spawnToolInput = z.preprocess(
  (is) => withoutNulls(is),
  z.looseObject({
    type: z.string().describe('What kind of work it is, in a word: "verification", "search", "tests".'),
    description: text.describe("All that its worker will know of it: what, why, where, what to give back."),
    inputs: z.record(z.string(), z.unknown()).optional().describe("Values that it needs, by name."),
    template_hints: texts.optional().describe("Words that help to find a template for it."),
    return_expectations: z
      .preprocess((is) => (typeof is === "object" ? JSON.stringify(is) : is), z.string())
      .optional()
      .describe(
        "What its result must look like: json, text, markdown, list, number, boolean, or a JSON Schema.",
      ),
    max_depth: z.int().min(0).optional().describe("Levels of subtasks that it may use, its own included."),
    subtype: z.string().optional(),
    file_paths: texts.optional().describe("Files that it is given to read, whole."),
    context_management: z
      .looseObject({
        inherit_context: oneOf("full", "none", "subset").optional(),
        accumulate_data: z
          .preprocess((is) => (is === "true" || is === "false" ? is === "true" : is), z.boolean())
          .optional(),
        accumulation_format: oneOf("notes_only", "full_output").optional(),
        fresh_context: oneOf("enabled", "disabled").optional(),
      })
      .optional()
      .describe(
        'What it knows besides: inherit_context "full" gives it this conversation, accumulate_data the results of ' +
          "your earlier subtasks.",
      ),
  }),
);

export const askToolInput = z.preprocess(
  (is) => withoutNulls(is),
  z.looseObject({
    question: text.describe("One question, with all that is needed to answer it."),
    default: text.optional().describe("What is used if no answer comes in time."),
    wait_s: z
      .number()
      .min(0)
      .optional()
      .describe("Seconds to wait for an answer; as long as is usual if left out."),
  }),
);

/** The reader explains what is wrong with a request, so that the model can fix it. */
export const answerToolInput = z.preprocess(
  (is) => withoutNulls(is),
  z.looseObject({
    status: z
      .preprocess(
        (is) => (typeof is === "string" ? is.trim().toUpperCase() : is),
        z.enum(["COMPLETE", "CONTINUATION", "NEEDS_INPUT", "FAILED"]),
      )
      .describe(
        "CONTINUATION asks for a subtask, NEEDS_INPUT asks a question; both let you go on afterwards.",
      ),
    content: text.optional().describe("The result, the question, or why it failed."),
    notes: z
      .looseObject({
        subtask_request: z
          .looseObject({
            type: z.string().optional(),
            description: text.optional(),
            inputs: z.record(z.string(), z.unknown()).optional(),
          })
          .optional()
          .describe("Of CONTINUATION: the subtask, as your instructions describe it."),
        question: z
          .looseObject({ default: z.string().optional(), wait_ms: z.number().optional() })
          .optional()
          .describe("Of NEEDS_INPUT: what is used without an answer, and how long to wait for one."),
      })
      .optional(),
  }),
);
