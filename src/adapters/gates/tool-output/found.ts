/** Collects the failures found in a tool's output, named so that the next run names the same failure the same way. */
import { PROBLEM_CLASSES, type ProblemClass } from "../../../core/rules/repair.ts";

export type ToolProblem = {
  readonly class: ProblemClass;
  /** Without times, line numbers or anything of this run or machine, because two runs are compared by it. */
  readonly name: string;
  /** Where the failure shows first, then other files involved; all inside the workspace. */
  readonly files: readonly string[];
  readonly message: string;
  readonly cause?: string | undefined;
  /** Whether it keeps other failures from being seen: something did not build or load, or a program ended by it. */
  readonly hides?: boolean;
};

/** The failures of one output: each once, limited, in an order that does not depend on time. */
export class Finds {
  readonly #byKey = new Map<string, ToolProblem>();
  readonly #places = new Set<string>();
  readonly #counts = new Map<string, number>();
  #dropped = 0;
  #hiding = 0;
  #tests = 0;

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  /** How many of the failures keep others from being seen. */
  get hiding(): number {
    return this.#hiding;
  }

  /** How many of the failures are tests that ran. */
  get tests(): number {
    return this.#tests;
  }

  /**
   * `at` is the place inside the file. Two reports about one place are one failure. A second place with the same
   * name is numbered, so that one more failure of the same kind counts as new.
   */
  add(found: ToolProblem, at?: string): void {
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
    if (found.hides) this.#hiding += 1;
    else if (found.class === "tests") this.#tests += 1;
    this.#byKey.set(key, {
      class: found.class,
      name: key,
      files: [...new Set(found.files)].slice(0, MAX_FILES),
      message: cut(found.message, MAX_MESSAGE_CHARS),
      ...(found.cause === undefined ? {} : { cause: cut(found.cause, MAX_NAME_CHARS) }),
    });
  }

  /** In the order of repair, then by name, because runners finish their files in any order. */
  all(): { readonly failures: readonly ToolProblem[]; readonly more: number } {
    const sorted = [...this.#byKey.values()].sort(
      (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
    );
    const failures = sorted.slice(0, MAX_FAILURES);
    return { failures, more: sorted.length - failures.length + this.#dropped };
  }
}

const rank = (found: ToolProblem) => PROBLEM_CLASSES.indexOf(found.class);

/** More than anyone repairs at once, in a report that fits into the log. */
const MAX_FAILURES = 500;
/** How many are kept until they are sorted; further ones are only counted. */
const MAX_KEPT = 20_000;
const MAX_NAME_CHARS = 300;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_FILES = 5;

const cut = (text: string, max: number): string =>
  (text.length > max ? `${text.slice(0, max)}…` : text).toWellFormed().trim();

/** A message as part of a name, without parts that differ between runs and machines. */
export const steady = (message: string): string =>
  message
    .slice(0, MAX_MESSAGE_CHARS)
    .replace(/(?:\/private)?\/(?:tmp|var\/tmp|var\/folders)\/[^\s'"`’:)]{1,500}/g, "<temp>")
    .replace(/\b0x[0-9a-f]{4,16}\b/gi, "0x…")
    .replace(/(\.[a-z]{1,5}):\d{1,9}(?::\d{1,9})?\b/gi, "$1")
    .replace(/\bline \d{1,9}\b/g, "line")
    .replace(/\s+/g, " ")
    .trim();
