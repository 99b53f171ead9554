/** How do the waves of a plan stand side by side? A column each, a cell for each task. */
import type { PlanTask } from "../../../planning/plan.ts";
import { harmless } from "../../../text/words.ts";
import { fit, padded, width } from "../columns.ts";
import type { Tone } from "../output.ts";

export type Brush = (tone: Tone, text: string) => string;

type WaveColumn = { readonly title: string; readonly tasks: readonly PlanTask[] };

type ColumnsPage = {
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

const INDENT = 4;

/** Its id and subject, who does it, and what it waits for. */
function cellLines(task: PlanTask, columns: number, isCritical: boolean): readonly Piece[] {
  const { id, subject, blockedBy, metadata } = task;
  const start = `${isCritical ? "◆" : " "} ${fit(oneLine(id), Math.floor(columns / 2))} `;
  const indent = " ".repeat(INDENT);
  const subjects = folded(start, oneLine(subject), { columns, maxLines: MAX_SUBJECT_LINES });
  const after = `after ${oneLine(blockedBy.join(", "))}`;
  return [
    ...subjects.map((text): Piece => ({ tone: isCritical ? "strong" : "plain", text })),
    quiet(fit(`${indent}${oneLine(metadata.agent)}`, columns)),
    ...(blockedBy.length > 0 ? folded(indent, after, { columns, maxLines: MAX_AFTER_LINES }).map(quiet) : []),
  ];
}

const quiet = (text: string): Piece => ({ tone: "quiet", text });

/** Broken at blanks, and inside a word that no line could hold; what is left after so many lines is cut off. */
function folded(start: string, text: string, { columns, maxLines }: Fold): readonly string[] {
  const indent = " ".repeat(INDENT);
  const lines: string[] = [];
  let line = start;
  let isNew = true;
  for (const word of text.split(" ")) {
    const joined = isNew ? `${line}${word}` : `${line} ${word}`;
    if (width(joined) <= columns) line = joined;
    else if (width(word) <= columns - INDENT) {
      lines.push(line);
      line = `${indent}${word}`;
    } else {
      const parts = broken(joined, indent, columns);
      lines.push(...parts.slice(0, -1));
      line = parts.at(-1)!;
    }
    isNew = false;
  }
  lines.push(line);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines - 1), fit(`${lines[maxLines - 1]!} …`, columns)];
}

type Fold = { readonly columns: number; readonly maxLines: number };

function broken(line: string, indent: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let current = "";
  let used = 0;
  for (const character of line) {
    const more = width(character);
    if (used + more > columns) {
      lines.push(current.trimEnd());
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
