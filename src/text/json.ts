/** Reads JSON that may be damaged, of another version, or no JSON at all. Never throws. */

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export type LooseFields = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is LooseFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** None if the value is not an object. */
export const fields = (value: unknown): LooseFields => (isRecord(value) ? value : {});
