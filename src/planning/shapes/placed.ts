/** Makes a task of each thing in a row that names a place of its own: "upgrade x in api/, y in web/ and z in docs/". */
import { overlaps } from "../../core/scope.ts";
import { contentOf } from "../content.ts";
import { placesIn, type Tree } from "../paths.ts";
import { subjectOf } from "../wording.ts";
import { carriedByAll, isThing, type Lexicon, orderIn } from "./lexicon.ts";
import { withoutLimits } from "./limits.ts";
import type { Part, RequestShape } from "./shape.ts";
import { linesOf, sentencesOf } from "./text.ts";

export const placed: RequestShape = (request, { lexicon, limits, tree }) => {
  if (linesOf(request).some(({ is }) => is !== "text" && is !== "blank")) return undefined;
  const sentences = sentencesOf(request);
  const [row, more] = sentences.flatMap((sentence) => rowIn(sentence, lexicon, tree) ?? []);
  if (row === undefined || more !== undefined) return undefined;
  const shared = sentences.filter((one) => one !== row.sentence);
  if (!shared.every((one) => carriedByAll(one, lexicon))) return undefined;
  return {
    parts: row.pieces.map(
      (text): Part => ({
        subject: subjectOf(`${row.lead}${text}`, limits.maxSubjectChars),
        words: row.sentence,
        text,
        says: `Do only this part: ${text}. Other tasks do the rest of the sentence.`,
        after: [],
      }),
    ),
    shared,
    limits: withoutLimits(row.sentence).limits,
    assumptions: [],
  };
};

type Row = {
  readonly sentence: string;
  /** "Upgrades: ", or empty. */
  readonly lead: string;
  readonly pieces: readonly string[];
};

/** Two small things are seldom worth a task each. */
const MIN_PIECES = 3;
const MAX_CHARS = 1_000;
/** Verbs of work that involves two places. */
const CROSSES = /^(?:rename|move|copy|merge|combine|unify|compare|sync|swap|extract)$/i;
/** "See docs/a.md" is a reference; callers belong to the task of what they call. */
const NO_WORK =
  /^(?:see|as|like|follow\w*|per|cf|also|but|or|not|because|since|which|where|when|if|though|same|similar|probably|maybe|however)\b|\b(?:callers?|usages?|call sites?|references|imports)\b/i;
const LEAD = /^([^:,;.]{2,60}):\s+/;

function rowIn(sentence: string, lexicon: Lexicon, tree: Tree): Row | undefined {
  if (sentence.length > MAX_CHARS) return undefined;
  const said = withoutLimits(sentence).text;
  const lead = LEAD.exec(said);
  const rest = said.slice(lead?.[0].length ?? 0);
  const verb = orderIn(rest, lexicon)?.verb;
  if (verb === undefined ? lead === null : CROSSES.test(verb)) return undefined;
  const pieces = rest
    .split(/[,;]\s+(?:and\s+)?/)
    .flatMap((piece) => (placesIn(piece, tree).length > 1 ? piece.split(/\s+and\s+/) : [piece]))
    .map((piece) => piece.trim());
  if (pieces.length < MIN_PIECES || !areApart(pieces, tree)) return undefined;
  if (lead === null && !/(?:;|\band\s)/.test(rest.slice(rest.lastIndexOf(",")))) return undefined;
  const orders = pieces.filter((piece) => orderIn(piece, lexicon));
  const things = pieces.filter((piece) => !orders.includes(piece));
  if (!things.every((piece) => isThing(piece, lexicon) && !NO_WORK.test(piece))) return undefined;
  const heads = verb === undefined || orders.length > 1;
  if (heads && verb !== undefined && things.length > 0) return undefined;
  return {
    sentence,
    lead: lead?.[0] ?? "",
    pieces: pieces.map((piece, at) => (heads || at === 0 ? piece : `${verb} ${piece}`)),
  };
}

/** True if each piece has one place, which does not overlap with any other, and words that say what is done there. */
function areApart(pieces: readonly string[], tree: Tree): boolean {
  const places = pieces.map((piece) => placesIn(piece, tree));
  return (
    places.every(({ length }) => length === 1) &&
    pieces.every((piece, at) => contentOf(piece.replaceAll(places[at]![0]!, "")).size > 0) &&
    places.every((place, at) => places.every((other, to) => at === to || !overlaps(place, other)))
  );
}
