/**
 * Makes a task of each sentence that starts with a time word ("First", "Then", "Once that is live, …"). An introduction
 * before the sequence and limits after it go into every task.
 */
import { subjectOf } from "../wording.ts";
import { FAULT } from "./clauses.ts";
import {
  carriedByAll,
  demands,
  isProhibition,
  isThing,
  kindOf,
  type Lexicon,
  orderIn,
  type When,
  whenOf,
} from "./lexicon.ts";
import { inOneFile, togetherIn } from "./merge.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const ordered: RequestShape = (request, { lexicon, limits, tree }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = request.split(/\n[ \t]*\n/).flatMap((paragraph, index) =>
    sentencesOf(paragraph).map((text) => ({
      ...{ text, paragraph: index, isLine: paragraph.includes(`\n${text}`) },
    })),
  );
  if (!sentences.some(({ text }, at) => at > 0 && whenOf(text, lexicon) !== undefined)) return undefined;
  const read = stepsIn(sentences, lexicon);
  if (read === undefined || !areNumbered(read, lexicon)) return undefined;
  if (
    inOneFile(
      read.shared.join("\n"),
      read.steps.map(({ text }) => text),
      tree,
      lexicon,
    )
  )
    return undefined;
  const steps = togetherIn(
    read.steps.map(({ text }) => text),
    tree,
  ).map((group): Step => {
    const [first, ...others] = group.map((at) => read.steps[at]!);
    return { ...first!, words: [...first!.words, ...others.flatMap(({ words }) => words)] };
  });
  if (steps.length < 2) return undefined;
  return {
    parts: inOrder(steps).map(({ text, words, after }) => ({
      subject: subjectOf(isPath(text) ? `Update ${text}` : text, limits.maxSubjectChars),
      words: words.join(" "),
      after,
    })),
    shared: read.shared,
    assumptions: [],
  };
};

/** True for a text that is only a path, as in "Step 5: docs/billing.md". */
const isPath = (text: string): boolean => /^[\w@-]+(?:[/.][\w@-]+)+\.?$/.test(text);

/** `isLine`: it begins a line of its paragraph. */
type Sentence = { readonly text: string; readonly paragraph: number; readonly isLine: boolean };
type Step = {
  readonly when: When;
  readonly text: string;
  readonly words: string[];
  readonly paragraph: number;
};

/**
 * True if the steps have no numbers, or are "Step 1:" to "Step 4:", each once. Other sentences about step numbers might
 * change the order.
 */
function areNumbered(
  { steps, shared }: { readonly steps: readonly Step[]; readonly shared: readonly string[] },
  lexicon: Lexicon,
): boolean {
  const numbers = steps.flatMap(({ words: [first = ""] }) => whenOf(first, lexicon)?.step ?? []);
  if (numbers.length === 0) return true;
  const [first] = steps;
  const others = [...shared, ...steps.flatMap(({ words, text }) => [text, ...words.slice(1)])];
  return (
    numbers.length === steps.length &&
    numbers.every((number, at) => number === numbers[0]! + at) &&
    (orderIn(first!.text, lexicon) !== undefined || arePhases(steps, shared, lexicon)) &&
    !others.some((words) => /\b(?:step|phase|stage|milestone)s?\s+\d/i.test(words))
  );
}

/** Undefined if a time word comes without an order, because that tells a story ("Then the page is blank"). */
function stepsIn(
  sentences: readonly Sentence[],
  lexicon: Lexicon,
): { readonly steps: readonly Step[]; readonly shared: readonly string[] } | undefined {
  const steps: Step[] = [];
  const start = introductionEnd(sentences, lexicon);
  const shared = sentences.slice(0, start).map(({ text }) => text);
  for (const { text: sentence, paragraph, isLine } of sentences.slice(start)) {
    const at = whenOf(sentence, lexicon);
    const text = at?.rest ?? sentence;
    const kind = kindOf(text, lexicon);
    const last = steps.at(-1);
    const isStep =
      kind === "order" || isPlanned(at, text) || (at?.step !== undefined && isThing(text, lexicon));
    if ((at && !isStep) || (kind === "unclear" && !last)) return undefined;
    const isApart = isLine || last?.paragraph !== paragraph;
    const limitsAll = kind === "limit" || (isProhibition(sentence, lexicon) && isApart);
    if (isStep && (at || !last))
      steps.push({ when: at?.when ?? "first", text, words: [sentence], paragraph });
    else if (last && !limitsAll) last.words.push(sentence);
    else shared.push(sentence);
  }
  return { steps, shared: [...shared, ...takeLimits(steps.at(-1), lexicon)] };
}

/** A limit after the last step applies to all steps: "Finally update the docs. Never lock a table." */
function takeLimits(last: Step | undefined, lexicon: Lexicon): readonly string[] {
  if (last === undefined) return [];
  const own = last.words.findLastIndex((sentence, at) => at === 0 || !isOfAll(sentence, lexicon));
  return last.words.splice(own + 1);
}

/** "It must be short" applies to the last step only. */
const isOfAll = (sentence: string, lexicon: Lexicon): boolean =>
  kindOf(sentence, lexicon) === "statement"
    ? demands(sentence) && !/^(?:it|this|that|they|these|those)\b/i.test(sentence)
    : carriedByAll(sentence, lexicon);

/** Phases may describe results if one of them is an order. Phases of a story describe what broke. */
const arePhases = (steps: readonly Step[], shared: readonly string[], lexicon: Lexicon): boolean =>
  steps.every(({ words: [first = ""] }) => whenOf(first, lexicon)?.isPhase === true) &&
  steps.some(({ text }) => orderIn(text, lexicon) !== undefined) &&
  !steps.some(({ text }) => IS_DONE.test(text)) &&
  !shared.some((sentence) => FAULT.test(sentence));

const IS_DONE = /\b(?:already|done|finished|merged|shipped|landed)\b/i;

/** A phase that describes a result: "Phase 2: the CLI reads both formats". */
const isPlanned = (at: ReturnType<typeof whenOf>, text: string): boolean =>
  at?.isPhase === true && !/\?\s*$/.test(text);

/**
 * The number of sentences before "First …" that introduce the sequence: statements, and at most one order for the goal.
 */
function introductionEnd(sentences: readonly Sentence[], lexicon: Lexicon): number {
  const first = sentences.findIndex(({ text }) => whenOf(text, lexicon) !== undefined);
  const kinds = sentences.slice(0, first).map(({ text }) => kindOf(text, lexicon));
  const isIntroduction =
    whenOf(sentences[first]!.text, lexicon)!.when === "first" &&
    !kinds.includes("unclear") &&
    kinds.filter((kind) => kind === "order").length <= 1;
  return isIntroduction ? first : 0;
}

/** Each step waits for the one before it; a "meanwhile" step waits for the same steps as its predecessor. */
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
