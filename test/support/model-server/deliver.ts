/** Delivers a reply to the client, in pieces or whole, with the fault that was asked for. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import type http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { unreachable } from "../../../src/core/unreachable.ts";
import type { Answer, Reply, Usage } from "./reply.ts";
import { inPieces, type Output, type Request, type Wire } from "./wire.ts";

export type Delivery = {
  readonly wire: Wire;
  readonly request: Request;
  readonly reply: Reply;
  readonly response: http.ServerResponse;
  /** Called when the end of the answer is written, before the client can have read it. */
  readonly count: (usage: Usage) => void;
};

/** Rejects when the signal tells that the client has gone. */
export const deliver = (delivery: Delivery, signal: AbortSignal): Promise<void> =>
  follow(delivery, delivery.reply, NO_FAULT, signal);

/** Models' tokens have about four characters. */
const CHARS_PER_TOKEN = 4;

export function estimateInput({ system, messages }: Request): number {
  const chars = messages.reduce(
    (all, { text, toolCalls, toolResults }) =>
      all +
      text.length +
      toolCalls.reduce(
        (sum, { name, input }) => sum + name.length + (JSON.stringify(input) ?? "").length,
        0,
      ) +
      toolResults.reduce((sum, result) => sum + result.text.length, 0),
    system.length,
  );
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** How the reply is delivered. */
type Way = {
  readonly dripMs: number | undefined;
  /** Infinite: the whole reply is delivered. */
  readonly maxPieces: number;
  /** What is sent instead of the rest; undefined: the connection is lost. */
  readonly last: string | undefined;
};

const NO_FAULT: Way = { dripMs: undefined, maxPieces: Number.POSITIVE_INFINITY, last: undefined };

async function follow(delivery: Delivery, reply: Reply, way: Way, signal: AbortSignal): Promise<void> {
  if (!("fault" in reply)) return send(delivery, contentOf(reply, way), way, signal);
  const { fault } = reply;
  const { response, wire } = delivery;
  switch (fault.is) {
    case "status": {
      const { status, headers, body = wire.error(status, `failed with ${status}, as scripted`) } = fault;
      response.writeHead(status, { "content-type": "application/json", ...headers });
      return void response.end(JSON.stringify(body));
    }
    case "drip":
      return follow(delivery, fault.reply, { ...way, dripMs: fault.ms }, signal);
    case "cut":
      return follow(delivery, fault.reply, { ...way, maxPieces: fault.afterPieces }, signal);
    case "error-event": {
      const last = wire.errorEvent(fault.body);
      return follow(delivery, fault.reply, { ...way, maxPieces: fault.afterPieces, last }, signal);
    }
    case "garbage": {
      const answer = contentOf({ text: "so far so good" }, way);
      return send(delivery, answer, { ...way, maxPieces: 2, last: NO_JSON }, signal);
    }
    case "bad-arguments": {
      const tools = [{ name: fault.tool, arguments: fault.arguments }];
      return send(delivery, { ...contentOf({}, way), tools, stop: "tools" }, way, signal);
    }
    case "endless":
      return send(
        delivery,
        { ...contentOf({ stop: "length" }, way), text: babble(fault.maxBytes) },
        way,
        signal,
      );
    case "hang":
      return hang(signal);
    default:
      return unreachable(fault);
  }
}

const NO_JSON = 'data: {"choices": [}, nonsense\n\n';

async function hang(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

type Content = Pick<Output, "text" | "stop"> & {
  readonly tools: readonly { readonly name: string; readonly arguments: string }[];
  readonly usage: Answer["usage"];
};

const contentOf = ({ text = "", tools = [], stop, usage }: Answer, { dripMs }: Way): Content => ({
  text: inPieces(text, dripMs === undefined ? undefined : DRIP_CHARS),
  tools: tools.map(({ name, input }) => ({ name, arguments: JSON.stringify(input) })),
  stop: stop ?? (tools.length > 0 ? "tools" : "stop"),
  usage,
});

function outputOf(content: Content, request: Request, count: (usage: Usage) => void): Output {
  const { tools, usage: given } = content;
  const id = randomUUID().replaceAll("-", "");
  const input = given?.input ?? estimateInput(request);
  const cached = given?.cached ?? 0;
  let chars = tools.reduce((sum, tool) => sum + tool.name.length + tool.arguments.length, 0);
  function* text(): Iterable<string> {
    for (const piece of content.text) {
      chars += piece.length;
      yield piece;
    }
  }
  return {
    id,
    createdAt: Date.now(),
    text: text(),
    // An id that differs from all others of the conversation, also after a restart of this server.
    tools: tools.map((tool, i) => ({ id: `call_${id.slice(0, 12)}_${i + 1}`, ...tool })),
    stop: content.stop,
    input: { input, cached },
    usage: () => {
      const usage = { input, cached, output: given?.output ?? Math.ceil(chars / CHARS_PER_TOKEN) };
      count(usage);
      return usage;
    },
  };
}

const DRIP_CHARS = 4;

function* babble(maxBytes: number): Iterable<string> {
  for (let bytes = 0; bytes < maxBytes; bytes += BABBLE.length) yield BABBLE;
}

const BABBLE = `${"and so on, ".repeat(90)}\n`;

async function send(delivery: Delivery, content: Content, way: Way, signal: AbortSignal): Promise<void> {
  const { request, response } = delivery;
  if (way.maxPieces === 0 && way.last === undefined) return void response.destroy();
  const type = request.stream ? "text/event-stream; charset=utf-8" : "application/json";
  response.writeHead(200, { "content-type": type }).flushHeaders();
  const pieces = (request.stream ? streamed : whole)(delivery, content)[Symbol.iterator]();
  // A piece is made only when it may be sent: the end of a cut answer is never made, and never counted.
  for (let sent = 0; sent < way.maxPieces; sent += 1) {
    if (sent > 0 && way.dripMs !== undefined) await sleep(way.dripMs, undefined, { signal });
    signal.throwIfAborted();
    const { done, value } = pieces.next();
    if (done) return void response.end();
    if (!response.write(value)) await once(response, "drain", { signal });
  }
  await breakOff(response, way);
}

const streamed = ({ wire, request, count }: Delivery, content: Content): Iterable<string> =>
  wire.pieces(outputOf(content, request, count), request);

function* whole({ wire, request, count }: Delivery, content: Content): Iterable<string> {
  let usage: Usage | undefined;
  const output = outputOf(content, request, (counted) => {
    usage = counted;
  });
  const body = JSON.stringify(wire.whole(output, request));
  yield* inPieces(body.slice(0, -1));
  if (usage) count(usage);
  yield body.slice(-1);
}

async function breakOff(response: http.ServerResponse, { last }: Way): Promise<void> {
  if (last !== undefined) return void response.end(last);
  // Waits until written data has left, which would be lost with the connection; an empty write would never report that.
  await new Promise<void>((resolve) => void response.write(" ", () => resolve()));
  response.destroy();
}
