/** Reads the scripts and test settings of a package.json. */
import { fields, parseJson } from "../../text/json.ts";

/** The scripts by name. A package.json that is not valid JSON has none. */
export function scriptsOf(text: string): ReadonlyMap<string, string> {
  const scripts = Object.entries(fields(fieldsOf(text)["scripts"]));
  return new Map(scripts.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

export const testSettingsOf = (text: string): readonly (readonly [key: string, value: string])[] => {
  const fields = fieldsOf(text);
  return SETTINGS.flatMap((key) => (fields[key] === undefined ? [] : [[key, JSON.stringify(fields[key])]]));
};

const SETTINGS = ["jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "wireit", "workspaces"] as const;

const fieldsOf = (text: string) => fields(parseJson(text.replace(/^\uFEFF/, "")));
