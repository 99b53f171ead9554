/** In which order do the tasks of a plan by rules go? As they say, and never two at once that name the same thing. */
import { overlaps } from "../core/scope.ts";
import type { PlanTask } from "./plan.ts";

/** A task without what only all of them together say: its id, its wave, the name of its output file. */
export type Draft = Pick<
  PlanTask,
  "subject" | "description" | "scope" | "reads" | "delivers" | "requirements"
> & {
  /**
   * The request's own words that are this task's: the specialist is chosen by these. Of a request that is one task, the
   * first sentence: a long text has two keywords of any specialist by chance.
   */
  readonly words: string;
  readonly isImperative: boolean;
  /** Places of earlier drafts that must be done first. */
  readonly after: readonly number[];
  /** What it names itself, files and what stands in backticks: two that name the same take turns. */
  readonly names: readonly string[];
  /** Another task reads its result, so that it is written to a file. */
  readonly isCollected: boolean;
};

/** For each the places of those that it waits for, without what it waits for by way of another already. */
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
    // The latest first: what those wait for need not be named again.
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
