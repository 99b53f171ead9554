/** What does a request ask for? Its clauses, lists, files and order, found by published words. */
import type { Clause, Reading } from "../reading.ts";
import type { Words } from "../words.ts";

export function readRequest(request: string, words: Words): Reading {
  const text = request.slice(0, MAX_READ_CHARS).toWellFormed().replace(/\s+/g, " ").trim();
  const [first = ""] = text.split(" ", 1);
  const verb = words.actionVerbs.find((one) => one === first.toLowerCase());
  const rest = verb === undefined ? text : text.slice(first.length).trim();
  const [object = "", listed] = rest.split(" with ");
  const items = listed?.split(/, (?:and )?| and /) ?? [];
  const clause: Clause = {
    text,
    ...(verb !== undefined && { verb }),
    object,
    items,
    ...(items.length > 0 && { itemsAre: "with" as const }),
    isUnbounded: false,
    context: [],
    files: [],
    names: [],
    after: [],
  };
  const leftOut = Math.max(0, request.length - MAX_READ_CHARS);
  return { text, leftOut, clauses: text === "" ? [] : [clause], constraints: [], pasted: [] };
}

const MAX_READ_CHARS = 20_000;
