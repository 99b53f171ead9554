/** Says what is wrong with a value, in words that name the place in it and never show the value. */
import type * as z from "zod";

export function issueText(issues: readonly z.core.$ZodIssue[]): string | undefined {
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  if (unknown) return `has unknown keys: ${unknown.keys.join(", ")}`;
  const [issue] = issues;
  if (issue === undefined) return undefined;
  const message = issue.message.startsWith("Invalid input")
    ? "is missing or of the wrong kind"
    : issue.message;
  const place = issue.path.map((part) => (typeof part === "number" ? part + 1 : String(part))).join(".");
  if (place === "") return message;
  return `${typeof issue.path[0] === "number" ? "entry " : ""}${place} ${message}`;
}
