/** Reads and writes the wire format of OpenAI's responses. */
import { openaiError } from "./openai-chat.ts";
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

/** Stores its answers, as the provider does by default, because clients refer to them by id. */
export function openaiResponses(): Wire {
  const stored: Store = new Map();
  return {
    name: "openai-responses",
    path: "/v1/responses",
    read: (body) => read(body, stored),
    pieces: (answer, request) => pieces(answer, request, keeping(stored, request)),
    whole: (answer, request) => whole(answer, request, keeping(stored, request)),
    error: openaiError,
    errorEvent: (body) => `event: error\n${data(body)}`,
  };
}

type Item = { readonly type: "message" | "function_call"; readonly id: string };
type Store = Map<string, Item>;
type Keep = (item: Item) => void;

const keeping =
  (stored: Store, { body }: Request): Keep =>
  (item) =>
    void (body["store"] !== false && stored.set(item.id, item));

function read(body: Fields, stored: Store): Request {
  const input = body["input"];
  const given = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input).map(fieldsOf);
  const references = given.filter(({ type }) => type === "item_reference").map(({ id }) => String(id));
  const unknown = references.find((id) => !stored.has(id));
  const items = given.map((item) =>
    item["type"] === "item_reference" ? fieldsOf(stored.get(String(item["id"]))) : item,
  );
  const isSystem = ({ role }: Fields) => role === "system" || role === "developer";
  const systems = [body["instructions"] ?? "", ...items.filter(isSystem).map(({ content }) => content)];
  return {
    model: String(body["model"]),
    system: systems.map(textOf).filter(Boolean).join("\n"),
    messages: joined(items.filter((item) => !isSystem(item)).flatMap(messagesOf)),
    tools: listOf(body["tools"])
      .map(fieldsOf)
      .map(({ name, type }) => String(name ?? type)),
    stream: body["stream"] === true,
    body,
    ...(unknown === undefined ? {} : { unknown: `Item with id '${unknown}' not found.` }),
  };
}

/** Reasoning, and calls of the provider's own tools, have no text here. */
function messagesOf(item: Fields): readonly Partial<SeenMessage>[] {
  const { type = "message", role, content, call_id } = item;
  const id = String(call_id);
  switch (type) {
    case "message":
      return [{ role: role === "assistant" ? "assistant" : "user", text: textOf(content) }];
    case "function_call": {
      const call = { id, name: String(item["name"]), input: parsed(item["arguments"]) };
      return [{ role: "assistant", toolCalls: [call] }];
    }
    case "function_call_output":
      return [{ role: "tool", toolResults: [{ id, text: textOf(item["output"]) }] }];
    default:
      return [];
  }
}

type Say = (type: string, fields: object) => string;

function* pieces(answer: Output, { model }: Request, keep: Keep): Iterable<string> {
  let sequence_number = 0;
  const say: Say = (type, fields) => {
    const said = `event: ${type}\n${data({ type, sequence_number, ...fields })}`;
    sequence_number += 1;
    return said;
  };
  const begun = { ...headOf(answer, model), status: "in_progress", output: [], usage: null };
  yield say("response.created", { response: begun });
  yield say("response.in_progress", { response: begun });
  const output: Item[] = [];
  yield* textPieces(answer, output, say);
  for (const tool of answer.tools) yield* callPieces(tool, output, say);
  output.forEach(keep);
  const end = answer.stop === "length" ? "response.incomplete" : "response.completed";
  yield say(end, { response: responseOf(answer, model, output) });
}

function* textPieces(answer: Output, output: Item[], say: Say): Iterable<string> {
  const place = { item_id: `msg_${answer.id}`, output_index: 0, content_index: 0 };
  let text = "";
  for (const delta of answer.text) {
    if (text === "") {
      const item = { ...messageItem(place.item_id, ""), status: "in_progress", content: [] };
      yield say("response.output_item.added", { output_index: 0, item });
      yield say("response.content_part.added", { ...place, part: textPart("") });
    }
    text += delta;
    yield say("response.output_text.delta", { ...place, delta, logprobs: [] });
  }
  if (text === "") return;
  const item = messageItem(place.item_id, text);
  output.push(item);
  yield say("response.output_text.done", { ...place, text, logprobs: [] });
  yield say("response.content_part.done", { ...place, part: textPart(text) });
  yield say("response.output_item.done", { output_index: 0, item });
}

function* callPieces(tool: Output["tools"][number], output: Item[], say: Say): Iterable<string> {
  const item = callItem(tool);
  const output_index = output.push(item) - 1;
  const place = { item_id: item.id, output_index };
  const begun = { ...item, status: "in_progress", arguments: "" };
  yield say("response.output_item.added", { output_index, item: begun });
  for (const delta of inPieces(tool.arguments))
    yield say("response.function_call_arguments.delta", { ...place, delta });
  yield say("response.function_call_arguments.done", { ...place, arguments: tool.arguments });
  yield say("response.output_item.done", { output_index, item });
}

function whole(answer: Output, { model }: Request, keep: Keep): unknown {
  const text = [...answer.text].join("");
  const said = text === "" ? [] : [messageItem(`msg_${answer.id}`, text)];
  const output = [...said, ...answer.tools.map(callItem)];
  output.forEach(keep);
  return responseOf(answer, model, output);
}

const textPart = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] });

const messageItem = (id: string, text: string) => ({
  type: "message" as const,
  id,
  status: "completed",
  role: "assistant",
  content: [textPart(text)],
});

const callItem = ({ id, name, arguments: input }: Output["tools"][number]) => ({
  type: "function_call" as const,
  id: `fc_${id}`,
  call_id: id,
  ...namesOf(name),
  arguments: input,
  status: "completed",
});

/** Tools of an MCP server have a namespace of their own here, such as `mcp__skein`. */
function namesOf(name: string): { readonly name: string; readonly namespace?: string } {
  const [, namespace, own] = /^(mcp__[a-z]+)__(\w+)$/.exec(name) ?? [];
  return namespace === undefined || own === undefined ? { name } : { name: own, namespace };
}

const headOf = ({ id, createdAt }: Output, model: string) => ({
  id: `resp_${id}`,
  object: "response",
  created_at: Math.floor(createdAt / 1_000),
  model,
  error: null,
  incomplete_details: null,
  parallel_tool_calls: true,
});

const responseOf = (answer: Output, model: string, output: readonly Item[]) => ({
  ...headOf(answer, model),
  status: answer.stop === "length" ? "incomplete" : "completed",
  incomplete_details: answer.stop === "length" ? { reason: "max_output_tokens" } : null,
  output,
  usage: usageOf(answer.usage()),
});

const usageOf = ({ input, output, cached }: Usage) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: cached },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
});
