/** Finds the orders and limits of a request that a plan's tasks and assumptions lack, also if the plan claims them. */
import { contentOf, shares } from "../content.ts";
import { visible } from "../plain.ts";
import type { Coverage, ExecutionPlan, PlanTask } from "../plan.ts";
import { kindOf, type Lexicon } from "../shapes/lexicon.ts";
import { sentencesOf } from "../shapes/text.ts";
import { type Rare, rareIn, squeezed } from "./rare-words.ts";
import { isOtherLanguage, wishesIn } from "./wishes.ts";

/**
 * Returns the missing sentences as they were written, in order. A sentence with rare words (paths, quoted words,
 * numbers, names) is covered by tasks that contain them. A sentence without rare words is covered by a task that has
 * half of its words, or a third if the plan's `coverage` names that task. A prohibition must also be a prohibition in
 * that task.
 */
export function leftOut(request: string, plan: ExecutionPlan, lexicon: Lexicon): readonly string[] {
  const places = placesOf(plan);
  const isOther = isOtherLanguage(request);
  const claims = (plan.coverage ?? []).map((claim) => ({ claim, content: contentOf(claim.says) }));
  return wishesIn(visible(request), lexicon).filter((sentence) => {
    const wish = wishOf(sentence, lexicon, isOther);
    if (wish.content.size === 0 && wish.rare.length === 0) return false;
    if (places.some(({ joined }) => joined.includes(squeezed(sentence)))) return false;
    const claimed = claims.filter(({ content }) => isSame(content, wish.content)).map(({ claim }) => claim);
    return !isCovered(wish, places, (place) => claimed.some((claim) => isIn(place, claim)));
  });
}

type Wish = {
  readonly rare: readonly Rare[];
  readonly content: ReadonlySet<string>;
  readonly forbids: boolean;
};

/** An English plan has no common words with a request in another language, so only rare words are compared there. */
function wishOf(sentence: string, lexicon: Lexicon, isOther: boolean): Wish {
  const kind = kindOf(sentence, lexicon);
  const rare = rareIn(sentence, kind !== "statement" && !isOther);
  const isKnownByRare = isOther && rare.some(({ is }) => is === "hard");
  return {
    rare,
    content: isKnownByRare ? new Set() : contentOf(sentence),
    forbids: FORBIDS.test(sentence),
  };
}

/** "Do not touch", "never log", "no new dependencies", "leave it alone". */
const FORBIDS =
  /(?:^|[,;:(.]|\b(?:and|but|or|please))\s*(?:please\s+)?(?:do not|don['’]t|never|no|not|avoid|leave|without)\s+\w|\b(?:must|may|should|shall) (?:not|never)\b|\bunchanged\b/i;

/** Words by which a plan may repeat a prohibition: "stays as it is", "without a new one", "except". */
const MARKS =
  /\b(?:not|no|never|none|nothing|nor|only|without|avoid|leave|leaves|keep|keeps|stay|stays|remain|remains|unchanged|untouched|unmodified|except|exclude|excluding|must|forbidden|as (?:it|they) (?:is|are)|out of scope)\b|n['’]t\b/i;

/** A task, or all assumptions together. */
type Place = {
  /** Empty for the assumptions. */
  readonly id: string;
  readonly text: string;
  readonly joined: string;
  readonly content: ReadonlySet<string>;
};

const placesOf = ({ tasks, assumptions }: ExecutionPlan): readonly Place[] => [
  ...tasks.map((task) => placeOf(task.id, wordsOf(task))),
  placeOf("", assumptions.join("\n")),
];

function placeOf(id: string, said: string): Place {
  const text = said.slice(0, MAX_PLACE_CHARS);
  return { id, text, joined: squeezed(text), content: contentOf(text) };
}

const MAX_PLACE_CHARS = 60_000;

const wordsOf = (task: PlanTask): string =>
  [
    ...[task.subject, task.description, ...task.requirements, task.success_criterion ?? ""],
    ...[...task.scope, ...task.reads],
  ].join("\n");

const isIn = ({ id }: Place, { in: where }: Coverage): boolean =>
  where === "assumption" ? id === "" : where.includes(id);

/** Compares by half of the words, because a planner may shorten the sentence that it names. */
const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  shares(a, b) * 2 >= Math.max(1, Math.min(a.size, b.size));

function isCovered(wish: Wish, places: readonly Place[], isClaimed: (place: Place) => boolean): boolean {
  const near = places.filter((place) => hasEnough(wish, place, isClaimed(place)));
  if (near.length === 0 || !hasAllRare(wish, near)) return false;
  return !wish.forbids || near.some((place) => forbidsIn(wish, place));
}

/**
 * With rare words: the place has one of them, and another word if the sentence has others. Without: the place has half
 * of the words, or a third if the plan claims it.
 */
function hasEnough({ rare, content }: Wish, place: Place, isClaimed: boolean): boolean {
  const shared = shares(content, place.content);
  if (rare.length > 0)
    return rare.some(({ isIn }) => isIn(place.joined)) && (shared > 0 || content.size === 0);
  return shared >= Math.max(1, Math.ceil(content.size / (isClaimed ? 3 : 2)));
}

/** The places together must have all paths, quoted words and numbers, and half of the names. */
function hasAllRare({ rare }: Wish, near: readonly Place[]): boolean {
  const missing = rare.filter(({ isIn }) => !near.some(({ joined }) => isIn(joined)));
  const names = rare.filter(({ is }) => is === "name").length;
  return missing.every(({ is }) => is === "name") && missing.length * 2 <= names;
}

/** True if one sentence of the place both mentions the subject and forbids something. */
const forbidsIn = ({ rare, content }: Wish, { text }: Place): boolean =>
  text
    .split("\n")
    .flatMap(sentencesOf)
    .some(
      (sentence) =>
        MARKS.test(sentence) &&
        (rare.some(({ isIn }) => isIn(squeezed(sentence))) || shares(content, contentOf(sentence)) > 0),
    );
