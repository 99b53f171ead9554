/** Which values must be nowhere but with those who need them? Of variables, and in the commands that are configured. */

import { secretsInCommand, secretsOf } from "../text/redact.ts";
import { keyVariablesOf } from "./accounts.ts";
import type { Config } from "./schema.ts";
import type { Environment } from "./sources.ts";

export function secretsFor(config: Config, env: Environment): readonly string[] {
  const { gate, workspace } = config;
  const inVariable = (name: string) => env[name]?.trim() ?? [];
  const commands = [...(Array.isArray(gate) ? gate.map(({ run }) => run) : []), workspace.setup ?? ""];
  return [
    ...secretsOf(env),
    ...keyVariablesOf(config).flatMap(inVariable),
    // What a person hands on by name may be secret, whatever it is called; words, numbers and paths stand in any text.
    ...workspace.pass.flatMap(inVariable).filter((value) => !/^(?:[a-z]+|[\d.]+|\/[\w./-]*)$/i.test(value)),
    ...commands.flatMap(secretsInCommand),
  ];
}
