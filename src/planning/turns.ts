/** In which order do the tasks of a plan by rules go? As they say, and never two at once that name the same thing. */
import { overlaps } from "../core/scope.ts";
import type { Draft } from "./draft.ts";

/** For each the places of those that it waits for, without what it waits for by way of another already. */
export function turnsOf(drafts: readonly Draft[]): readonly (readonly number[])[] {
  const names = drafts.map(namesIn);
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

/** Files that it names, and what stands in backticks. Parts of one thing have the same words, and say nothing by them. */
const namesIn = ({ reads, words, isShared }: Draft): ReadonlySet<string> =>
  new Set([...reads, ...(isShared ? [] : (words.match(/`[^`\n]{1,100}`/g) ?? []))]);

const sharesName = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean => !a.isDisjointFrom(b);
