/** Finds the orders and limits of a request that no task and no assumption of a plan has. A claim is checked, not believed. */
import { contentOf, shares } from "../content.ts";
import { visible } from "../plain.ts";
import type { Coverage, ExecutionPlan, PlanTask } from "../plan.ts";
import { kindOf, type Lexicon } from "../shapes/lexicon.ts";
import { sentencesOf } from "../shapes/text.ts";
import { type Rare, rareIn, squeezed } from "./rare-words.ts";
import { isOtherLanguage, wishesIn } from "./wishes.ts";

/**
 * The sentences as they were written, in order. A sentence with rare words (paths, quoted words, numbers, names) is
 * covered where these are. One without is covered by a task that has half of its words, or a third if the plan's
 * `coverage` names that task. What is forbidden must be forbidden there, too.
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

/** A plan in English has no common words with a request that is in another language. */
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

/** How other words say that something is not to be done: "stays as it is", "without a new one", "except". */
const MARKS =
  /\b(?:not|no|never|none|nothing|nor|only|without|avoid|leave|leaves|keep|keeps|stay|stays|remain|remains|unchanged|untouched|unmodified|except|exclude|excluding|must|forbidden|as (?:it|they) (?:is|are)|out of scope)\b|n['’]t\b/i;

/** A task, or the assumptions together. */
type Place = {
  /** Empty: the assumptions. */
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

/** A planner may shorten the sentence that it speaks of. */
const isSame = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  shares(a, b) * 2 >= Math.max(1, Math.min(a.size, b.size));

function isCovered(wish: Wish, places: readonly Place[], isClaimed: (place: Place) => boolean): boolean {
  const near = places.filter((place) => hasEnough(wish, place, isClaimed(place)));
  if (near.length === 0 || !hasAllRare(wish, near)) return false;
  return !wish.forbids || near.some((place) => forbidsIn(wish, place));
}

/** Of a wish with rare words one of them and another word, if it has others; else as many words as the claim needs. */
function hasEnough({ rare, content }: Wish, place: Place, isClaimed: boolean): boolean {
  const shared = shares(content, place.content);
  if (rare.length > 0)
    return rare.some(({ isIn }) => isIn(place.joined)) && (shared > 0 || content.size === 0);
  return shared >= Math.max(1, Math.ceil(content.size / (isClaimed ? 3 : 2)));
}

/** All paths, quoted words and numbers, over all places together; of names, half. */
function hasAllRare({ rare }: Wish, near: readonly Place[]): boolean {
  const missing = rare.filter(({ isIn }) => !near.some(({ joined }) => isIn(joined)));
  const names = rare.filter(({ is }) => is === "name").length;
  return missing.every(({ is }) => is === "name") && missing.length * 2 <= names;
}

/** One sentence of the place both speaks of it and forbids something. */
const forbidsIn = ({ rare, content }: Wish, { text }: Place): boolean =>
  text
    .split("\n")
    .flatMap(sentencesOf)
    .some(
      (sentence) =>
        MARKS.test(sentence) &&
        (rare.some(({ isIn }) => isIn(squeezed(sentence))) || shares(content, contentOf(sentence)) > 0),
    );
