/** Reads and writes the wire format of OpenAI's chat completions. */
import type { SeenMessage, Usage } from "./reply.ts";
import {
  data,
  type Fields,
  fieldsOf,
  inPieces,
  joined,
  listOf,
  type Output,
  parsed,
  type Request,
  textOf,
  type Wire,
} from "./wire.ts";

export const openaiChat: Wire = {
  name: "openai-chat",
  path: "/v1/chat/completions",
  read,
  pieces,
  whole,
  error: openaiError,
  errorEvent: data,
};

export function openaiError(status: number, message: string, code: string | null = null): unknown {
  const type = status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, param: null, code } };
}

function read(body: Fields): Request {
  const messages = listOf(body["messages"]).map(fieldsOf);
  const isSystem = ({ role }: Fields) => role === "system" || role === "developer";
  return {
    model: String(body["model"]),
    system: messages
      .filter(isSystem)
      .map((message) => textOf(message["content"]))
      .join("\n"),
    messages: joined(messages.filter((message) => !isSystem(message)).map(messageOf)),
    tools: listOf(body["tools"]).map((tool) => String(fieldsOf(fieldsOf(tool)["function"])["name"])),
    stream: body["stream"] === true,
    body,
  };
}

function messageOf(message: Fields): Partial<SeenMessage> {
  const text = textOf(message["content"]);
  if (message["role"] === "tool")
    return { role: "tool", toolResults: [{ id: String(message["tool_call_id"]), text }] };
  const toolCalls = listOf(message["tool_calls"]).map((call) => {
    const { id, function: called } = fieldsOf(call);
    const { name, arguments: input } = fieldsOf(called);
    return { id: String(id), name: String(name), input: parsed(input) };
  });
  return { role: message["role"] === "assistant" ? "assistant" : "user", text, toolCalls };
}

const FINISH = { stop: "stop", length: "length", tools: "tool_calls" } as const;

function* pieces(answer: Output, { model, body }: Request): Iterable<string> {
  const wantsUsage = fieldsOf(body["stream_options"])["include_usage"] === true;
  const head = { ...headOf(answer, model), object: "chat.completion.chunk" };
  // If usage is asked for, every piece has the field, and only the last one has a value.
  const chunk = (choices: readonly unknown[], usage: unknown = null) =>
    data({ ...head, choices, ...(wantsUsage ? { usage } : {}) });
  const delta = (delta: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason }]);

  yield delta({ role: "assistant", content: "", refusal: null });
  for (const content of answer.text) yield delta({ content });
  for (const [index, { id, name, arguments: input }] of answer.tools.entries()) {
    yield delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
    for (const piece of inPieces(input))
      yield delta({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield delta({}, FINISH[answer.stop]);
  const usage = answer.usage();
  if (wantsUsage) yield chunk([], usageOf(usage));
  yield "data: [DONE]\n\n";
}

function whole(answer: Output, { model }: Request): unknown {
  const text = [...answer.text].join("");
  const tool_calls = answer.tools.map(({ id, name, arguments: input }) => ({
    id,
    type: "function",
    function: { name, arguments: input },
  }));
  const message = {
    role: "assistant",
    content: text === "" && tool_calls.length > 0 ? null : text,
    refusal: null,
    ...(tool_calls.length > 0 ? { tool_calls } : {}),
  };
  return {
    ...headOf(answer, model),
    object: "chat.completion",
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[answer.stop] }],
    usage: usageOf(answer.usage()),
  };
}

const headOf = ({ id, createdAt }: Output, model: string) => ({
  id: `chatcmpl-${id}`,
  created: Math.floor(createdAt / 1_000),
  model,
});

const usageOf = ({ input, output, cached }: Usage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});
