/** Serves files to an agent: reads and writes inside the workspace and the scratchpad only. */

import { fields } from "../../../text/json.ts";
import { type FileProblem, readWhole, replaceWhole } from "../tools/files.ts";
import type { ToolReach } from "../tools/reach.ts";
import { text } from "./loose.ts";
import type { ClientAnswer } from "./peer.ts";

type ServedFiles = ToolReach & { readonly maxFileBytes: number };

/** `line`: the first one, counted from 1; `limit`: how many. */
export async function readForAgent(files: ServedFiles, params: unknown): Promise<ClientAnswer> {
  const { path, line, limit } = fields(params);
  const read = await readWhole(files, text(path), files.maxFileBytes);
  if ("why" in read) return refused(read);
  const content = read.bytes.toString();
  if (line === undefined && limit === undefined) return { result: { content } };
  const from = Math.max(1, count(line) ?? 1) - 1;
  const lines = content.split(/(?<=\n)/).slice(from, from + (count(limit) ?? Infinity));
  return { result: { content: lines.join("") } };
}

export async function writeForAgent(files: ServedFiles, params: unknown): Promise<ClientAnswer> {
  const { path, content } = fields(params);
  if (files.readsOnly && files.pad?.output === undefined)
    return refused({ why: "this role changes no files" });
  if (typeof content !== "string") return refused({ why: "there is no content" });
  const written = await replaceWhole(files, text(path), content, files.maxFileBytes);
  return "why" in written ? refused(written) : { result: {} };
}

const count = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? Math.max(0, Math.trunc(value)) : undefined;

/** Codes of the protocol: resource not found, invalid parameter, unknown method. */
const refused = ({ why, missing }: FileProblem): ClientAnswer => ({
  error:
    missing === undefined
      ? { code: -32602, message: why }
      : { code: -32002, message: `Resource not found: ${missing}` },
});

export const unknownMethod = (method: string): ClientAnswer => ({
  error: { code: -32601, message: `Skein has no method ${method.slice(0, 100)}` },
});
