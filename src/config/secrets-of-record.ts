/** Finds the secrets of a run by the settings that were recorded with it. */
import type { Environment } from "../ports/project.ts";
import { secretsOf } from "../text/redact.ts";
import { secretsFor } from "./accounts.ts";
import { fromSettings } from "./settings.ts";

export function secretsOfRecord(settings: unknown, env: Environment): readonly string[] {
  const read = fromSettings(settings);
  return "config" in read ? secretsFor(read.config, env) : secretsOf(env);
}
