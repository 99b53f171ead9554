/** What does a package.json say about scripts and tests? */

/** By name. A package.json that is not valid JSON has no scripts. */
export function scriptsOf(text: string): ReadonlyMap<string, string> {
  const { scripts } = fieldsOf(text);
  if (typeof scripts !== "object" || scripts === null) return new Map();
  return new Map(
    Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

export const testSettingsOf = (text: string): readonly (readonly [key: string, value: string])[] => {
  const fields = fieldsOf(text);
  return SETTINGS.flatMap((key) => (fields[key] === undefined ? [] : [[key, JSON.stringify(fields[key])]]));
};

const SETTINGS = ["jest", "vitest", "mocha", "ava", "tap", "c8", "nyc", "wireit", "workspaces"] as const;

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
    return typeof read === "object" && read !== null ? (read as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
