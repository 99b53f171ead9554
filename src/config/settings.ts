/** Keeps a run's configuration as plain JSON that a person can read, and checks it again when it is used. */
import * as z from "zod";
import { isRecord } from "../text/json.ts";
import { GROUPS } from "./keys.ts";
import { type ConfigEntry, type ConfigProblem, wrongKey } from "./problem.ts";
import { assemble, type Problems } from "./read.ts";
import { type Config, schema } from "./schema.ts";

/** The settings as they would be written in skein.yaml; the planner only if it differs from the agent. */
export function toSettings(config: Config): unknown {
  const { planner, ...rest } = z.encode(schema, config as z.output<typeof schema>);
  const isOther = JSON.stringify(planner) !== JSON.stringify(rest.agent);
  return isOther ? { ...rest, ...(planner === undefined ? {} : { planner }) } : rest;
}

const ORIGIN = "the run's record";

/** A key that was added later gets its default, except those of `asBegun`; an unknown key is refused. */
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

/** Values for runs that began before the key existed, where they differ from the default. */
const BEFORE = { gateProbe: "off", gateSandbox: "off", gateChanges: undefined } as const;

/** Keys that did not exist when a run began do not bind it, unless they are `given` now. */
export function asBegun(config: Config, settings: object, given: readonly string[] = []): Config {
  const isNew = (key: string) => !Object.hasOwn(settings, key) && !given.includes(key);
  return { ...config, ...Object.fromEntries(Object.entries(BEFORE).filter(([key]) => isNew(key))) };
}
