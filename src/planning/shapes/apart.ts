/** Makes a task of each order that names files of its own: "Fix a in x.ts. Also change y.ts." */
import { subjectOf } from "../wording.ts";
import { ALSO } from "./also.ts";
import { areApart } from "./clauses.ts";
import { kindOf, orderIn } from "./lexicon.ts";
import { pointsBack, waitsFor } from "./listed.ts";
import { togetherIn } from "./merge.ts";
import type { RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const apart: RequestShape = (request, { lexicon, limits, tree }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const shared: string[] = [];
  const said: string[][] = [];
  for (const sentence of sentencesOf(request)) {
    const kind = kindOf(sentence, lexicon);
    if (kind === "unclear") return undefined;
    if (kind === "order") said.push([sentence]);
    else if (kind === "limit" || said.length === 0) shared.push(sentence);
    else said.at(-1)!.push(sentence); // The sentence explains the order before it.
  }
  const groups = togetherIn(
    said.map((sentences) => sentences.join(" ")),
    tree,
  ).map((group) => group.flatMap((at) => said[at]!));
  if (groups.length < 2) return undefined;
  if (
    !areApart(
      groups.map((sentences) => sentences.join(" ")),
      tree,
    )
  )
    return undefined;
  const orders = groups.map(([first = ""]) => ({ text: first, verb: orderIn(first, lexicon)!.verb }));
  // "It" may refer to the result of the sentence before.
  if (orders.some(({ text }) => pointsBack(text))) return undefined;
  return {
    parts: groups.map((sentences, at) => ({
      subject: subjectOf(withoutAlso(sentences[0]!), limits.maxSubjectChars),
      words: sentences.join(" "),
      after: waitsFor(at, orders),
    })),
    shared,
    assumptions: [],
  };
};

const withoutAlso = (sentence: string): string => sentence.replace(ALSO, "");
