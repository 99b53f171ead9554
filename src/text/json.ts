/** Reads JSON that may be damaged or of another version, or text that is not JSON. Never throws. */

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** True if a text from outside can be parsed and checked without exhausting this process: 16 MB take 30 ms. */
export function isModestJson(text: string): boolean {
  let [depth, values, isInString] = [0, 0, false];
  for (let i = 0; i < text.length; i += 1) {
    const mark = text[i]!;
    if (isInString && mark === "\\") i += 1;
    else if (mark === '"') isInString = !isInString;
    else if (!isInString && (mark === "[" || mark === "{")) depth += 1;
    else if (!isInString && (mark === "]" || mark === "}")) depth -= 1;
    else if (!isInString && mark === ",") values += 1;
    if (depth > MAX_DEPTH || values > MAX_VALUES) return false;
  }
  return true;
}

const MAX_DEPTH = 100;
const MAX_VALUES = 200_000;

export type LooseFields = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is LooseFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An empty object if the value is not an object. */
export const fields = (value: unknown): LooseFields => (isRecord(value) ? value : {});
