/** Writes spans as OTLP in JSON, with ids that are the same in every process. */
import { createHash } from "node:crypto";
import manifest from "../../../package.json" with { type: "json" };
import type { Trace } from "../../core/view/trace.ts";
import type { TraceSpan } from "../../core/view/trace-details.ts";
import { ATTRIBUTE, type AttributeValue, CONVENTIONS } from "../../core/view/trace-names.ts";

export type OtlpSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code: number };
};

type OtlpAttribute = { readonly key: string; readonly value: OtlpValue };
type OtlpValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly boolValue: boolean }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export type OtlpDocument = { readonly resourceSpans: readonly object[] };

/**
 * Names a trace. Two repositories may have a run of the same name: its base and the moment it was opened tell them
 * apart.
 */
export const traceName = ({ opened }: Trace): string =>
  JSON.stringify([opened?.request.run, opened?.request.base, opened?.at]);

/** `trace`: the result of `traceName`. */
export function otlpSpan(trace: string, span: TraceSpan): OtlpSpan {
  const { key, parent, link, name, kind, from, to, attributes } = span;
  const traceId = hex(trace, 16);
  const spanId = (of: string) => hex(`${trace}\n${of}`, 8);
  return {
    ...{ traceId, spanId: spanId(key), ...(parent !== undefined && { parentSpanId: spanId(parent) }) },
    ...{ name, kind: kind === "client" ? 3 : 1 },
    ...{ startTimeUnixNano: nanos(from), endTimeUnixNano: nanos(to) },
    attributes: Object.entries(attributes).map(([name, value]) => ({ key: name, value: otlpValue(value) })),
    ...(link !== undefined && { links: [{ traceId, spanId: spanId(link) }] }),
    status: { code: attributes[ATTRIBUTE.error] === undefined ? 0 : 2 },
  };
}

export const otlpDocument = (
  spans: readonly OtlpSpan[],
  resource: Readonly<Record<string, string>>,
): OtlpDocument => ({
  resourceSpans: [
    {
      resource: {
        attributes: Object.entries(resource).map(([key, value]) => ({ key, value: otlpValue(value) })),
      },
      scopeSpans: [
        { scope: { name: "skein", version: manifest.version }, spans, schemaUrl: CONVENTIONS.schemaUrl },
      ],
    },
  ],
});

const hex = (text: string, bytes: number): string =>
  createHash("sha256")
    .update(text)
    .digest("hex")
    .slice(0, bytes * 2);

const nanos = (ms: number): string => `${BigInt(Math.round(ms)) * 1_000_000n}`;

function otlpValue(value: AttributeValue): OtlpValue {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: `${value}` };
  if (typeof value === "boolean") return { boolValue: value };
  return { arrayValue: { values: value.map(otlpValue) } };
}
