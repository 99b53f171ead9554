/** How is a text of somebody else's shown, so that nothing in it can end it? In a fence longer than any that it holds. */

export function blockOf(text: string): string {
  const fence = "`".repeat(Math.max(2, longestRun(text)) + 1);
  return `${fence}text\n${text.endsWith("\n") ? text : `${text}\n`}${fence}`;
}

/**
 * Without half characters and control characters, which a terminal obeys and a model stumbles over; without what only a
 * model can read; and with an end to runs of backticks, or a fence would be as long as they are.
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
/** Letters without a shape, and changes of direction: a person sees nothing, or something else. */
const HIDDEN = /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/gu;

/** Of backticks. */
export const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);

/** A path on a line of its own: one with odd characters is written as JSON writes it. */
export const pathLine = (path: string): string =>
  /[\p{Cc}\p{Zl}\p{Zp}"]/u.test(path) ? JSON.stringify(path) : path;
