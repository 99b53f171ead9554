/** Reads and writes the wire format of Gemini's `generateContent`, whole and streamed. The path names the model. */
import type { SeenMessage, Usage } from "./reply.ts";
import {
  data,
  type Fields,
  fieldsOf,
  joined,
  listOf,
  type Output,
  parsed,
  type Request,
  textOf,
  type Wire,
} from "./wire.ts";

export const google: Wire = {
  name: "google",
  path: /^\/v1beta\/models\/([^/:]+):(generateContent|streamGenerateContent|countTokens)$/,
  read,
  pieces,
  whole,
  error: googleError,
  errorEvent: data,
};

export function googleError(code: number, message: string, reason?: string): unknown {
  const status = STATUSES.get(code) ?? "INTERNAL";
  const info = { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason, domain: "googleapis.com" };
  return { error: { code, message, status, ...(reason && { details: [info] }) } };
}

const STATUSES: ReadonlyMap<number, string> = new Map([
  [400, "INVALID_ARGUMENT"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "NOT_FOUND"],
  [429, "RESOURCE_EXHAUSTED"],
  [503, "UNAVAILABLE"],
]);

function read(body: Fields, [, model = "", method]: readonly string[]): Request {
  return {
    model,
    system: textOf(fieldsOf(body["systemInstruction"])["parts"]),
    messages: joined(listOf(body["contents"]).map(fieldsOf).flatMap(messagesOf)),
    tools: listOf(body["tools"]).flatMap((tool) =>
      listOf(fieldsOf(tool)["functionDeclarations"]).map((one) => String(fieldsOf(one)["name"])),
    ),
    stream: method === "streamGenerateContent",
    body,
  };
}

/** Tool results are parts of a user's message. Some clients send no ids, so the tool's name replaces one. */
function messagesOf({ role, parts }: Fields): readonly Partial<SeenMessage>[] {
  const side = role === "model" ? "assistant" : "user";
  return listOf(parts)
    .map(fieldsOf)
    .map((part): Partial<SeenMessage> => {
      const [call, result] = [fieldsOf(part["functionCall"]), fieldsOf(part["functionResponse"])];
      if (part["functionCall"])
        return {
          role: "assistant",
          toolCalls: [{ id: idOf(call), name: String(call["name"]), input: call["args"] }],
        };
      if (part["functionResponse"])
        return { role: "tool", toolResults: [{ id: idOf(result), text: resultOf(result["response"]) }] };
      return { role: side, text: String(part["text"] ?? "") };
    });
}

const idOf = ({ id, name }: Fields): string => String(id ?? name);

function resultOf(response: unknown): string {
  const { content, output } = fieldsOf(response);
  const text = content ?? output;
  return typeof text === "string" ? text : JSON.stringify(response);
}

const FINISH = { stop: "STOP", length: "MAX_TOKENS", tools: "STOP" } as const;

function* pieces(answer: Output, { model }: Request): Iterable<string> {
  const chunk = (parts: readonly unknown[], end: object = {}) =>
    data({ candidates: [{ index: 0, content: { role: "model", parts }, ...end }], ...headOf(answer, model) });
  for (const text of answer.text) yield chunk([{ text }]);
  for (const tool of answer.tools) yield chunk([callOf(tool)]);
  const end = { finishReason: FINISH[answer.stop] };
  const candidates = [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, ...end }];
  yield data({ candidates, usageMetadata: usageOf(answer.usage()), ...headOf(answer, model) });
}

function whole(answer: Output, { model }: Request): unknown {
  const text = [...answer.text].join("");
  const parts = [...(text === "" ? [] : [{ text }]), ...answer.tools.map(callOf)];
  const end = { finishReason: FINISH[answer.stop] };
  return {
    candidates: [{ index: 0, content: { role: "model", parts }, ...end }],
    usageMetadata: usageOf(answer.usage()),
    ...headOf(answer, model),
  };
}

const callOf = ({ id, name, arguments: input }: Output["tools"][number]) => ({
  functionCall: { id, name, args: parsed(input) },
});

const headOf = ({ id }: Output, modelVersion: string) => ({ modelVersion, responseId: id });

const usageOf = ({ input, output, cached }: Usage) => ({
  promptTokenCount: input,
  candidatesTokenCount: output,
  totalTokenCount: input + output,
  cachedContentTokenCount: cached,
});
