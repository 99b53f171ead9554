/** A real HTTP server for tests that receives OTLP in JSON, as a trace collector does. */
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import * as z from "zod";

const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({
    arrayValue: z.strictObject({ values: z.array(z.strictObject({ stringValue: z.string() })) }),
  }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const traceId = z.string().regex(/^[0-9a-f]{32}$/);
const spanId = z.string().regex(/^[0-9a-f]{16}$/);
const nanos = z.string().regex(/^\d{19}$/);
const span = z.strictObject({
  traceId,
  spanId,
  parentSpanId: spanId.optional(),
  name: z.string().min(1),
  kind: z.literal([1, 3]),
  startTimeUnixNano: nanos,
  endTimeUnixNano: nanos,
  attributes,
  links: z.array(z.strictObject({ traceId, spanId })).optional(),
  status: z.strictObject({ code: z.literal([0, 2]) }),
});
const document = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({
          scope: z.strictObject({ name: z.string(), version: z.string() }),
          schemaUrl: z.url(),
          spans: z.array(span),
        }),
      ),
    }),
  ),
});

export type ReceivedSpan = Omit<z.infer<typeof span>, "attributes"> & {
  readonly attributes: Readonly<Record<string, string | number | boolean | readonly string[]>>;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly schemaUrl: string;
};

export type OtlpReceiver = AsyncDisposable & {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: http.IncomingHttpHeaders }[];
  /** Resolves once it has answered a request. */
  asked(): Promise<void>;
};

/** `answer`: a status, or no answer at all, instead of accepting the spans. */
export async function startReceiver(answer?: number | "silence", port = 0): Promise<OtlpReceiver> {
  const answered = Promise.withResolvers<void>();
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: http.IncomingHttpHeaders }[] = [];
  const server = http.createServer(async (request, response) => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    const body = Buffer.concat(await request.toArray());
    if (answer === "silence") return;
    response.once("close", answered.resolve);
    if (answer !== undefined || request.url !== "/v1/traces") return response.writeHead(answer ?? 404).end();
    const text = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
    try {
      spans.push(...readOtlp(JSON.parse(text.toString())));
    } catch {
      return response.writeHead(400).end();
    }
    response.writeHead(200, { "content-type": "application/json", "content-length": 21 });
    return response.end('{"partialSuccess":{}}');
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    asked: () => answered.promise,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Throws if the value is not OTLP. */
export const readOtlp = (json: unknown): readonly ReceivedSpan[] =>
  document.parse(json).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ schemaUrl, spans }) =>
      spans.map((one) => ({
        ...one,
        schemaUrl,
        resource: valuesOf(resource.attributes),
        attributes: valuesOf(one.attributes),
      })),
    ),
  );

const valuesOf = (given: z.infer<typeof attributes>): ReceivedSpan["attributes"] =>
  Object.fromEntries(given.map(({ key, value: of }) => [key, plain(of)]));

function plain(of: z.infer<typeof value>): string | number | boolean | readonly string[] {
  if ("stringValue" in of) return of.stringValue;
  if ("intValue" in of) return Number(of.intValue);
  return "boolValue" in of ? of.boolValue : of.arrayValue.values.map(({ stringValue }) => stringValue);
}
