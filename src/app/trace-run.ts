/** Sends the spans of a finished run to a collector. */
import { failure } from "../core/failure.ts";
import type { RunHome } from "../ports/runs.ts";
import type { TraceSent, Traces } from "../ports/traces.ts";
import { misconfigured, type Refused, refused } from "./refused.ts";

export async function traceRun(
  home: RunHome,
  traces: Traces,
  signal: AbortSignal,
): Promise<(TraceSent & { readonly is: "sent" }) | Refused> {
  const end = await traces.send(home, signal);
  if (end.is === "sent") return end;
  const { run } = home.record;
  if (end.is === "not-configured")
    return misconfigured(
      "no collector is configured that traces could be sent to",
      `set OTEL_EXPORTER_OTLP_ENDPOINT; or write them into a file: skein trace ${run} --out trace.json`,
    );
  if (signal.aborted) return refused("stopped", failure("interrupted", "the sending was stopped"));
  if (end.isMisconfigured)
    return misconfigured(
      end.why,
      `correct it, or write the spans into a file: skein trace ${run} --out trace.json`,
    );
  const message = `${end.spans} spans of run ${run} were not sent to ${end.to}: ${end.why}`;
  return refused("run", failure("setup", message, "see whether the collector runs, and try again"));
}
