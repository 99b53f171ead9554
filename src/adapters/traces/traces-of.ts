/** Which variables turn traces on, and what is loaded then? Nothing, without them. */
import { messageOf } from "../../core/failure.ts";
import type { Environment } from "../../ports/project.ts";
import type { Traces } from "../../ports/traces.ts";
import { redactor, secretsOf } from "../../text/redact.ts";
import { isContentWanted, resourceOf, traceSettings } from "./settings.ts";

export function tracesOf(env: Environment): Traces {
  const settings = traceSettings(env);
  const secrets = [...secretsOf(env), ...Object.values(settings?.headers ?? {})];
  const redact = isContentWanted(env) ? redactor(secrets) : undefined;
  const load = () => import("./otel-traces.ts");
  return {
    follow: (home, after, warn) => {
      if (!settings) return undefined;
      const live = load()
        .then(({ LiveTrace }) => new LiveTrace({ home, redact, after }, settings, warn))
        .catch((error: unknown) => warn(`traces are not sent: ${messageOf(error)}`));
      return { end: async () => (await live)?.end() };
    },
    document: async (home) => (await load()).traceDocument({ home, redact }, resourceOf(env)),
    send: async (home, signal) =>
      settings ? (await load()).sendTrace({ home, redact }, settings, signal) : { is: "not-configured" },
  };
}
