/** Joins texts of any length into one message of limited length: the longest are cut, and each cut is marked. */
import type { PlanBrief, WorkBrief } from "../core/brief.ts";

/** A heading, a sentence of ours, and texts below them. A part without content is left out. */
export type MessagePart = {
  readonly title: string;
  readonly says?: string;
  readonly pieces?: readonly Piece[];
};

/**
 * `head` is our own text and never cut. `text` is untrusted: in a block it cannot close its fence, on a line it cannot
 * begin another line.
 */
export type Piece = {
  readonly head: string;
  readonly as: "block" | "line";
  readonly text: string;
  /** Added to the note about a cut. */
  readonly where?: string;
  /** Characters that are already missing from `text`. */
  readonly leftOut?: number;
};

export const blockUnlessEmpty = (head: string, text: string): readonly Piece[] =>
  text.trim() === "" ? [] : [{ head, as: "block", text }];

/** About 75,000 tokens of prose: the rest of a window of 128,000 is enough to explore and to answer. */
export const MAX_MESSAGE_CHARS = 300_000;

/**
 * All parts get equal room, and so do all texts in a part; long ones get what short ones leave. So a concern of one
 * line stays whole, and fifty long reports are cut before a single document. Only our own words (headings, ids) can
 * make a message longer than `maxChars`.
 */
export function messageFrom(
  opening: string,
  parts: readonly MessagePart[],
  maxChars = MAX_MESSAGE_CHARS,
): string {
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

/** The characters of "## " and of line ends. */
const PART_CHARS = 10;

const oursIn = ({ title, says = "", pieces = [] }: MessagePart): number =>
  pieces.reduce((sum, piece) => sum + frameChars(piece), title.length + says.length + PART_CHARS);

/** The characters around a text: its head, its fences, the note about a cut. */
const frameChars = ({ head, as, text, where = "" }: Piece): number =>
  head.length + where.length + CUT_CHARS + (as === "line" ? 0 : blockOf("").length + 2 * longestRun(text));

/** "\n… 1,234,567,890 more characters", and the line ends around. */
const CUT_CHARS = 40;

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
  // Trailing space only counts in a text that was cut already.
  const isCut = (piece.leftOut ?? 0) > 0;
  return { ...piece, text: isCut ? text : text.trimEnd() };
}

/** Lines follow each other directly; a block is separated by an empty line. */
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

/** Cuts after whole lines, unless that would lose more than half. */
export function firstLines(text: string, max: number): string {
  if (text.length <= max) return text;
  const kept = text.slice(0, max);
  const end = kept.lastIndexOf("\n") + 1;
  return end > max / 2 ? kept.slice(0, end) : wholeChars(kept);
}

/** Without half of a character that takes two code units. */
const wholeChars = (text: string) => (/[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text);

/** A text in a fence that is longer than any in it, so that the text cannot close the fence. */
export function blockOf(text: string): string {
  const fence = "`".repeat(Math.max(2, longestRun(text)) + 1);
  return `${fence}text\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}

/**
 * Removes lone surrogates and control characters, which a terminal obeys, and characters that only a model can see;
 * limits runs of backticks, because a fence must be longer than they are.
 */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL, "")
    .replace(HIDDEN, "")
    .replace(LONG_RUN, (run) => `${run.slice(0, MAX_RUN)} (${run.length - MAX_RUN} more backticks) `);

const MAX_RUN = 40;
const LONG_RUN = new RegExp(`\`{${MAX_RUN + 1},}`, "g");
const CONTROL = /[\p{Cc}--[\t\n]]/gv;
/** Invisible letters and changes of direction, which show a person nothing or something else. */
const HIDDEN = /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/gu;

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);

/** A path on one line; a path with control characters or quotes is written as in JSON. */
export const pathLine = (path: string): string =>
  /[\p{Cc}\p{Zl}\p{Zp}"]/u.test(path) ? JSON.stringify(path) : path;

/** The first lines of a message: the task, and the number of its turn or attempt. */
export const placeLines = (brief: PlanBrief | WorkBrief): string =>
  `Task: ${brief.task} (${brief.spec.key})\n${
    brief.kind === "plan" ? `Turn: ${brief.turn}` : `Attempt: ${brief.attempt}`
  }`;
