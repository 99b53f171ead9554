/** How does a month look, with one day marked? */
import { weeksOf } from "./grid.js";
import { monthTitle } from "./title.js";

const HEAD = " Mo Tu We Th Fr Sa Su";

export function renderMonth({ year, month, day }) {
  const cell = (n) => (n === day ? "[" + n + "]" : (n ?? "") + " ").padStart(4);
  const line = (week) => week.map(cell).reduce(join).trimEnd();
  return [monthTitle(year, month, HEAD.length), HEAD, ...weeksOf(year, month).map(line)].join("\n");
}

/** Cells are four wide and share a column, so that brackets need no room of their own. */
const join = (text, cell) => {
  const [a, b] = [text.at(-1), cell[0]];
  return text.slice(0, -1) + (a === " " ? b : a) + cell.slice(1);
};
