/** Names the accounts that an agent may call; calls that share a quota share an account. */
import { accountOf, type ModelSpec } from "../core/model-spec.ts";
import type { Accounts } from "../core/rules/policy.ts";
import type { AgentSpec } from "../ports/agent-spec.ts";
import type { Environment } from "../ports/project.ts";
import { secretsInCommand, secretsOf } from "../text/redact.ts";
import type { Config } from "./schema.ts";

/**
 * A model's own account, then those of its fallbacks. A program has its name, because it chooses its account itself.
 */
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

/** A model's own fallbacks override those that are configured for all. */
export const fallbacksOf = (
  { fallbacks }: Extract<AgentSpec, { kind: "model" }>,
  fallback: readonly ModelSpec[],
): readonly ModelSpec[] => (fallbacks.length > 0 ? fallbacks : fallback);

/** The variables that the configuration names as keys, whatever they are called. */
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
    // A variable that a person passes on may be secret, whatever its name. Plain words, numbers and paths are left out,
    // because they occur in any text.
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
