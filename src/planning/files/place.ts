/** Where in a plan file is something wrong, and what? Kept short, however much there is to say. */
import { closest } from "../../core/closest.ts";
import { Lines, quoted } from "../../core/lines.ts";

export type PlanProblem = {
  /** As in `tasks[3].metadata.output_file`; empty for the plan as a whole. */
  readonly place: string;
  readonly message: string;
  /** What to try. */
  readonly next?: string;
};

/** As many as a run takes in one answer of its planner. */
export const MAX_TASKS = 1_000;

export type Fields = Readonly<Record<string, unknown>>;

/** A value that somebody wrote, and where. */
export type Found = { readonly at: string; readonly value: unknown };

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const placeIn = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** Null and nothing are the same to a model; what every object inherits was written by nobody. */
export function valueIn(fields: Fields, key: string): unknown {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return value === null ? undefined : value;
}

export function foundIn(fields: Fields, path: string, key: string): Found | undefined {
  const value = valueIn(fields, key);
  return value === undefined ? undefined : { at: placeIn(path, key), value };
}

/** More than a person mends before the next check. */
const MAX_PROBLEMS = 200;
const MAX_NOTES = 100;
/** To look for a name that is near costs more than to read one. */
const MAX_UNKNOWN = 50;

export class Report {
  readonly #problems: PlanProblem[] = [];
  #moreProblems = 0;
  /** The same words about the same key are said once, with how many more there are. */
  readonly #notes = new Map<string, { readonly first: string; count: number }>();
  #moreNotes = 0;
  #unknown = 0;

  /** Problems so far. */
  get count(): number {
    return this.#problems.length + this.#moreProblems;
  }

  get isBroken(): boolean {
    return this.count > 0;
  }

  refuse(place: string, message: string, next?: string): void {
    if (this.#problems.length === MAX_PROBLEMS) this.#moreProblems += 1;
    else this.#problems.push({ place, message, ...(next !== undefined && { next }) });
  }

  note(place: string, what: string): void {
    const key = `${place.slice(place.lastIndexOf(".") + 1)} ${what}`;
    this.#note(key, () => (place === "" ? what : `${place} ${what}`));
  }

  #note(key: string, words: () => string): void {
    const known = this.#notes.get(key);
    if (known) known.count += 1;
    else if (this.#notes.size === MAX_NOTES) this.#moreNotes += 1;
    else this.#notes.set(key, { first: words(), count: 1 });
  }

  /** Keys that nobody reads, with those that may have been meant: each once for all tasks. */
  noteUnknown(fields: Fields, path: string, known: ReadonlySet<string>): void {
    const place = path.replace(/\[\d+\]/g, "[]");
    for (const key of Object.keys(fields)) {
      if (known.has(key)) continue;
      this.#note(`${place} ${quoted(key)}`, () => {
        const [near] = this.#unknown++ < MAX_UNKNOWN ? closest(key, [...known]) : [];
        const hint = near === undefined ? "" : `; did you mean ${near}?`;
        const where = path === "" ? "" : ` in ${path}`;
        return `${quoted(key)}${where} is not known and was not read${hint}`;
      });
    }
  }

  problems(): readonly PlanProblem[] {
    if (this.#moreProblems === 0) return [...this.#problems];
    return [...this.#problems, { place: "", message: `and ${this.#moreProblems} more problems` }];
  }

  notes(): readonly string[] {
    const lines = new Lines(MAX_NOTES);
    for (const { first, count } of this.#notes.values())
      lines.add(count === 1 ? first : `${first} (and the same ${count - 1} more times)`);
    return this.#moreNotes === 0 ? lines.all() : [...lines.all(), `and ${this.#moreNotes} more`];
  }
}
