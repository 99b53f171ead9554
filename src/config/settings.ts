/** How is a configuration kept with its run? As plain JSON that a person can read, checked again when it is used. */
import * as z from "zod";
import { isRecord } from "../text/json.ts";
import { GROUPS } from "./keys.ts";
import { type ConfigEntry, type ConfigProblem, wrongKey } from "./problem.ts";
import { assemble, type Problems } from "./read.ts";
import { type Config, schema } from "./schema.ts";

/** What was configured, as it would be written in skein.yaml; the planner only if it differs from the agent. */
export function toSettings(config: Config): unknown {
  const { planner, ...rest } = z.encode(schema, config as z.output<typeof schema>);
  const isOther = JSON.stringify(planner) !== JSON.stringify(rest.agent);
  return isOther ? { ...rest, ...(planner === undefined ? {} : { planner }) } : rest;
}

const ORIGIN = "the run's record";

/** A key that a newer Skein has added gets its default, but see `asBegun`; one that is not known is refused. */
export function fromSettings(settings: unknown): { readonly config: Config } | Problems {
  const problems: ConfigProblem[] = [];
  const entries: ConfigEntry[] = [];
  const collect = (group: unknown, above: string) => {
    if (!isRecord(group)) {
      problems.push({ key: above.slice(0, -1), message: "must be a group of keys", origin: ORIGIN });
      return;
    }
    for (const [part, value] of Object.entries(group)) {
      const key = above + part;
      const wrong = wrongKey(key);
      if (GROUPS.has(key)) collect(value, `${key}.`);
      else if (wrong !== undefined) problems.push({ key, message: wrong, origin: ORIGIN });
      else entries.push({ key, value, isText: false, origin: ORIGIN });
    }
  };
  collect(settings, "");
  if (problems.length > 0) return { problems };
  const result = assemble(entries);
  if ("problems" in result) return result;
  return { config: asBegun(result.config, Object(settings)) };
}

/** What a run has that was begun before there was such a key, where that is not the default. */
const BEFORE = { gateProbe: "off", gateSandbox: "off", gateChanges: undefined } as const;

/** Nothing binds a run that was begun before there was a key for it, unless the key is `given` now. */
export function asBegun(config: Config, settings: object, given: readonly string[] = []): Config {
  const isNew = (key: string) => !Object.hasOwn(settings, key) && !given.includes(key);
  return { ...config, ...Object.fromEntries(Object.entries(BEFORE).filter(([key]) => isNew(key))) };
}
