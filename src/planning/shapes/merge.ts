/** Groups parts that cannot land alone: code and its tests, a rename and its callers, work on one file. */
import { contentOf, shares } from "../content.ts";
import { readsIn, type Tree } from "../paths.ts";
import { type Lexicon, orderIn } from "./lexicon.ts";
import { sentencesOf } from "./text.ts";

/** Groups of indexes, in order; each begins with the part that the others of the group belong to. */
export function togetherIn(texts: readonly string[], tree: Tree): readonly (readonly number[])[] {
  const groups: number[][] = [];
  const groupOf: number[][] = [];
  const files = texts.map((text) => readsIn(text, tree, 2));
  for (const at of texts.keys()) {
    const before = testedBy(at, texts) ?? calledBy(at, texts) ?? onSameFile(at, files);
    const group = before === undefined ? [] : groupOf[before]!;
    if (before === undefined) groups.push(group);
    group.push(at);
    groupOf.push(group);
  }
  return groups;
}

/** True if the lead says that all work is in one file ("In a.ts:", "Rework a.ts."), and no part names another file. */
export function inOneFile(lead: string, parts: readonly string[], tree: Tree, lexicon: Lexicon): boolean {
  const named = parts.flatMap((text) => readsIn(text, tree, 2));
  return sentencesOf(lead).some((sentence) => {
    const object = orderIn(sentence, lexicon)?.object ?? sentence;
    const [, start = ""] = /^(?:in |within )?(?:the (?:file )?)?[`"']?([\w.@/-]+)/i.exec(object) ?? [];
    const [file] = readsIn(start.replace(/[.:]+$/, ""), tree, 1);
    return file !== undefined && named.length === 0;
  });
}

const TESTS =
  /^(?:(?:and|also|then|please)\s+)*(?:add|write|create|extend|include|provide)\s+(?:[\w-]+\s+){0,3}tests?\b|^(?:cover|test)\s+(?:it|this|that)\b/i;
export const isTests = (text: string): boolean => TESTS.test(text);

/** Words for tests of several parts, which are a task of their own. */
const OF_SEVERAL =
  /\b(?:both|all|each|every|everything|above|them|these|those|end-to-end|e2e|integration)\b/i;
const OF_THE_LAST = /\b(?:it|this|that)\b/i;
/** Words of any order for tests, which do not say what is tested. */
const ABOUT_TESTS = contentOf(
  "tests test unit regression write cover create extend include provide coverage",
);

/** The one earlier part that these tests belong to. */
function testedBy(at: number, texts: readonly string[]): number | undefined {
  const text = texts[at]!;
  if (!isTests(text) || OF_SEVERAL.test(text)) return undefined;
  const others = texts.flatMap((other, index) => (index < at && !isTests(other) ? [index] : []));
  if (OF_THE_LAST.test(text)) return others.at(-1);
  const own = contentOf(text).difference(ABOUT_TESTS);
  const tested =
    own.size === 0 ? others : others.filter((index) => shares(own, contentOf(texts[index]!)) > 0);
  return tested.length === 1 ? tested[0] : undefined;
}

const CALLERS =
  /^(?:update|fix|adapt|adjust|change|migrate|switch)\s+(?:all\s+|the\s+|every\s+|its\s+|their\s+)*(?:callers?|usages?|call sites?|references|imports)\b/i;

/** The part before this one if this one updates the callers of a rename: without it nothing builds. */
const calledBy = (at: number, texts: readonly string[]): number | undefined =>
  at > 0 && CALLERS.test(texts[at]!) ? at - 1 : undefined;

/** The nearest earlier part that names the same single file: separate tasks would have to take turns. */
function onSameFile(at: number, files: readonly (readonly string[])[]): number | undefined {
  const [only, more] = files[at]!;
  if (only === undefined || more !== undefined) return undefined;
  const before = files.slice(0, at).findLastIndex((named) => named.length === 1 && named[0] === only);
  return before === -1 ? undefined : before;
}
