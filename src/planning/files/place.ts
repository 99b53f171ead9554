/** Collects the problems of a plan file with their places, up to a limit. */
import { closest } from "../../text/closest.ts";
import { quoted } from "../../text/lines.ts";

export type PlanProblem = {
  /** As in `tasks[3].metadata.output_file`; empty for the plan as a whole. */
  readonly place: string;
  readonly message: string;
  /** What to try instead. */
  readonly next?: string;
};

/** The most tasks that a run takes in one planner answer. */
export const MAX_TASKS = 1_000;

/** More problems than a person fixes before the next check. */
const MAX_PROBLEMS = 200;
const MAX_NOTES = 100;

export class Report {
  readonly #problems: PlanProblem[] = [];
  #moreProblems = 0;
  /** Equal notes about the same key are kept once, with a count. */
  readonly #notes = new Map<string, { readonly first: string; count: number }>();

  get isBroken(): boolean {
    return this.#problems.length > 0;
  }

  refuse(place: string, message: string, next?: string): void {
    if (this.#problems.length === MAX_PROBLEMS) this.#moreProblems += 1;
    else this.#problems.push({ place, message, ...(next !== undefined && { next }) });
  }

  note(place: string, what: string): void {
    this.#note(`${place.slice(place.lastIndexOf(".") + 1)} ${what}`, () => `${place} ${what}`.trim());
  }

  /** Notes a key that is not read, with the known key that was probably meant. */
  noteUnknown(path: string, key: string, known: readonly string[]): void {
    this.#note(`${path.replace(/\[\d+\]/g, "[]")} ${quoted(key)}`, () => {
      const [near] = closest(key, known);
      const where = path === "" ? "" : ` in ${path}`;
      return `${quoted(key)}${where} is not known and was not read${near === undefined ? "" : `; did you mean ${near}?`}`;
    });
  }

  #note(key: string, words: () => string): void {
    const known = this.#notes.get(key);
    if (known) known.count += 1;
    else if (this.#notes.size < MAX_NOTES) this.#notes.set(key, { first: words(), count: 1 });
  }

  problems(): readonly PlanProblem[] {
    if (this.#moreProblems === 0) return [...this.#problems];
    return [...this.#problems, { place: "", message: `and ${this.#moreProblems} more problems` }];
  }

  notes(): readonly string[] {
    return [...this.#notes.values()].map(({ first, count }) =>
      count === 1 ? first : `${first} (and the same ${count - 1} more times)`,
    );
  }
}

/** A plan with an error must not be run; a warning is advice. */
export type Finding = PlanProblem & { readonly level: "error" | "warning" };

export const error = (place: string, message: string, next?: string): Finding => ({
  level: "error",
  place,
  message,
  ...(next !== undefined && { next }),
});

export const warning = (place: string, message: string, next?: string): Finding => ({
  ...error(place, message, next),
  level: "warning",
});
