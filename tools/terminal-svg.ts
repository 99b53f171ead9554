/** Draws a terminal's screen as SVG text: sharp at every size, in the reader's own font. */
import type { IBuffer, IBufferCell } from "@xterm/headless";

const WIDE = 8.4;
const HIGH = 19;
const PAD = 14;
const BACK = "#14161a";
const TEXT = "#e8eaee";
/** The eight terminal colours, and their bright variants. */
const COLOURS = [
  ...["#3a404b", "#ff8a84", "#5fd68f", "#f2b45c", "#7ab8ff", "#d7a3ff", "#6fd7e0", "#e8eaee"],
  ...["#8b94a3", "#ff8a84", "#5fd68f", "#f2b45c", "#7ab8ff", "#d7a3ff", "#6fd7e0", "#ffffff"],
];

type Size = { readonly columns: number; readonly rows: number };

export function terminalSvg(screen: IBuffer, { columns, rows }: Size): string {
  const width = Math.ceil(columns * WIDE + 2 * PAD);
  const height = rows * HIGH + 2 * PAD;
  const lines = Array.from({ length: rows }, (_, y) => lineOf(screen, y, columns)).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="skein watch on a terminal">
<rect width="${width}" height="${height}" rx="8" fill="${BACK}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
${lines}</g>
</svg>
`;
}

type Run = {
  readonly x: number;
  readonly text: string;
  readonly style: string;
  readonly back: string | undefined;
};

/** Equal-looking neighbouring cells become one text, stretched to their width, so that columns align in any font. */
function lineOf(screen: IBuffer, y: number, columns: number): string {
  const line = screen.getLine(screen.viewportY + y);
  const runs: Run[] = [];
  for (let x = 0; x < columns; x += 1) {
    const cell = line?.getCell(x);
    if (!cell || cell.getWidth() === 0) continue;
    const { style, back } = lookOf(cell);
    const last = runs.at(-1);
    const text = cell.getChars() || " ";
    if (last && last.style === style && last.back === back)
      runs[runs.length - 1] = { ...last, text: last.text + text };
    else runs.push({ x, text, style, back });
  }
  return runs.map((run) => runSvg(run, y)).join("");
}

function lookOf(cell: IBufferCell): Pick<Run, "style" | "back"> {
  const plain = cell.isFgPalette() ? (COLOURS[cell.getFgColor()] ?? TEXT) : TEXT;
  const colour = cell.isDim() ? COLOURS[8]! : plain;
  const isInverse = cell.isInverse() !== 0;
  const style = `fill="${isInverse ? BACK : colour}"${cell.isBold() ? ' font-weight="700"' : ""}`;
  return { style, back: isInverse ? colour : undefined };
}

function runSvg({ x, text, style, back }: Run, y: number): string {
  const top = PAD + y * HIGH;
  const at = (column: number) => (PAD + column * WIDE).toFixed(1);
  const width = (part: string) => ([...part].length * WIDE).toFixed(1);
  const rect =
    back === undefined
      ? ""
      : `<rect x="${at(x)}" y="${top}" width="${width(text)}" height="${HIGH}" fill="${back}"/>\n`;
  // SVG collapses several spaces into one, so each text between them is positioned separately.
  const parts = [...text.matchAll(/\S+(?: \S+)*/g)].map(({ 0: part, index }) => {
    const left = at(x + [...text.slice(0, index)].length);
    const safe = part.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    return `<text x="${left}" y="${top + 14}" textLength="${width(part)}" ${style}>${safe}</text>\n`;
  });
  return rect + parts.join("");
}
