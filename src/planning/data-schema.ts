/** Checks word lists and limits that a team wrote itself: each problem names its file and its place in it. */
import * as z from "zod";
import { toDotPath } from "zod/v4/core";

const MAX_PROBLEMS = 50;
const MAX_WORDS = 5_000;
const MAX_WORD_CHARS = 80;

const word = z
  .string("must be a string")
  .transform((written) => written.trim().toLowerCase())
  .pipe(
    z.string().min(1, "an empty string").max(MAX_WORD_CHARS, `is longer than ${MAX_WORD_CHARS} characters`),
  );
const list = z
  .array(word, "must be a list of words")
  .max(MAX_WORDS, `has more than ${MAX_WORDS} words`)
  .readonly();
const mustBeObject = "must be an object";
const lists = <const Key extends string>(...keys: readonly Key[]) =>
  z.strictObject(
    Object.fromEntries(keys.map((key) => [key, list])) as Record<Key, typeof list>,
    mustBeObject,
  );

const wordsSchema = z.strictObject(
  {
    version: z.literal(2, "must be 2, the version of this format"),
    /**
     * Verbs of software work in the form of an order. `build` makes something new, `report` changes nothing; `check`
     * can do either: "check why" reports, "check the input" changes code.
     */
    verbs: lists("build", "change", "remove", "operate", "report", "check"),
    /** Words that may stand before an order without changing it. */
    polite: list,
    /** The start of a sentence that says when its work is done. */
    order: lists("first", "then", "meanwhile", "finally"),
    /**
     * `starts`: the start of a sentence that may limit the work. `about`: what it is about if it does: "keep the API as
     * it is".
     */
    limits: lists("starts", "about"),
    /** Headings above a list whose items tell what happened, and ask for nothing. */
    story: list,
    /**
     * Verbs after the first word: that word is then a noun, and the sentence a statement ("Build fails on Windows").
     */
    finite: list,
    /** A word of `with` begins a list of parts; a thing with one of `fields` has fields instead of parts. */
    lists: lists("with", "fields"),
    /** The parts that a word stands for if none are listed: "crud" is four operations. */
    families: z
      .record(z.string(), list, mustBeObject)
      .transform(
        (found) => new Map(Object.entries(found).map(([name, items]) => [name.toLowerCase(), items])),
      ),
    /** Nouns for files that work is shared out over; `whole` means all files, `inPlace` changes each file by itself. */
    files: lists("nouns", "folders", "whole", "inPlace"),
    /**
     * `verbs` and `words` name nothing that could be worked on; `clear` has words that are clear in every repository.
     */
    vague: lists("verbs", "words", "clear"),
  },
  mustBeObject,
);

export type Words = Readonly<z.output<typeof wordsSchema>>;

/** Each limit with its smallest sensible value. */
const SMALLEST = {
  maxFilesModified: 1,
  maxFilesRead: 1,
  maxLinesRead: 1,
  bytesALine: 1,
  tier2From: 0,
  tier3Above: 0,
  maxConcurrent: 1,
  minTasksAWave: 1,
  maxWaves: 1,
  maxBreadthTasks: 1,
  maxTasks: 1,
  maxTasksUnsaid: 1,
  maxSubjectChars: 20,
  maxContextFiles: 0,
} as const;

/** Larger than any sensible limit. */
const LARGEST = 1_000_000_000;

function limit(smallest: number) {
  const error = `must be a whole number from ${smallest} to ${LARGEST}`;
  const value = z.int(error).min(smallest, error).max(LARGEST, error);
  return z.object({ value }, "is missing").transform((entry) => entry.value);
}

type LimitName = keyof typeof SMALLEST;
export type PlanLimits = Readonly<Record<LimitName, number>>;
export type PlanningData = { readonly words: Words; readonly limits: PlanLimits };

const limitsSchema = z.strictObject(
  {
    version: z.literal(1, "must be 1, the only one that is known"),
    ...(Object.fromEntries(
      Object.entries(SMALLEST).map(([name, smallest]) => [name, limit(smallest)]),
    ) as Record<LimitName, ReturnType<typeof limit>>),
  },
  mustBeObject,
);

/** A file's text, and its name for messages. */
type DataText = { readonly file: string; readonly text: string };
type Problems = { readonly problems: readonly string[] };

/** A problem reads `words.json: order.then[3]: an empty string`. Never throws. */
export function readOwnData(texts: {
  readonly words: DataText;
  readonly limits: DataText;
}): PlanningData | Problems {
  const words = readOne(texts.words, wordsSchema);
  const limits = readOne(texts.limits, limitsSchema);
  if ("value" in words && "value" in limits) return { words: words.value, limits: limits.value };
  return { problems: [words, limits].flatMap((one) => ("problems" in one ? one.problems : [])) };
}

function readOne<T extends z.ZodType>(
  { file, text }: DataText,
  schema: T,
): { readonly value: z.output<T> } | Problems {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problems: [`${file}: is not JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const read = schema.safeParse(value);
  if (read.success) return { value: read.data };
  const problems = read.error.issues.flatMap(problemsIn).slice(0, MAX_PROBLEMS);
  return { problems: problems.map((problem) => `${file}: ${problem}`) };
}

function problemsIn(issue: z.core.$ZodIssue): readonly string[] {
  const at = (place: readonly PropertyKey[], message: string) =>
    `${toDotPath(place)}: ${message}`.replace(/^: /, "");
  return issue.code === "unrecognized_keys"
    ? issue.keys.map((key) => at([...issue.path, key.slice(0, MAX_WORD_CHARS)], "is not known here"))
    : [at(issue.path, issue.message)];
}
