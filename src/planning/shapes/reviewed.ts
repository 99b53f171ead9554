/** Makes a task of its own of a review at the end (", then review it"): it is not its author's. */
import { subjectOf } from "../wording.ts";
import { isReport, orderIn } from "./lexicon.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

/** What a reviewer is told, whatever the words of the request. */
export const REVIEW =
  "Code review of what the tasks before this one made, by an agent that did not make it: read the change critically, " +
  "assess its quality, give feedback with path and line. Change nothing.";

const WORK_ONLY = "Do the work only: another task reviews it afterwards.";

/** `shapeOf`: of the request without its review. */
export const reviewed =
  (shapeOf: RequestShape): RequestShape =>
  (request, around) => {
    const { lexicon, limits } = around;
    const last = linesOf(request).findLast(({ is }) => is !== "blank");
    const sentence = last?.is === "text" ? sentencesOf(last.text).at(-1) : undefined;
    const found = sentence === undefined ? null : (THEN.exec(sentence) ?? HAVE_IT.exec(sentence));
    if (!found || !request.endsWith(sentence!)) return undefined;
    const [, before = "", review = ""] = found;
    const head = `${request.slice(0, request.length - sentence!.length)}${before}`;
    if (AIM.test(review)) return undefined;
    if (isReport(head, lexicon) || !orderIn(before, lexicon)) return undefined;
    if (!/^have /i.test(review) && !isReport(review, lexicon)) return undefined; // "Review and fix".
    const shape = shapeOf(head, around);
    const parts: readonly Part[] = shape?.parts ?? [
      {
        subject: subjectOf(sentencesOf(head)[0] ?? head, limits.maxSubjectChars),
        ...{ words: request, text: head, says: WORK_ONLY, after: [] },
      },
    ];
    const part: Part = {
      subject: /^review|^audit/i.test(review)
        ? subjectOf(review, limits.maxSubjectChars)
        : "Review the change",
      ...{ words: sentence!, text: "Review the change", says: REVIEW, isReport: true },
      after: parts.map((_, at) => at),
    };
    return { shared: [], assumptions: [], ...shape, parts: [...parts, part] };
  };

/** A review that is to make something true of the result is work on it: a report alone would not bring it about. */
const AIM = /\b(?:so(?: that)?\s+\w+|until|to (?:make sure|ensure)|and make sure)\b/i;

const WHAT =
  "(?:(?:review|audit)\\b[^.!?\\n]*|have (?:it|them|that|this|the \\w+|everything) (?:reviewed|audited)\\b[^.!?\\n]*)";
/** "…, then review it." */
const THEN = new RegExp(
  `^(.*\\S?\\w[)\`"']?)(?:[,;]|\\s+and|,\\s+and)\\s+(?:then|finally|afterwards|after that)\\s+(${WHAT})[.!]?$`,
  "is",
);
/** "… and have it reviewed." */
const HAVE_IT =
  /^(.*\w[)`"']?)(?:,|\s+and|,\s+and)\s+(have (?:it|them|everything|the \w+) (?:reviewed|audited)\b[^.!?\n]*)[.!]?$/is;
