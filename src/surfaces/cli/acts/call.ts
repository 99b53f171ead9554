/** Acts of `skein subtask spawn`, `subtask serve` and `skein ask`: a worker's program calls them during its turn. */
import { sendCall, serveCalls } from "../../../compose/calls.ts";
import { duration } from "../../../config/values.ts";
import { messageOf } from "../../../core/failure.ts";
import type { AskOptions, SpawnOptions } from "../commands/options.ts";
import { readInputs } from "../commands/subtask-inputs.ts";
import { type Act, type Context, refuse, say, usage, writeJson } from "../context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

type Spawn = SpawnOptions & { readonly type?: string; readonly description?: string };

export const subtaskSpawn: Act<Spawn> = async (context, wanted) => {
  const given = await requestIn(context, wanted.request);
  if ("problem" in given) return usage(context, given.problem);
  const { type = given.request["type"], description = given.request["description"] } = wanted;
  if (typeof type !== "string" || typeof description !== "string")
    return usage(
      context,
      "a subtask needs a type and a description",
      `${context.command} help subtask spawn`,
    );
  const read = await readInputs(wanted.input ?? [], { name: type, type, description }, context.folder);
  if ("problem" in read) return usage(context, read.problem);
  const maxDepth = wanted.maxDepth === undefined ? undefined : Number(wanted.maxDepth);
  if (maxDepth !== undefined && !(Number.isInteger(maxDepth) && maxDepth >= 0))
    return usage(context, "--max-depth must be a whole number, 0 or more");
  const { file, hint, expect, inherit } = wanted;
  const input = {
    ...given.request,
    ...{ type, description },
    ...(wanted.input && { inputs: { ...Object(given.request["inputs"]), ...read.inputs } }),
    ...(file && { file_paths: file }),
    ...(hint && { template_hints: hint }),
    ...(expect !== undefined && { return_expectations: expect }),
    ...(maxDepth !== undefined && { max_depth: maxDepth }),
    ...(inherit !== undefined && {
      context_management: { ...Object(given.request["context_management"]), inherit_context: inherit },
    }),
  };
  return send(context, { tool: "spawn_subtask", input }, "when the subtask has ended");
};

export const ask: Act<AskOptions & { readonly question: string }> = async (context, wanted) => {
  const { question, default: taken, wait } = wanted;
  const waits = wait === undefined ? undefined : duration(0).safeParse(wait);
  if (waits && !waits.success) return usage(context, "--wait must be a duration like 90s, 15m or 2h");
  const input = {
    question,
    ...(taken !== undefined && { default: taken }),
    ...(waits && { wait_s: waits.data / 1_000 }),
  };
  return send(context, { tool: "ask", input }, "when there is an answer");
};

/** For agents that support MCP servers only as programs, which use standard output. */
export const subtaskServe: Act<object> = async (context) => {
  if (!context.env["SKEIN_CALL_URL"]) return outside(context);
  await serveCalls(context.env);
  return EXIT.done;
};

async function send(context: Context, call: Parameters<typeof sendCall>[0], when: string): Promise<ExitCode> {
  const sent = await sendCall(call, context.env);
  switch (sent.is) {
    case "taken":
      if (context.json) writeJson(context, { taken: true, tool: call.tool });
      say(context, `accepted: end this program now. Skein starts it again ${when}, with $SKEIN_RESPONSE.`);
      return EXIT.done;
    case "outside":
      return outside(context);
    case "refused":
    case "unreached":
      return refuse(context, EXIT.notAllDone, { kind: sent.is, message: sent.message });
  }
}

const outside = (context: Context): ExitCode =>
  usage(
    context,
    "this command only works in a worker's turn of a run",
    `${context.command} subtask run, which runs a template outside of any run`,
  );

type Request = { readonly request: Readonly<Record<string, unknown>> } | { readonly problem: string };

async function requestIn(_context: Context, written: string | undefined): Promise<Request> {
  if (written === undefined) return { request: {} };
  const text = written === "-" ? await standardInput() : written;
  if (text.length > MAX_BYTES) return { problem: `--request has more than ${MAX_BYTES} characters` };
  try {
    const request: unknown = JSON.parse(text);
    if (typeof request === "object" && request !== null && !Array.isArray(request))
      return { request: request as Readonly<Record<string, unknown>> };
    return { problem: "--request must be a JSON object" };
  } catch (error) {
    return { problem: `--request is not JSON: ${messageOf(error)}` };
  }
}

/** The largest call that a run accepts. */
const MAX_BYTES = 1_000_000;

async function standardInput(): Promise<string> {
  const { processInput } = await import("../input.ts");
  const input = processInput();
  const bytes = await input.all(MAX_BYTES + 1); // One byte more shows that the input is longer.
  await input.close();
  return bytes.toString();
}
