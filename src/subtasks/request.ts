/** Reads a task's request for a subtask from what a model wrote, and names every mistake. */
import * as z from "zod";
import { isRecord } from "../text/json.ts";
import { type ContextManagement, contextManagementSchema } from "./settings.ts";

export type SubtaskRequest = {
  readonly type: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, unknown>>;
  readonly template_hints?: readonly string[] | undefined;
  /** A JSON Schema, as an object or as JSON text, or the name of a format. */
  readonly return_expectations?: string | Readonly<Record<string, unknown>> | undefined;
  /** The number of levels that it may use, its own included. */
  readonly max_depth?: number | undefined;
  /** "subtask" unless given. */
  readonly subtype?: string | undefined;
  readonly file_paths?: readonly string[] | undefined;
  readonly context_management?: ContextManagement | undefined;
};

export type ReadRequest = { readonly request: SubtaskRequest } | { readonly problem: string };

const MAX_TEXT = 20_000;
const text = z.string().min(1).max(MAX_TEXT);
export const word = z.string().min(1).max(200);
export const filePaths = z.array(z.string().min(1).max(4_000)).max(1_000);
/** A leading slash means the workspace's root: "/src/main.py" is src/main.py there, wherever the workspace is. */
export const inWorkspace = (path: string): string => path.replace(/^[/\\]+/, "") || path;

export const expectations = z.union([
  z.string().min(1).max(100_000),
  z.custom<Readonly<Record<string, unknown>>>(isRecord),
]);

const schema = z.strictObject({
  type: word,
  description: text,
  /** Their size is measured on their canonical JSON. */
  inputs: z.custom<Readonly<Record<string, unknown>>>(isRecord, "must be an object"),
  template_hints: z.array(word).max(100).optional(),
  return_expectations: expectations.optional(),
  max_depth: z.int().min(0).optional(),
  subtype: word.optional(),
  file_paths: filePaths.optional(),
  context_management: contextManagementSchema.optional(),
});

export function readRequest(value: unknown): ReadRequest {
  if (value === undefined) return { problem: "CONTINUATION needs notes.subtask_request" };
  const read = schema.safeParse(value);
  return read.success ? { request: read.data } : { problem: `subtask_request: ${problemsIn(read.error)}` };
}

export function problemsIn({ issues }: z.ZodError): string {
  const shown = issues
    .slice(0, MAX_SHOWN)
    .map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`));
  return [...shown, ...(issues.length > MAX_SHOWN ? [`and ${issues.length - MAX_SHOWN} more`] : [])]
    .join("; ")
    .slice(0, 2_000);
}

const MAX_SHOWN = 8;
