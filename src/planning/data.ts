/** What are plans made by? Word lists and limits: published files, or a team's own in their place. */
import { type PlanLimits, readLimits } from "./limits.ts";
import { readWords, type Words } from "./words.ts";

export type PlanningData = { readonly words: Words; readonly limits: PlanLimits };

/** A file's text, and what people call the file. */
export type DataText = { readonly file: string; readonly text: string };

export type PlanningTexts = { readonly words: DataText; readonly limits: DataText };

/** Each problem names its file and its place in it. Never throws. */
export function readPlanningData(
  texts: PlanningTexts,
): PlanningData | { readonly problems: readonly string[] } {
  const words = readOne(texts.words, readWords);
  const limits = readOne(texts.limits, readLimits);
  if ("value" in words && "value" in limits) return { words: words.value, limits: limits.value };
  return { problems: [words, limits].flatMap((one) => ("problems" in one ? one.problems : [])) };
}

type ReadOne<T> = { readonly value: T } | { readonly problems: readonly string[] };

function readOne<T extends object>(
  { file, text }: DataText,
  readValue: (value: unknown) => T | { readonly problems: readonly string[] },
): ReadOne<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Only a SyntaxError comes from there, and it says where.
    return { problems: [`${file}: is no JSON: ${error instanceof Error ? error.message : String(error)}`] };
  }
  const read = readValue(value);
  if ("problems" in read && Array.isArray(read.problems))
    return { problems: read.problems.map((problem) => `${file}: ${problem}`) };
  return { value: read as T };
}
