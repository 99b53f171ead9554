/** What was found in a tool's output, and how are failures named so that the next run gives them the same names? */
import { PROBLEM_CLASSES, type ProblemClass } from "../repair.ts";

/** A problem whose name lacks the command's. */
export type Found = {
  readonly class: ProblemClass;
  /** No timings, no line numbers, nothing of this run or this machine: two runs are compared by it. */
  readonly name: string;
  /** Where it shows first; then others involved. All inside the workspace. */
  readonly files: readonly string[];
  readonly message: string;
  readonly cause?: string | undefined;
};

/** The failures of one output: each once, at most `MAX_FAILURES` of them, in an order that does not depend on time. */
export class Finds {
  readonly #byKey = new Map<string, Found>();
  readonly #places = new Set<string>();
  readonly #counts = new Map<string, number>();
  #dropped = 0;

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /**
   * `at` is the place inside the file. What is said twice about one place is one failure; of two places with the
   * same name the second is numbered, so that one more of the same kind is seen as a new failure.
   */
  add(found: Found, at?: string): void {
    const name = cut(found.name, MAX_NAME_CHARS) || "unnamed";
    const place = at === undefined ? name : `${name}\n${at}`;
    if (this.#places.has(place)) return;
    if (this.#byKey.size >= MAX_KEPT) {
      this.#dropped += 1;
      return;
    }
    this.#places.add(place);
    const count = at === undefined ? 1 : (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const key = count === 1 ? name : `${name} (${count})`;
    if (this.#byKey.has(key)) return;
    this.#byKey.set(key, {
      class: found.class,
      name: key,
      files: [...new Set(found.files)].slice(0, MAX_FILES),
      message: cut(found.message, MAX_MESSAGE_CHARS),
      ...(found.cause === undefined ? {} : { cause: cut(found.cause, MAX_NAME_CHARS) }),
    });
  }

  /** What comes first in repair comes first; then by name, since runners finish their files in any order. */
  all(): { readonly failures: readonly Found[]; readonly more: number } {
    const sorted = [...this.#byKey.values()].sort(
      (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
    );
    const failures = sorted.slice(0, MAX_FAILURES);
    return { failures, more: sorted.length - failures.length + this.#dropped };
  }
}

const rank = (found: Found) => PROBLEM_CLASSES.indexOf(found.class);

/** More than anyone repairs at once, and still a report that fits into the log. */
export const MAX_FAILURES = 500;
/** Kept until they are sorted: beyond it the output is not one that names failures. */
const MAX_KEPT = 20_000;
const MAX_NAME_CHARS = 300;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_FILES = 5;

const cut = (text: string, max: number): string =>
  (text.length > max ? `${text.slice(0, max)}…` : text).toWellFormed().trim();

/** A message as part of a name: without what differs from run to run and from machine to machine. */
export const steady = (message: string): string =>
  message
    .slice(0, MAX_MESSAGE_CHARS)
    .replace(/(?:\/private)?\/(?:tmp|var\/tmp|var\/folders)\/[^\s'"`’:)]{1,500}/g, "<temp>")
    .replace(/\b0x[0-9a-f]{4,16}\b/gi, "0x…")
    .replace(/(\.[a-z]{1,5}):\d{1,9}(?::\d{1,9})?\b/gi, "$1")
    .replace(/\bline \d{1,9}\b/g, "line")
    .replace(/\s+/g, " ")
    .trim();
