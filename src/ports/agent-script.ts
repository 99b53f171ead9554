/** Reads a scripted agent's file of answers for planners and workers, and checks all of it. */
import * as z from "zod";

const text = z.string("must be text");
const someText = z.string("must be text that is not empty").min(1, "must be text that is not empty");
const anyObject = z.record(z.string(), z.unknown(), "must be an object");

const MS = "must be a number of ms, a day at most";
const ms = z.number(MS).min(0, MS).max(86_400_000, MS);

/** A script writes only inside the workspace, and not into git's own folder. */
const path = z
  .unknown()
  .transform(String)
  .refine(
    (file) =>
      !/[\0\\]/.test(file) &&
      file.split("/").every((part) => !["", ".", "..", ".git"].includes(part.toLowerCase())),
    "must be a path inside the workspace, like src/a.js",
  );

/**
 * `crash`: killed, as if by the machine. `hang`: never ends. `outage`: the model cannot be reached. `silent`: succeeds
 * without any output.
 */
const FAULTS = '"crash", "hang", "outage", "silent" or {"exit": 0 to 255}';
const EXIT = "must be from 0 to 255";
const exitCode = z.int(EXIT).min(0, EXIT).max(255, EXIT);
const fault = z.union(
  [z.enum(["crash", "hang", "outage", "silent"]), z.strictObject({ exit: exitCode })],
  `must be ${FAULTS}`,
);

/** The turn ends with a call: a request for a subtask, or a question. */
const call = z.union([z.strictObject({ spawn: anyObject }), z.strictObject({ ask: anyObject })]);

/**
 * `answer`: that text only, with the path of the task's output file for `$OUTPUT`. `done`: the right end for the task,
 * which is `DONE|$OUTPUT` if it has such a file, else a complete handoff.
 */
const workEnd = z.union(
  [z.strictObject({ handoff: anyObject }), z.strictObject({ answer: text }), call, z.literal("done"), fault],
  `must be {"handoff": {…}}, {"answer": "…"}, {"spawn": {…}}, {"ask": {…}}, "done", ${FAULTS}`,
);

const ATTEMPT = "must be the number of an attempt, from 1";
const step = z.discriminatedUnion(
  "do",
  [
    z.strictObject({ do: z.literal("write"), path, text }),
    z.strictObject({ do: z.literal("append"), path, text }),
    /** Replaces the first place that reads `find`. */
    z.strictObject({ do: z.literal("replace"), path, find: someText, with: text }),
    /** Inserts below the last line that contains `after`. */
    z.strictObject({ do: z.literal("insert"), path, after: someText, text }),
    z.strictObject({ do: z.literal("delete"), path }),
    z.strictObject({ do: z.literal("rename"), path, to: path }),
    z.strictObject({
      do: z.literal("run"),
      command: z.tuple([z.string()], z.string(), "must be a list: the program and its arguments"),
    }),
    z.strictObject({ do: z.literal("wait"), ms }),
    /** Waits until `task` has handed in this attempt or a later one, or until it has landed; at most `ms`. */
    z.strictObject({
      do: z.literal("await"),
      task: someText,
      until: z.enum(["ready", "landed"], 'must be "ready" or "landed"'),
      attempt: z.int(ATTEMPT).min(1, ATTEMPT).optional(),
      ms,
    }),
    z.strictObject({ do: z.literal("say"), text }),
    /** Writes the task's output file, replacing what was there. */
    z.strictObject({ do: z.literal("output"), text }),
    z.strictObject({ do: z.literal("commit"), message: someText }),
  ],
  "must be one of write, append, replace, insert, delete, rename, run, wait, await, say, output, commit",
);

/**
 * A fault or a text happens only in the turn with its place in the list. Answers are given one after the other, each
 * until it was accepted, so an interrupted turn skips none. After the last answer there are no more tasks.
 */
const delayMs = ms.optional();
const planTurn = z.union(
  [
    z.strictObject({ delayMs, answer: z.looseObject({ tasks: z.array(z.unknown()) }) }),
    z.strictObject({ delayMs, text }),
    z.strictObject({ delayMs, end: fault }),
  ],
  `must have one of "answer" (an object with a list "tasks"), "text" and "end" (${FAULTS}), and may have "delayMs" (ms)`,
);

const workTurn = z.strictObject({ steps: z.array(step).optional(), end: workEnd }, "must be an object");

/**
 * The attempt with its place in the list; the last one is used for all later attempts. `goesOn`: its turns after calls,
 * one after the other. `answers`: what it says when its subtask asks; if absent, the question is passed on.
 */
const workAttempt = workTurn.extend({ goesOn: z.array(workTurn).optional(), answers: text.optional() });

/** By a task's id ("t.2.1"), or by the name that its planner gave it; the id wins. The root is "t". */
const listsOf = <Entry extends z.ZodType>(entry: Entry) => {
  const AT_LEAST_ONE = "must be a list with at least one entry";
  const list = z.array(entry, AT_LEAST_ONE).min(1, AT_LEAST_ONE);
  return z.record(z.string(), list, "must be an object: a list for each task").prefault({});
};

const scriptSchema = z.strictObject(
  { plans: listsOf(planTurn), work: listsOf(workAttempt) },
  "it must be an object with plans and work",
);

type Fixed<T> = T extends object ? { readonly [K in keyof T]: Fixed<T[K]> } : T;
export type Script = Fixed<z.infer<typeof scriptSchema>>;
export type PlanTurn = Fixed<z.infer<typeof planTurn>>;
export type WorkAttempt = Fixed<z.infer<typeof workAttempt>>;
export type WorkTurn = Fixed<z.infer<typeof workTurn>>;
export type ScriptStep = Fixed<z.infer<typeof step>>;
export type ScriptedCall = Fixed<z.infer<typeof call>>;
export type Fault = Fixed<z.infer<typeof fault>>;

type ReadScript =
  | { readonly is: "script"; readonly script: Script }
  | { readonly is: "broken"; readonly problems: readonly string[] };

/** Returns all problems at once, each with its place, such as `work.parser[2].steps[1]`. */
export function readScript(written: string): ReadScript {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    return { is: "broken", problems: [`it is not JSON: ${(error as Error).message}`] };
  }
  const read = scriptSchema.safeParse(value);
  return read.success
    ? { is: "script", script: read.data }
    : { is: "broken", problems: read.error.issues.map(problemOf) };
}

function problemOf({ path: at, message, ...issue }: z.core.$ZodIssue): string {
  const place = at.map((part) => (typeof part === "number" ? `[${part + 1}]` : `.${String(part)}`)).join("");
  const what = issue.code === "unrecognized_keys" ? `has unknown keys: ${issue.keys.join(", ")}` : message;
  return `${place.slice(1)} ${what}`.trim();
}
