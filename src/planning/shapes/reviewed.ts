/** Makes a separate task of a review at the end (", then review it"), so that the author does not review the work. */
import { placesIn, type Tree } from "../paths.ts";
import { subjectOf } from "../wording.ts";
import { isReport, type Lexicon, orderIn } from "./lexicon.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

/** The instructions of a reviewer, whatever the words of the request. */
export const REVIEW =
  "Code review of what the tasks before this one made, by an agent that did not make it: read the change critically, " +
  "assess its quality, give feedback with path and line. Change nothing.";

const WORK_ONLY = "Do the work only: another task reviews it afterwards.";

/** `shapeOf`: the shape of the request without its review. */
export const reviewed =
  (shapeOf: RequestShape): RequestShape =>
  (request, around) => {
    const { lexicon, limits } = around;
    const last = linesOf(request).findLast(({ is }) => is !== "blank");
    const sentence = last?.is === "text" ? sentencesOf(last.text).at(-1) : undefined;
    const found =
      sentence === undefined ? null : (THEN.exec(sentence) ?? HAVE_IT.exec(sentence) ?? ALONE.exec(sentence));
    if (!found || !request.endsWith(sentence!)) return undefined;
    const [, before = "", review = ""] = found;
    const head = `${request.slice(0, request.length - sentence!.length)}${before}`;
    if (AIM.test(review)) return undefined;
    if (isReport(head, lexicon) || !ordersIn(head, before, lexicon)) return undefined;
    const order = review.replace(BY_ANOTHER, "");
    if (HAVE.test(order) ? /\band\b/i.test(order) : !isReport(order, lexicon)) return undefined; // "Review and fix".
    const shape = shapeOf(head, around);
    const parts: readonly Part[] = shape?.parts ?? [
      {
        subject: subjectOf(sentencesOf(head)[0] ?? head, limits.maxSubjectChars),
        ...{ words: request, text: head, says: WORK_ONLY, after: [] },
      },
    ];
    const isOfWork = isOfTheWork(order, head, around.tree);
    const part: Part = {
      subject: HAVE.test(order) ? "Review the change" : subjectOf(order, limits.maxSubjectChars),
      ...(isOfWork
        ? { text: "Review the change", says: REVIEW }
        : { text: order, says: `Do only this part: ${order}. Change nothing.` }),
      ...{ words: sentence!, isReport: true },
      after: parts.map((_, at) => at),
    };
    return { shared: [], assumptions: [], ...shape, parts: [...parts, part] };
  };

/** A review that must also make something true of the result is work on it: a report alone would not achieve that. */
const AIM = /\b(?:so(?: that)?\s+\w+|until|to (?:make sure|ensure)|and make sure)\b/i;

/** False for "review all of src/auth" after work in docs/: it is not a review of that work. */
export function isOfTheWork(review: string, work: string, tree: Tree): boolean {
  const places = placesNamed(review, tree);
  const made = placesNamed(work, tree);
  const isMade = (place: string) => made.some((one) => one.startsWith(place) || place.startsWith(one));
  return places.length === 0 || made.length === 0 || places.some(isMade);
}

/** Also finds folders without a slash at the end, such as "src/auth". */
const placesNamed = (text: string, tree: Tree): readonly string[] =>
  placesIn(text.replace(/[\w@-]\/[\w@-]+(?=[\s,;:!?]|[.]?$)/g, "$&/"), tree);

/** "Have it reviewed": the verb stands at the end. */
const HAVE = /^have /i;
const ANOTHER =
  "(?:have|let|get|ask) (?:(?:some|any)(?:one|body)(?: else)?|(?:an?)?other (?:agent|person|reviewer|model)|an? (?:(?:different|second|separate|fresh|independent) )?(?:agent|person|reviewer|model)) (?:to )?";
const BY_ANOTHER = new RegExp(`^${ANOTHER}(?=review|audit)`, "i");
/** The rest of the sentence. */
const REST = "(?:[^.!?\\n]|\\.(?=\\w))*";
const DONE_TO = `have (?:it|them|both|that|this|the \\w+|everything) (?:reviewed|audited)\\b${REST}`;
const BY = `${ANOTHER}(?:review|audit)\\b${REST}`;
const WHAT = `(?:(?:review|audit)\\b${REST}|${DONE_TO}|${BY})`;
/** "…, then review it." */
const THEN = new RegExp(
  `^(.*\\S?\\w[)\`"']?)(?:[,;]|\\s+and|,\\s+and)\\s+(?:then|finally|afterwards|after that)\\s+(${WHAT})[.!]?$`,
  "is",
);
/** "… and have it reviewed", "… and let another agent review it". */
const HAVE_IT = new RegExp(`^(.*\\w[)\`"']?)(?:,|\\s+and|,\\s+and)\\s+(${DONE_TO}|${BY})[.!]?$`, "is");
/** "Afterwards have another agent review it." */
const ALONE = new RegExp(`^()(?:(?:then|finally|afterwards|after that),? )?(${DONE_TO}|${BY})[.!]?$`, "is");

const ordersIn = (head: string, before: string, lexicon: Lexicon): boolean =>
  (before === "" ? sentencesOf(head) : [before]).some((one) => orderIn(one, lexicon));
