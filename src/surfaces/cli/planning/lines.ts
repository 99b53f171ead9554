/** Finds the line of a JSON text that has a place such as `tasks[3].metadata.agent`. */
import { isNode, LineCounter, parseDocument } from "yaml";

/**
 * Words such as "plan.json:14: tasks[3]". `before`: the number of lines above the text. For a text that is not JSON,
 * the message already has the line.
 */
export function whereIn(text: string, before = 0): (file: string, place: string, message: string) => Where {
  let lineOf: ((place: string) => number | undefined) | undefined;
  return (file, place, message) => {
    const broken = place === "" ? /\bline (\d+), column \d+/.exec(message)?.[1] : undefined;
    lineOf ??= placeFinder(text);
    const line = broken === undefined ? lineOf(place) : Number(broken);
    return withLine(file, place, line === undefined ? undefined : line + before);
  };
}

export type Where = { readonly words: string; readonly line?: number };

export const withLine = (file: string, place: string, line?: number): Where => ({
  words: `${file}${line === undefined ? "" : `:${line}`}${place === "" ? "" : `: ${place}`}`,
  ...(line === undefined ? {} : { line }),
});

/** Takes the YAML parser 0.8 s on a slow machine; 2.6 s if every character opens a list. */
const MAX_CHARS = 100_000;

/**
 * The line of the place, or of the nearest enclosing one that exists; undefined for a longer text, or one that is not
 * JSON.
 */
function placeFinder(text: string): (place: string) => number | undefined {
  const lines = new LineCounter();
  try {
    if (text.length > MAX_CHARS) return () => undefined;
    JSON.parse(text);
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, logLevel: "silent" });
    return (place) => {
      const path = (place.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
      for (let end = path.length; end >= 0; end -= 1) {
        const [first, ...inner] = path.slice(0, end);
        // Also if the plan is inside "plan", or if the file has only a list of tasks.
        const ways = [path.slice(0, end), ["plan", ...path.slice(0, end)], first === "tasks" ? inner : []];
        const found = ways.map((way) => document.getIn(way, true)).find(isNode);
        if (found?.range) return lines.linePos(found.range[0]).line;
      }
      return undefined;
    };
  } catch {
    return () => undefined; // Not JSON, whose message has the line, or nested too deeply.
  }
}
