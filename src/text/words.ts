/** Formats durations, times, commits and texts for people, terminals and shells. */

/** "4 s", "1 min 05 s", "2 h 03 min", "3 d 4 h": two units at most. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const two = (n: number) => String(n).padStart(2, "0");
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} min`;
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`;
}

/** With tenths below ten seconds: in a run of three seconds, they matter. */
export const precise = (ms: number): string =>
  ms < 10_000 ? `${(Math.max(0, ms) / 1_000).toFixed(1)} s` : duration(ms);

/** "just now", "4 min ago". */
export const ago = (ms: number): string => {
  if (ms < 10_000) return "just now";
  return `${duration(ms).split(" ").slice(0, 2).join(" ")} ago`;
};

/** Local time, as on the clock on the wall. */
export function clockTime(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((n) => String(n).padStart(2, "0"))
    .join(":");
}

export function day(at: number): string {
  const date = new Date(at);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((n) => String(n).padStart(2, "0"))
    .join("-");
}

/** The first ten characters of a commit id. Any other text stays as it is. */
export const short = (commit: string): string =>
  /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 10) : commit;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Ends the text with a full stop, so that another sentence may follow. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/**
 * Makes a text of agents, tests or files safe to print in one line: it cannot move the cursor, change colours, begin a
 * new line or fill the screen.
 */
export const harmless = (text: string, max: number = MAX_LINE_CHARS): string => {
  const start = text.slice(0, max * 4);
  const plain = PLAIN.test(start) ? start : start.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length <= max ? plain : `${plain.slice(0, max - 1)}…`;
};
const MAX_LINE_CHARS = 500;

/** Matches most texts: the Unicode patterns take a millisecond each to compile, and test every character. */
const PLAIN = /^[ -~]*$/;

/** The same for a text of several lines: it keeps the line ends. */
export const harmlessLines = (text: string, maxLines = 200): readonly string[] => {
  const lines = text.split(/\r\n|\n/);
  const shown = lines.slice(0, maxLines).map((line) => harmless(line.replaceAll("\t", "  ")));
  return lines.length > maxLines ? [...shown, `… ${lines.length - maxLines} more lines`] : shown;
};

/**
 * Characters that none of our texts contain and a terminal may obey: C1 controls, line and paragraph separators, and
 * marks that change the direction of text.
 */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** For output to a terminal, whatever other cleaning a text had before. */
export const steerless = (text: string): string => text.replace(STEERING, " ");

/** JSON of the same value, without characters that some readers take for a line end. */
export const asJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replace(
    STEERING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

export const firstLine = (text: string, max = 100): string =>
  harmless(
    text
      .trim()
      .split("\n")[0]!
      .replace(/^#+\s*/, "")
      .trim(),
    max,
  );

/** Quotes a text so that a shell reads it as one word. */
export const quoted = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Commands that can be pasted as they are: each remark is a comment for the shell too. */
export function commands(rows: readonly (readonly [command: string, remark?: string])[]): readonly string[] {
  return rows.map(([command, remark]) => (remark === undefined ? command : `${command}  # ${remark}`));
}
