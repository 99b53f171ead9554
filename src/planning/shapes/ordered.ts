/** Is the request a row of sentences with words of order at their start? Then each such sentence begins a task. */
import { subjectOf } from "../wording.ts";
import { kindOf, type Lexicon, type When, whenOf } from "./lexicon.ts";
import type { Part, Shape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const ordered: Shape = (request, { lexicon, limits }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = sentencesOf(request);
  if (!sentences.some((sentence, at) => at > 0 && whenOf(sentence, lexicon) !== undefined)) return undefined;
  const read = stepsIn(sentences, lexicon);
  if (read === undefined || read.steps.length < 2) return undefined;
  return {
    parts: inOrder(read.steps).map(({ text, words, after }) => ({
      subject: subjectOf(text, limits.maxSubjectChars),
      words: words.join(" "),
      after,
    })),
    shared: read.shared,
    assumptions: [],
  };
};

type Step = { readonly when: When; readonly text: string; readonly words: string[] };

/** Undefined: a word of order that begins no order tells a story ("Then the page is blank"). */
function stepsIn(
  sentences: readonly string[],
  lexicon: Lexicon,
): { readonly steps: readonly Step[]; readonly shared: readonly string[] } | undefined {
  const steps: Step[] = [];
  const shared: string[] = [];
  for (const sentence of sentences) {
    const at = whenOf(sentence, lexicon);
    const text = at?.rest ?? sentence;
    const kind = kindOf(text, lexicon);
    if ((at && kind !== "order") || (kind === "unclear" && steps.length === 0)) return undefined;
    if (kind === "limit") shared.push(sentence);
    else if (kind === "order" && (at || steps.length === 0))
      steps.push({ when: at?.when ?? "first", text, words: [sentence] });
    else if (steps.length > 0) steps.at(-1)!.words.push(sentence);
    else shared.push(sentence);
  }
  return { steps, shared };
}

/** Each waits for the one before it; what happens meanwhile waits for what that one waits for. */
function inOrder(steps: readonly Step[]): readonly (Step & Pick<Part, "after">)[] {
  let before: readonly number[] = [];
  let group: number[] = [];
  return steps.map((step, at) => {
    if (step.when === "meanwhile") group.push(at);
    else {
      before = group;
      group = [at];
    }
    return { ...step, after: before };
  });
}
