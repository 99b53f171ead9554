/** Makes a task of each paragraph that begins with "Also" and names a place of its own. */
import { placesIn, type Tree } from "../paths.ts";
import { subjectOf } from "../wording.ts";
import { kindOf, type Lexicon, orderIn, withoutPolite } from "./lexicon.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const also: RequestShape = (request, { lexicon, limits, tree }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const paragraphs = paragraphsIn(request, lexicon, tree);
  if (paragraphs === undefined) return undefined;
  return {
    parts: paragraphs.map((words): Part => {
      const [first = words] = sentencesOf(words);
      const title = withoutPolite(first.replace(ALSO, ""), lexicon);
      return { subject: subjectOf(title, limits.maxSubjectChars), words, after: [] };
    }),
    // A limit may be meant for its own paragraph only, but does no harm in the others.
    shared: paragraphs.flatMap(sentencesOf).filter((sentence) => kindOf(sentence, lexicon) === "limit"),
    assumptions: [],
  };
};

export const ALSO =
  /^(?:(?:and\s+)?(?:please\s+)?also|another (?:thing|one)|(?:completely |totally )?(?:separately|unrelated(?:ly)?))\b[,:]?\s+/i;
/** Words that refer to what stands before them. */
const GOES_ON = /^(?:it|this|that|these|those|they|make sure|ensure|don['’]t|do not|never|no|keep)\b/i;

/**
 * Undefined unless each paragraph after the first begins with "Also" and names a place that no other paragraph names.
 */
function paragraphsIn(request: string, lexicon: Lexicon, tree: Tree): readonly string[] | undefined {
  const all = request.split(/\n[ \t]*\n/).map((one) => one.trim());
  const [first = "", ...others] = all;
  if (others.length === 0 || !others.every((one) => ALSO.test(one))) return undefined;
  if (others.some((one) => GOES_ON.test(one.replace(ALSO, "")))) return undefined;
  if (!sentencesOf(first).some((one) => orderIn(one, lexicon))) return undefined;
  const places = all.map((one) => placesIn(one, tree));
  const isApart = places.slice(1).every(({ length }) => length > 0);
  const named = places.flat();
  return isApart && new Set(named).size === named.length ? all : undefined;
}
