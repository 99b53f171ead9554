/** How are times, commits, columns and long texts written for people? */

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

/** With tenths below ten seconds: where a run takes three seconds, they matter. */
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

/** A commit as people say it. What is no commit id stays as it is. */
export const short = (commit: string): string =>
  /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 10) : commit;

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** With its full stop, so that another sentence may follow. */
export const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** What agents, tests and files say must not move the cursor, change a colour, begin a line or fill the screen. */
export const harmless = (text: string, max: number = MAX_LINE_CHARS): string => {
  const start = text.slice(0, max * 4);
  const plain = PLAIN.test(start) ? start : start.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return plain.length <= max ? plain : `${plain.slice(0, max - 1)}…`;
};
const MAX_LINE_CHARS = 500;

/** Most texts: patterns for all scripts take a millisecond each to make, and are asked for every character. */
const PLAIN = /^[ -~]*$/;

/** The same for a text of several lines: its line ends stay. */
export const harmlessLines = (text: string, maxLines = 200): readonly string[] => {
  const lines = text.split(/\r\n|\n/);
  const shown = lines.slice(0, maxLines).map((line) => harmless(line.replaceAll("\t", "  ")));
  return lines.length > maxLines ? [...shown, `… ${lines.length - maxLines} more lines`] : shown;
};

/**
 * What no text of ours holds, and a terminal may obey: controls of eight bits, ends of lines and paragraphs, marks that
 * turn the order of letters.
 */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** For a terminal, whatever a text has not been through before. */
export const steerless = (text: string): string => text.replace(STEERING, " ");

/** JSON that is one line to every reader of lines, and the same value. */
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

/** As a shell takes it for one word. */
export const quoted = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Commands that can be pasted as they stand: what is said of them is a remark to the shell, too. */
export function commands(rows: readonly (readonly [command: string, remark?: string])[]): readonly string[] {
  return rows.map(([command, remark]) => (remark === undefined ? command : `${command}  # ${remark}`));
}
