/** Opens traces if the environment turns them on; without that no module of them is loaded. */
import { messageOf } from "../../core/failure.ts";
import type { Environment } from "../../ports/project.ts";
import type { RunHome } from "../../ports/runs.ts";
import type { Traces } from "../../ports/traces.ts";
import { redactor } from "../../text/redact.ts";
import { isContentWanted, resourceOf, traceSettings } from "./settings.ts";

/** The secrets of a run, by the settings that were recorded with it. */
type SecretsOf = (settings: unknown, env: Environment) => readonly string[];

export function openTraces(env: Environment, secretsOf: SecretsOf): Traces {
  const settings = traceSettings(env);
  const headers = Object.values(settings?.headers ?? {});
  const redactIn = (home: RunHome) =>
    isContentWanted(env) ? redactor([...secretsOf(home.record.settings, env), ...headers]) : undefined;
  const load = () => import("./otel-traces.ts");
  return {
    follow: (home, after, warn) => {
      if (!settings) return undefined;
      const live = load()
        .then(({ LiveTrace }) => new LiveTrace({ home, redact: redactIn(home), after }, settings, warn))
        .catch((error: unknown) => warn(`traces are not sent: ${messageOf(error)}`));
      return { end: async () => (await live)?.end() };
    },
    document: async (home) => (await load()).traceDocument({ home, redact: redactIn(home) }, resourceOf(env)),
    send: async (home, signal) =>
      settings
        ? (await load()).sendTrace({ home, redact: redactIn(home) }, settings, signal)
        : { is: "not-configured" },
  };
}
