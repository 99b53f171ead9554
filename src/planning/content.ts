/** Reduces a text to the stems of its meaningful words, to recognise the same subject in other words. */

export function contentOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
  return new Set(words.filter((word) => !COMMON.has(word)).map(stem));
}

/** "migrate", "migrates" and "migration" get one stem: the ending is removed, and six letters are kept. */
const stem = (word: string): string => word.replace(/(?<=\p{L}{3})(?:ies|es|ed|ing|s|e|y)$/u, "").slice(0, 6);

export function shares(some: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let count = 0;
  for (const one of some) if (others.has(one)) count += 1;
  return count;
}

/** Words of every request, and verbs that say no more than "do". */
const COMMON: ReadonlySet<string> = new Set(
  (
    "the and for with from that this these those them they then than there here its our your you not but are was were " +
    "has have had will would should could must can may shall all any each every some such only also just please make " +
    "sure ensure add adds adding use uses using need needs when while where what which who how why into onto over " +
    "after before once first next finally last new other same more most very does done don't too let get gets want"
  ).split(" "),
);
