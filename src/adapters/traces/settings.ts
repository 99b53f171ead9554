/** Reads from the standard `OTEL_*` variables whether traces are wanted, and where they go. */

type Environment = Readonly<Record<string, string | undefined>>;

export type TraceSettings = {
  readonly endpoint: string;
  /** Often keys, so never shown. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Why nothing can be sent with these variables. */
  readonly problem?: string;
  readonly isZipped: boolean;
  readonly resource: Readonly<Record<string, string>>;
  readonly batch: { readonly delayMs: number; readonly maxSpans: number; readonly maxQueue: number };
};

/** Undefined unless an endpoint or the exporter is named. */
export function traceSettings(env: Environment): TraceSettings | undefined {
  const exporter = textIn(env, "OTEL_TRACES_EXPORTER")?.toLowerCase();
  const own = textIn(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const base = textIn(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  const [variable, named] =
    own === undefined
      ? ["OTEL_EXPORTER_OTLP_ENDPOINT", base ?? LOCAL_COLLECTOR]
      : ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", own];
  const why = problemOf(named, env);
  const isOn = own !== undefined || base !== undefined || exporter === "otlp";
  if (!isOn || isTrue(env["OTEL_SDK_DISABLED"]) || (exporter ?? "otlp") !== "otlp") return undefined;
  return {
    endpoint: own ?? `${(base ?? LOCAL_COLLECTOR).replace(/\/+$/, "")}/v1/traces`,
    headers: {
      ...pairs(env["OTEL_EXPORTER_OTLP_HEADERS"]),
      ...pairs(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]),
    },
    timeoutMs:
      numberOf(env, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT") ??
      numberOf(env, "OTEL_EXPORTER_OTLP_TIMEOUT") ??
      10_000,
    ...(why !== undefined && { problem: `${variable} ${why}` }),
    isZipped:
      (env["OTEL_EXPORTER_OTLP_TRACES_COMPRESSION"] ?? env["OTEL_EXPORTER_OTLP_COMPRESSION"]) === "gzip",
    resource: resourceOf(env),
    batch: {
      delayMs: numberOf(env, "OTEL_BSP_SCHEDULE_DELAY") ?? 5_000,
      maxSpans: numberOf(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE") ?? 512,
      maxQueue: numberOf(env, "OTEL_BSP_MAX_QUEUE_SIZE") ?? 2_048,
    },
  };
}

/** Names the problem without the address itself, which may have a password in it. */
function problemOf(address: string, env: Environment): string | undefined {
  const url = URL.parse(address);
  const protocol = env["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] ?? env["OTEL_EXPORTER_OTLP_PROTOCOL"];
  if (protocol === "grpc")
    return "is for gRPC, as OTEL_EXPORTER_OTLP_PROTOCOL says; Skein sends by HTTP, mostly to port 4318";
  if (!url) return `is not an address, such as ${LOCAL_COLLECTOR}`;
  if (!/^https?:$/.test(url.protocol)) return "does not begin with http:// or https://";
  if (url.username !== "" || url.password !== "")
    return "has a name or password in it: give them as a header, OTEL_EXPORTER_OTLP_HEADERS";
  return undefined;
}

export const resourceOf = (env: Environment): Readonly<Record<string, string>> => ({
  "service.name": "skein",
  ...pairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
  ...(textIn(env, "OTEL_SERVICE_NAME") !== undefined && { "service.name": env["OTEL_SERVICE_NAME"]! }),
});

/** Whether prompts, answers and tools' inputs are wanted: only by OpenTelemetry's own variable. */
export const isContentWanted = (env: Environment): boolean =>
  /^(?:true|span_only|span_and_event)$/i.test(
    textIn(env, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT") ?? "",
  );

const LOCAL_COLLECTOR = "http://localhost:4318";

/** An empty variable counts as unset. */
const textIn = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined;
const isTrue = (value: string | undefined): boolean => value?.trim().toLowerCase() === "true";

function numberOf(env: Environment, name: string): number | undefined {
  const value = Number(textIn(env, name));
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** Parses "a=1,b=2", with values encoded as in an address. Invalid pairs are left out. */
function pairs(text = ""): Readonly<Record<string, string>> {
  const found = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, at).trim();
    return at < 1 || name === "" ? [] : [[name, decoded(pair.slice(at + 1).trim())]];
  });
  return Object.fromEntries(found) as Readonly<Record<string, string>>;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A lone "%" stands for itself.
  }
}
