/** The fields of a plan file as zod schemas, by our names. Also accepts a text for a list, and numerals for numbers. */
import * as z from "zod";
import { AGENT, TASK_ID } from "../../core/answers/plan-answer.ts";
import { readPath } from "../../core/scope.ts";
import { LABEL, MAX_LABELS } from "../../core/task.ts";
import { isRecord } from "../../text/json.ts";
import { quoted } from "../../text/lines.ts";
import { AGENT_PREFIX, type Coverage, GENERAL_PURPOSE, PLAN_FORMAT } from "../plan.ts";

/** The same as for planners: about twenty pages for one task. */
const MAX_TEXT_CHARS = 50_000;
const MAX_LINE_CHARS = 10_000;
const MAX_SUBJECT_CHARS = 1_000;
const MAX_NAME_CHARS = 200;
const MAX_ENTRIES = 10_000;

/** Removes control characters, which a terminal obeys and no process accepts, and unifies line ends. */
const plain = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, "\n")
    .toWellFormed()
    .replace(/[\p{Cc}--[\t\n]]/gv, "")
    .trim();

const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(" ");

const anyText = (maxChars: number) =>
  z
    .union([z.string(), z.array(z.string()).transform((lines) => lines.join("\n"))], "must be text")
    .transform(plain)
    .pipe(z.string().max(maxChars, `is longer than ${maxChars} characters`));

const text = (maxChars: number) =>
  anyText(maxChars).refine((said) => /[\p{L}\p{N}\p{S}]/u.test(said), "says nothing");
const line = (maxChars: number) => text(maxChars).transform(oneLine);

/** A text is accepted for a list, and split by `split`. */
const list = <T extends z.ZodType>(entry: T, split: (text: string) => readonly unknown[]) =>
  z
    .union([z.string().transform(split), z.array(z.unknown())], "must be a list")
    .pipe(z.array(entry).max(MAX_ENTRIES, `has more than ${MAX_ENTRIES} entries`));

/** The lines of a text, without list marks before them. */
const linesIn = (written: string): readonly string[] =>
  plain(written)
    .split("\n")
    .map((one) => one.trim().replace(/^(?:[-*•] |\d{1,3}[.)] )/, ""));
/** Empty entries are left out. */
const lines = list(anyText(MAX_LINE_CHARS), linesIn).transform((all) =>
  all.map(oneLine).filter((one) => one !== ""),
);

const namesIn = (written: string): readonly string[] =>
  written
    .slice(0, MAX_LINE_CHARS)
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter((name) => name !== "" && !/^(?:none|-|—)$/i.test(name));

const shown = (value: unknown): string =>
  typeof value === "string" ? quoted(value) : typeof value === "object" ? "an object" : `${value}`;
const ID_RULE = "up to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit";

const id = z
  .unknown()
  .transform((value) => (Number.isSafeInteger(value) ? `${value}` : value))
  .pipe(
    z.custom<string>((value) => typeof value === "string" && TASK_ID.test(value), {
      error: ({ input }) => `${shown(input)} is not an id: an id has ${ID_RULE}`,
    }),
  );
const ids = z
  .preprocess((value) => (typeof value === "number" ? [value] : value), list(id, namesIn))
  .transform((all) => [...new Set(all)]);

const path = z.unknown().transform((written, context) => {
  const read =
    typeof written === "string" ? readPath(written) : { problem: `${shown(written)} is not a path` };
  if ("path" in read) return read.path;
  context.addIssue(`${read.problem}; name files of the repository, from its top`);
  return z.NEVER;
});
/** Equal paths count once, as a folder if one of them was written as a folder. */
const paths = list(path, (written) => (written.trim() === "" ? [""] : namesIn(written))).transform((all) => {
  const found = new Map<string, string>();
  for (const one of all) {
    const bare = one.endsWith("/") ? one.slice(0, -1) : one;
    if (one.endsWith("/") || !found.has(bare)) found.set(bare, one);
  }
  return [...found.values()];
});

const MAX_COMMAND_CHARS = 10_000;
/** What a person approves must look like what runs: no line ends, nothing invisible. */
const command = z
  .string("must be a command")
  .transform((written) => written.trim())
  .pipe(
    z
      .string()
      .min(1, "is empty: leave it out, or write a command")
      .max(MAX_COMMAND_CHARS, `is longer than ${MAX_COMMAND_CHARS} characters: put it into a script`)
      .refine(
        (written) => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(written),
        "contains line ends, or invisible or control characters: write one line, or a script",
      ),
  );
/** Several commands pass if each of them does. */
const commands = list(command, (written) => [written])
  .transform((all) => (all.length > 1 ? all.map((one) => `(${one})`).join(" && ") : all[0]))
  .refine(
    (all) => all === undefined || all.length <= MAX_COMMAND_CHARS,
    `is longer than ${MAX_COMMAND_CHARS} characters: put it into a script`,
  );

const whole = (from: number, to: number) => {
  const error = `must be a whole number from ${from} to ${to}`;
  return z.preprocess(
    (value) => (typeof value === "string" && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : value),
    z.int(error).min(from, error).max(to, error),
  );
};

const URGENCY: Readonly<Record<string, number>> = { critical: 1, high: 2, medium: 5, normal: 5, low: 8 };
const priority = z.preprocess(
  (value) => (typeof value === "string" ? (URGENCY[value.trim().toLowerCase()] ?? value) : value),
  whole(1, 10),
);

const agent = z
  .unknown()
  .transform((value) => (typeof value === "string" ? value.trim().replace(AGENT_PREFIX, "") : value))
  .pipe(
    z.custom<string>((value) => typeof value === "string" && AGENT.test(value), {
      error: ({ input }) => `${shown(input)} is not the name of an agent`,
    }),
  )
  .transform((name) => (name === "main" ? GENERAL_PURPOSE : name));

const NEEDS_ERROR = 'must be a list of labels of machines, such as ["gpu"]';
const needs = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z
    .array(z.string(NEEDS_ERROR).regex(LABEL, NEEDS_ERROR), NEEDS_ERROR)
    .max(MAX_LABELS, NEEDS_ERROR)
    .transform((labels) => [...new Set(labels)].sort()),
);

/** More than any real estimate. */
const MAX_AMOUNT = 1e12;
const AMOUNT_ERROR = `must be a number from 0 to ${MAX_AMOUNT}`;
const amount = z.number(AMOUNT_ERROR).min(0, AMOUNT_ERROR).max(MAX_AMOUNT, AMOUNT_ERROR).optional();

/** Drops null fields, because models write null for nothing. */
const present = <T extends z.ZodType>(schema: T) =>
  z.preprocess(
    (value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null))
        : value,
    schema,
  );

export const taskSchema = z.object({
  id: id.optional(),
  phase_id: id.optional(),
  subject: line(MAX_SUBJECT_CHARS).optional(),
  description: text(MAX_TEXT_CHARS).optional(),
  activeForm: line(MAX_SUBJECT_CHARS).optional(),
  blockedBy: ids.optional(),
  scope: paths.optional(),
  reads: paths.optional(),
  delivers: z.enum(["change", "report"], 'must be "change" or "report"').optional(),
  requirements: lines.optional(),
  success_criterion: commands.optional(),
  priority: priority.optional(),
  branch: line(MAX_SUBJECT_CHARS).optional(),
  estimate: present(
    z.object(
      { minutes: amount, tokens: amount, dollars: amount },
      "must be an object with minutes, tokens, dollars",
    ),
  ).optional(),
  agent: agent.optional(),
  needs: needs.optional(),
  /** A name in the scratchpad; the path is checked where the scratchpad's path is known. */
  output_file: z.string("must be text: a file name").optional(),
  depth: whole(1, 100).optional(),
  parent_id: z.preprocess((value) => `${value}`, line(MAX_NAME_CHARS)).optional(),
});

const part = whole(0, 1_000_000);
const tier = whole(1, 3).pipe(z.union([z.literal(1), z.literal(2), z.literal(3)]));

/** A bare text is a blocking question, because it has no default. */
const question = z.preprocess(
  (value) => (typeof value === "string" ? { question: value, blocking: true } : value),
  present(
    z.object(
      {
        id: line(MAX_NAME_CHARS).optional(),
        question: line(MAX_LINE_CHARS),
        default: anyText(MAX_LINE_CHARS).transform(oneLine).optional(),
        blocking: z.boolean("must be true or false").optional(),
      },
      "must be an object with a question",
    ),
  ),
);

/**
 * `coverage` is only a claim, which is checked: an entry that cannot be read is left out, and does not refuse the plan.
 */
const coverage = z
  .unknown()
  .transform((value) => (Array.isArray(value) ? value.slice(0, MAX_ENTRIES).flatMap(claimIn) : []));

function claimIn(value: unknown): readonly Coverage[] {
  if (!isRecord(value)) return [];
  const says = line(MAX_LINE_CHARS).safeParse(value["says"] ?? value["sentence"]);
  const written = value["in"] ?? value["tasks"] ?? value["task"];
  const entries: readonly unknown[] = Array.isArray(written) ? written : [written];
  const names = entries.flatMap((one): readonly unknown[] =>
    typeof one === "string" ? namesIn(one) : [one],
  );
  const isAssumed = names.some((name) => typeof name === "string" && /^assumptions?$/i.test(name));
  const found = names.flatMap((name) => id.safeParse(name).data ?? []);
  if (!says.success || (!isAssumed && found.length === 0)) return [];
  return [{ says: says.data, in: isAssumed ? "assumption" : [...new Set(found)] }];
}

export const planSchema = z.object({
  skein_plan: z
    .literal(PLAN_FORMAT, `must be ${PLAN_FORMAT}: no other format is known here; use a newer Skein`)
    .optional(),
  goal: anyText(MAX_TEXT_CHARS).transform(oneLine).optional(),
  planner: line(MAX_NAME_CHARS).optional(),
  max_concurrent: whole(1, 10_000).optional(),
  score: present(
    z.object(
      {
        ...{ verbs: part, connectors: part, domain: part, scope: part, risk: part, total: part },
        ...{ tier, min_depth: tier },
      },
      "must be an object; leave it out if the request was not scored",
    ),
  ).optional(),
  success_criteria: lines.optional(),
  assumptions: lines.optional(),
  questions: z.array(question, "must be a list").max(MAX_ENTRIES).optional(),
  context: present(
    z.object(
      { files: lines.optional(), patterns: lines.optional(), tests: lines.optional() },
      "must be an object with files, patterns, tests",
    ),
  ).optional(),
  risks: lines.optional(),
  coverage: coverage.optional(),
  not_covered: lines.optional(),
});
