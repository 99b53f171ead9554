/** How is a reading written in one line, for tables of examples? */
import { readFileSync } from "node:fs";
import type { Clause, Reading } from "../../src/planning/reading.ts";
import { readWords, type Words } from "../../src/planning/words.ts";

/** The published ones. */
export const WORDS: Words = published();

function published(): Words {
  const words = readWords(
    JSON.parse(readFileSync(new URL("../../planning/words.json", import.meta.url), "utf8")),
  );
  if ("problems" in words) throw new Error(words.problems.join("\n"));
  return words;
}

/** `verb: object each[a; b] #count ∞ <waits for`, "?" without a verb; clauses, then constraints with "!". */
export const shown = ({ clauses, constraints }: Reading): string =>
  [...clauses.map(shownClause), ...constraints.map((one) => `!${one}`)].join(" / ");

function shownClause({ verb = "?", object, items, itemsAre, count, isUnbounded, after }: Clause): string {
  const list = items.length > 0 ? `${itemsAre}[${items.join("; ")}]` : "";
  const waits = after.length > 0 ? `<${after.join(",")}` : "";
  const parts = [
    `${verb}:`,
    object,
    list,
    count === undefined ? "" : `#${count}`,
    isUnbounded ? "∞" : "",
    waits,
  ];
  return parts.filter((part) => part !== "").join(" ");
}
