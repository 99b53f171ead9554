/** Makes the texts of a model's tools: of limited size, and without details of the machine. */

export const problem = (why: string): string => `${PROBLEM}${why}`;
export const isProblem = (result: unknown): boolean =>
  typeof result === "string" && result.startsWith(PROBLEM);
const PROBLEM = "error: ";

/** Why a file operation failed, without the paths in the error's message. */
export function whyNot(thrown: unknown): string {
  const code = String((Object(thrown) as NodeJS.ErrnoException).code);
  return REASONS.get(code) ?? `failed (${code})`;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "is not there"],
  ["ENOTDIR", "is below something that is not a folder"],
  ["EISDIR", "is a folder"],
  ["ELOOP", "was swapped for a link meanwhile, and is refused"],
  ["EACCES", "may not be opened"],
  ["EPERM", "may not be changed"],
  ["EROFS", "cannot be written: the disk is read-only"],
  ["ENOSPC", "cannot be written: the disk is full"],
  ["ENAMETOOLONG", "has too long a name"],
]);

/** The first lines within both limits, each of limited length, and how many are left out. */
export function firstLines(lines: readonly string[], max: { lines: number; bytes: number }) {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(0, max.lines)) {
    const shown = shortened(line);
    bytes += Buffer.byteLength(shown) + 1;
    if (bytes > max.bytes && kept.length > 0) break;
    kept.push(shown);
  }
  return { kept, leftOut: lines.length - kept.length };
}

/** Without this limit, one line of a minified file would fill the whole answer. */
const MAX_LINE_CHARS = 2_000;

const shortened = (line: string) =>
  line.length <= MAX_LINE_CHARS
    ? line
    : `${line.slice(0, MAX_LINE_CHARS).toWellFormed()} … ${line.length - MAX_LINE_CHARS} characters left out`;
