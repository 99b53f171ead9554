/** How do many texts of any length become one message of bounded length? The longest are cut, and each cut is said. */
import { blockOf, longestRun, plainText } from "./block.ts";

/** A heading, a sentence of ours, and what stands below it. One that has nothing to say is left out. */
export type Part = {
  readonly title: string;
  readonly says?: string;
  readonly pieces?: readonly Piece[];
};

/**
 * `head` is ours and never cut. `text` may be anybody's: in a block it cannot reach the end of its fence, on a line it
 * cannot reach the next one.
 */
export type Piece = {
  readonly head: string;
  readonly as: "block" | "line";
  readonly text: string;
  /** What is said of a cut, besides how many characters it took. */
  readonly where?: string;
  /** Characters that `text` lacks already. */
  readonly leftOut?: number;
};

export const blockUnlessEmpty = (head: string, text: string): readonly Piece[] =>
  text.trim() === "" ? [] : [{ head, as: "block", text }];

/** Some 75,000 tokens of prose: what is left of a window of 128,000 is enough to explore and to answer. */
export const MAX_MESSAGE_CHARS = 300_000;

/**
 * All parts get the same room, and in a part all texts; what short ones leave over goes to the long ones. So a concern of
 * one line stays whole, and fifty long reports are cut before the one document. Only what is ours (headings, ids) can
 * make a message longer than `maxChars`.
 */
export function messageFrom(opening: string, parts: readonly Part[], maxChars = MAX_MESSAGE_CHARS): string {
  const told = parts
    .map((part) => ({ ...part, pieces: (part.pieces ?? []).map(prepared) }))
    .filter(({ says, pieces }) => says !== undefined || pieces.length > 0);
  const ours = told.reduce((sum, part) => sum + oursIn(part), opening.length);
  const room = level(
    told.map(({ pieces }) => charsOf(pieces)),
    maxChars - ours,
  );
  const shown = told.map(({ title, says, pieces }) => {
    const roomOfEach = level(
      pieces.map(({ text }) => text.length),
      room,
    );
    return [`## ${title}`, says ?? "", piecesIn(pieces, roomOfEach)]
      .filter((text) => text !== "")
      .join("\n\n");
  });
  return `${[opening, ...shown].join("\n\n")}\n`;
}

const charsOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { text }) => sum + text.length, 0);

/** "## " and line ends. */
const PART_CHARS = 10;

const oursIn = ({ title, says = "", pieces = [] }: Part): number =>
  pieces.reduce((sum, piece) => sum + frameChars(piece), title.length + says.length + PART_CHARS);

/** What may stand around a text: its head, its fences, the words of a cut. */
const frameChars = ({ head, as, text, where = "" }: Piece): number =>
  head.length + where.length + CUT_CHARS + (as === "line" ? 0 : blockOf("").length + 2 * longestRun(text));

/** "\n… 1,234,567,890 more characters", and the line ends around. */
const CUT_CHARS = 40;

/** The largest room for each with which all of them fit. */
export function level(lengths: readonly number[], total: number): number {
  const sorted = lengths.toSorted((a, b) => a - b);
  let left = Math.max(0, total);
  for (const [i, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - i));
    if (length > share) return share;
    left -= length;
  }
  return Number.POSITIVE_INFINITY;
}

function prepared(piece: Piece): Piece {
  const text = plainText(piece.text);
  if (piece.as === "line") return { ...piece, text: text.replace(/\s+/g, " ").trim() };
  // Only a text that goes on is counted to the last character: nobody misses the end of the last line.
  const isCut = (piece.leftOut ?? 0) > 0;
  return { ...piece, text: isCut ? text : text.trimEnd() };
}

/** Lines stand close together, blocks apart. */
function piecesIn(pieces: readonly Piece[], room: number): string {
  let shown = "";
  for (const [i, piece] of pieces.entries()) {
    const isClose = piece.as === "line" && pieces[i - 1]?.as === "line";
    shown += (i === 0 ? "" : isClose ? "\n" : "\n\n") + pieceIn(piece, room);
  }
  return shown;
}

function pieceIn({ head, as, text, where, leftOut: before = 0 }: Piece, room: number): string {
  const kept = as === "line" ? firstChars(text, room) : firstLines(text, room);
  const more = text.length - kept.length + before;
  const left = more === 0 ? "" : leftOut(more, where);
  if (as === "line") return `${head}${kept}${left && ` (${left})`}`;
  const block = kept === "" ? "" : `\n${blockOf(kept)}`;
  return `${head}${block}${left && `\n${left}`}`;
}

const leftOut = (chars: number, where = "") =>
  `… ${chars.toLocaleString("en")} more ${chars === 1 ? "character" : "characters"}${where}`;

const firstChars = (text: string, max: number) =>
  text.length <= max ? text : wholeChars(text.slice(0, max));

/** Whole lines, unless that would lose more than half. */
export function firstLines(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max);
  const end = kept.lastIndexOf("\n") + 1;
  return end > max / 2 ? kept.slice(0, end) : wholeChars(kept);
}

/** Not half of a character that takes two places. */
const wholeChars = (text: string) => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);
