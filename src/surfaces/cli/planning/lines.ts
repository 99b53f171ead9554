/** On which line of a JSON text is a place such as `tasks[3].metadata.agent`? */
import { isNode, LineCounter, parseDocument } from "yaml";

/** `before`: the lines above the text. "plan.json:14: tasks[3]"; a text that is no JSON says itself where it breaks. */
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

/** 0.8 s of the YAML parser on a slow machine; 2.6 s where every character opens a list. */
const MAX_CHARS = 100_000;

/** The line of the place, or of the nearest around it that is there; none in a longer text, or one that is not JSON. */
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
        // Also where the plan stands in "plan", and where only a list of tasks was written.
        const ways = [path.slice(0, end), ["plan", ...path.slice(0, end)], first === "tasks" ? inner : []];
        const found = ways.map((way) => document.getIn(way, true)).find(isNode);
        if (found?.range) return lines.linePos(found.range[0]).line;
      }
      return undefined;
    };
  } catch {
    return () => undefined; // No JSON, which says itself where it breaks, or nested too deeply.
  }
}
