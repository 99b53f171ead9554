/** Orders the tasks of a plan by rules: as the request says, and never two at once that name the same thing. */
import { overlaps } from "../core/scope.ts";
import type { PlanTask } from "./plan.ts";

/** A task before its id, its wave and the name of its output file are known. */
export type Draft = Pick<
  PlanTask,
  "subject" | "description" | "scope" | "reads" | "delivers" | "requirements"
> & {
  /**
   * The request's own words for this task, by which the specialist is chosen. If the request is one task, only the
   * first sentence: a long text contains two keywords of any specialist by chance.
   */
  readonly words: string;
  readonly isImperative: boolean;
  /** Indexes of earlier drafts that must be done first. */
  readonly after: readonly number[];
  /** What the draft itself names, files and names in backticks: two drafts that name the same take turns. */
  readonly names: readonly string[];
  /** Another task reads the result, so it is written to a file. */
  readonly isCollected: boolean;
};

/** For each draft the indexes of the drafts that it waits for, without those that it waits for indirectly. */
export function turnsOf(drafts: readonly Draft[]): readonly (readonly number[])[] {
  const names = drafts.map((draft) => new Set(draft.names));
  const above: ReadonlySet<number>[] = [];
  return drafts.map((draft, at) => {
    const earlier = drafts.slice(0, at).flatMap((other, index) => {
      const isSame = meets(draft, other) || sharesName(names[at]!, names[index]!);
      return isSame && draft.delivers === "change" && other.delivers === "change" ? [index] : [];
    });
    const all = new Set<number>();
    const kept: number[] = [];
    // The latest first, because the drafts that it waits for need not be named again.
    for (const before of [...new Set([...draft.after, ...earlier])].sort((a, b) => b - a)) {
      if (all.has(before)) continue;
      kept.unshift(before);
      for (const one of [before, ...above[before]!]) all.add(one);
    }
    above.push(all);
    return kept;
  });
}

const meets = (a: Draft, b: Draft): boolean => overlaps(a.scope, b.scope);

const sharesName = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => !a.isDisjointFrom(b);
