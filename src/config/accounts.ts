/** Which accounts may an agent call? What shares a quota parks together. */
import { accountOf, type ModelSpec } from "../core/model-spec.ts";
import type { Accounts } from "../core/rules/policy.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { Environment } from "../ports/project.ts";
import { secretsInCommand, secretsOf } from "../text/redact.ts";
import type { Config } from "./schema.ts";

/** The model's own, then those of its fallbacks; of a program its name, since whose quota it uses is its own affair. */
export function accountsOf(spec: AgentSpec, fallback: readonly ModelSpec[] = []): Accounts {
  switch (spec.kind) {
    case "model":
      return [accountOf(spec.model), ...fallbacksOf(spec, fallback).map(accountOf)];
    case "acp":
      return [spec.name];
    case "command":
      return [spec.command[0].slice(spec.command[0].lastIndexOf("/") + 1) || "agent"];
    case "scripted":
      return ["script"];
  }
}

/** Its own count for more than what is configured for all. */
export const fallbacksOf = (
  { fallbacks }: Extract<AgentSpec, { kind: "model" }>,
  fallback: readonly ModelSpec[],
): readonly ModelSpec[] => (fallbacks.length > 0 ? fallbacks : fallback);

/** The variables that keys are taken from by name, whatever they are called. */
const keyVariablesOf = ({ agent, planner, fallback }: Config): readonly string[] =>
  [agent, planner]
    .flatMap((spec) =>
      typeof spec === "object" && spec.kind === "model" ? [spec.model, ...spec.fallbacks] : [],
    )
    .concat(fallback)
    .flatMap(({ keyVariable }) => keyVariable ?? []);

export function secretsFor(config: Config, env: Environment): readonly string[] {
  const { gate, workspace } = config;
  const inVariable = (name: string) => env[name]?.trim() ?? [];
  const commands = [...(Array.isArray(gate) ? gate.map(({ run }) => run) : []), workspace.setup ?? ""];
  return [
    ...secretsOf(env),
    ...fleetSecrets(env),
    ...keyVariablesOf(config).flatMap(inVariable),
    // What a person hands on by name may be secret, whatever it is called; words, numbers and paths stand in any text.
    ...workspace.pass.flatMap(inVariable).filter((value) => !/^(?:[a-z]+|[\d.]+|\/[\w./-]*)$/i.test(value)),
    ...commands.flatMap(secretsInCommand),
  ];
}

/** The address of the fleet's Postgres gives access to everything in it. */
function fleetSecrets({ SKEIN_FLEET_URL: url = "" }: Environment): readonly string[] {
  const password = URL.parse(url)?.password ?? "";
  const said = password.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [url, password, said].filter((secret) => secret !== "");
}
