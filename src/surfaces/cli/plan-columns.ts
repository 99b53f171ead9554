/** How do the waves of a plan stand side by side? A column each, a cell for each task. */
import type { PlanTask } from "../../planning/plan.ts";
import type { Tone } from "./output.ts";
import { fit, harmless, padded, width, wrapped } from "./words.ts";

export type Brush = (tone: Tone, text: string) => string;

export type WaveColumn = { readonly title: string; readonly tasks: readonly PlanTask[] };

export type ColumnsPage = {
  readonly columns: number;
  readonly isCritical: ReadonlySet<string>;
  readonly brush: Brush;
};

const MIN_COLUMN = 22;
const MAX_COLUMN = 40;
/** What a screen shows at once, more or less. */
const MAX_CELLS = 12;
const MAX_BANDS = 3;
const BETWEEN = " │ ";
const MAX_SUBJECT_LINES = 4;
const MAX_AFTER_LINES = 2;

/** In as many bands below each other as the width asks for. Undefined: there is too much for columns, or only one. */
export function planColumns(waves: readonly WaveColumn[], page: ColumnsPage): readonly string[] | undefined {
  const room = page.columns - 1;
  const fitting = Math.floor((room + BETWEEN.length) / (MIN_COLUMN + BETWEEN.length));
  if (waves.length === 1 || fitting < 1 || waves.some(({ tasks }) => tasks.length > MAX_CELLS))
    return undefined;
  const bands = Math.ceil(waves.length / fitting);
  if (bands > MAX_BANDS) return undefined;
  const perBand = Math.ceil(waves.length / bands);
  const each = Math.floor((room - BETWEEN.length * (perBand - 1)) / perBand);
  const columns = waves.map((wave) => columnLines(wave, Math.min(each, MAX_COLUMN), page.isCritical));
  return Array.from({ length: bands }, (_, band) => {
    const side = columns.slice(band * perBand, (band + 1) * perBand);
    return [...(band > 0 ? [""] : []), ...besideEachOther(side, Math.min(each, MAX_COLUMN), page.brush)];
  }).flat();
}

/** On one line; nobody reads more of it here. */
export const oneLine = (text: string, max?: number): string =>
  harmless(text.slice(0, MAX_READ).replace(/\s+/g, " ").trim(), max);
const MAX_READ = 4_000;

type Piece = { readonly tone: Tone; readonly text: string };

function columnLines(wave: WaveColumn, columns: number, isCritical: ReadonlySet<string>): readonly Piece[] {
  const cells = wave.tasks.map((task) => cellLines(task, columns, isCritical.has(task.id)));
  return [
    { tone: "strong", text: fit(wave.title, columns) },
    { tone: "quiet", text: "─".repeat(columns) },
    ...cells.flat(),
  ];
}

/** Its id and subject, who does it, and what it waits for. */
function cellLines(
  { id, subject, blockedBy, metadata }: PlanTask,
  columns: number,
  isCritical: boolean,
): Piece[] {
  const start = `${isCritical ? "◆" : " "} ${fit(oneLine(id), Math.floor(columns / 2))} `;
  const indent = " ".repeat(Math.min(width(start), 4));
  const first = folded(`${start}${oneLine(subject)}`, indent, columns, MAX_SUBJECT_LINES);
  const after = blockedBy.length > 0 ? [`${indent}after ${oneLine(blockedBy.join(", "))}`] : [];
  return [
    ...first.map((text): Piece => ({ tone: isCritical ? "strong" : "plain", text })),
    { tone: "quiet", text: fit(`${indent}${oneLine(metadata.agent)}`, columns) },
    ...after.flatMap((text) => folded(text, indent, columns, MAX_AFTER_LINES)).map(quiet),
  ];
}

const quiet = (text: string): Piece => ({ tone: "quiet", text });

/** Broken at blanks, and inside what is longer than a line; what is left after so many lines is cut off. */
function folded(text: string, indent: string, columns: number, maxLines: number): readonly string[] {
  const lines: string[] = [];
  for (const line of wrapped(text, columns, indent).split("\n")) lines.push(...broken(line, indent, columns));
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), fit(`${lines[maxLines - 1]!.trimEnd()} …`, columns)];
}

function broken(line: string, indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const character of line) {
    const more = width(character);
    if (used + more > columns && used > indent.length) {
      lines.push(current);
      current = indent;
      used = indent.length;
    }
    current += character;
    used += more;
  }
  return [...lines, current];
}

function besideEachOther(
  columns: readonly (readonly Piece[])[],
  each: number,
  brush: Brush,
): readonly string[] {
  const height = Math.max(...columns.map((lines) => lines.length));
  const between = brush("quiet", BETWEEN);
  return Array.from({ length: height }, (_, row) => {
    const pieces = columns.map((lines) => lines[row]);
    const last = pieces.findLastIndex((piece) => piece !== undefined);
    return pieces
      .slice(0, last + 1)
      .map((piece, at) => {
        const { tone, text } = piece ?? { tone: "plain", text: "" };
        return brush(tone, text) + (at === last ? "" : padded("", each - width(text)));
      })
      .join(between);
  });
}
