/** Reads details of a job for traces from the run's folder: its model calls, tool uses and gate times. */
import path from "node:path";
import type { JobId } from "../../core/job.ts";
import type { CallDetail, JobDetails, ToolDetail } from "../../core/view/trace-details.ts";
import { type LedgerLine, ledgerFile, ledgerLines } from "../agents/model/ledger.ts";
import { readGateTimes } from "../gates/gate-times.ts";

/** `folder`: that of the run. With `redact`, the messages are read, too, and redacted. */
export async function detailsOf(
  folder: string,
  job: JobId,
  redact?: (text: string) => string,
): Promise<JobDetails> {
  const turns = path.join(folder, "turns");
  const lines = await ledgerLines(ledgerFile(turns, job));
  const gates = await readGateTimes(path.join(folder, "gates"), job);
  const plain = { calls: callsIn(lines), tools: toolsIn(lines).map(({ tool }) => tool), gates };
  if (!redact) return plain;
  const { contentOf } = await import("./content.ts");
  const content = await contentOf({ turns, conversations: path.join(folder, "conversations"), job }, redact);
  const answered = lines.flatMap((line) => (line.is === "ended" ? [line.call] : []));
  return {
    gates,
    calls: plain.calls.map((call) => withContent(call, content.call(answered.indexOf(call.call)))),
    tools: toolsIn(lines).map(({ call, tool }) =>
      withContent(tool, content.tool(answered.indexOf(call), tool.id)),
    ),
    content: content.turn,
  };
}

const withContent = <Detail extends object>(detail: Detail, content: JobDetails["content"]) =>
  content ? { ...detail, content } : detail;

function callsIn(lines: readonly LedgerLine[]): readonly CallDetail[] {
  const ends = new Map(lines.flatMap((line) => (isEnd(line) ? [[line.call, line]] : [])));
  return lines.flatMap((line): readonly CallDetail[] => {
    if (line.is !== "opened") return [];
    const { call, model, at: from } = line;
    const end = ends.get(call);
    return [{ call, model, ...(from !== undefined && { from }), ...endOf(end) }];
  });
}

const isEnd = (line: LedgerLine): boolean => line.is !== "opened" && line.is !== "tool";

function endOf(line: LedgerLine | undefined): Omit<CallDetail, "call" | "model"> {
  if (!line) return { error: "interrupted" }; // The process was killed during the call.
  const to = line.at === undefined ? {} : { to: line.at };
  if (line.is !== "ended") return { ...to, error: line.is === "refused" ? "refused" : "cut" };
  const { input, output, cacheRead, stop } = line;
  return { ...to, usage: { input, output, cacheRead }, stop: FINISH.get(stop) ?? stop };
}

/** OpenTelemetry's words for why an answer ended. */
const FINISH: ReadonlyMap<string, string> = new Map([
  ["tool-calls", "tool_call"],
  ["content-filter", "content_filter"],
]);

const toolsIn = (lines: readonly LedgerLine[]): readonly { call: number; tool: ToolDetail }[] =>
  lines.flatMap((line) => {
    if (line.is !== "tool") return [];
    const { call, id, name, from, at: to = from, hasFailed = false } = line;
    return [{ call, tool: { id, name, from, to, hasFailed } }];
  });
