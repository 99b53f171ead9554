/** Reads and writes the wire format of Anthropic's messages. */
import type { SeenMessage, Usage } from "./reply.ts";
import {
  data,
  event,
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

export const anthropic: Wire = {
  name: "anthropic",
  path: "/v1/messages",
  read,
  pieces,
  whole,
  error: (status, message) => anthropicError(TYPES.get(status) ?? "api_error", message),
  errorEvent: (body) => `event: error\n${data(body)}`,
};

export const anthropicError = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: "req_test",
});

const TYPES: ReadonlyMap<number, string> = new Map([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [529, "overloaded_error"],
]);

function read(body: Fields): Request {
  return {
    model: String(body["model"]),
    system: textOf(body["system"]),
    messages: joined(listOf(body["messages"]).map(fieldsOf).flatMap(messagesOf)),
    tools: listOf(body["tools"]).map((tool) => String(fieldsOf(tool)["name"])),
    stream: body["stream"] === true,
    body,
  };
}

/** Clients put tool results and the user's next text into one message. */
function messagesOf({ role, content }: Fields): readonly Partial<SeenMessage>[] {
  const side = role === "assistant" ? "assistant" : "user";
  if (typeof content === "string") return [{ role: side, text: content }];
  return listOf(content)
    .map(fieldsOf)
    .flatMap((block): readonly Partial<SeenMessage>[] => {
      const { type, id, name, input, tool_use_id } = block;
      if (type === "text") return [{ role: side, text: String(block["text"]) }];
      if (type === "tool_use")
        return [{ role: "assistant", toolCalls: [{ id: String(id), name: String(name), input }] }];
      if (type === "tool_result")
        return [{ role: "tool", toolResults: [{ id: String(tool_use_id), text: textOf(block["content"]) }] }];
      return [];
    });
}

const STOP = { stop: "end_turn", length: "max_tokens", tools: "tool_use" } as const;

function* pieces(answer: Output, { model }: Request): Iterable<string> {
  const message = { ...headOf(answer, model), content: [], stop_reason: null, stop_sequence: null };
  yield event("message_start", { message: { ...message, usage: usageOf({ ...answer.input, output: 1 }) } });
  yield event("ping", {});
  let index = 0;
  for (const text of answer.text) {
    if (index === 0) yield event("content_block_start", { index, content_block: { type: "text", text: "" } });
    index = 1;
    yield event("content_block_delta", { index: 0, delta: { type: "text_delta", text } });
  }
  if (index === 1) yield event("content_block_stop", { index: 0 });
  for (const { id, name, arguments: input } of answer.tools) {
    const content_block = { type: "tool_use", id, name, input: {} };
    yield event("content_block_start", { index, content_block });
    for (const partial_json of inPieces(input))
      yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
    yield event("content_block_stop", { index });
    index += 1;
  }
  const delta = { stop_reason: STOP[answer.stop], stop_sequence: null };
  yield event("message_delta", { delta, usage: usageOf(answer.usage()) });
  yield event("message_stop", {});
}

function whole(answer: Output, { model }: Request): unknown {
  const text = [...answer.text].join("");
  const tools = answer.tools.map(({ id, name, arguments: input }) => ({
    type: "tool_use",
    id,
    name,
    input: parsed(input),
  }));
  return {
    ...headOf(answer, model),
    content: [...(text === "" ? [] : [{ type: "text", text }]), ...tools],
    stop_reason: STOP[answer.stop],
    stop_sequence: null,
    usage: usageOf(answer.usage()),
  };
}

const headOf = ({ id }: Output, model: string) => ({
  id: `msg_${id}`,
  type: "message",
  role: "assistant",
  model,
});

const usageOf = ({ input, output, cached }: Usage) => ({
  input_tokens: input - cached,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: cached,
  output_tokens: output,
});
