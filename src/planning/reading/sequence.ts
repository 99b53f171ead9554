/** What waits for what in "after X, do Y", "before X, do Y" and "once X is done, do Y"? */

import type { Order } from "./draft.ts";
import type { Asked, Beside, Main } from "./found.ts";
import { imperativeAt } from "./imperative.ts";
import { type Lead, leadAt } from "./lead.ts";
import { type Lexicon, phraseAt, verbOf } from "./lexicon.ts";
import type { Range, Span } from "./span.ts";

/** How far the comma may be. */
const MAX_CONDITION = 60;

export function beginsSequence(span: Span, lead: Lead, to: number): Main | undefined {
  const { tokens, lexicon } = span;
  const after = phraseAt(lexicon.phrases.after, tokens, lead.at, to);
  const before = phraseAt(lexicon.phrases.before, tokens, lead.at, to);
  const from = lead.at + Math.max(after, before);
  if (from === lead.at) return undefined;
  const comma = commaBefore(span, from, to);
  if (comma === undefined) return undefined;
  const { at, found } = comma;
  const own = { is: "request", verb: found.verb, rest: found.rest } as const;
  const order: Order = { is: lead.order };
  const action = actionAt(span, from, comma.comma);
  if (action) {
    const beside: Beside = {
      is: before > 0 ? "before" : "after",
      main: action,
      range: { from: action.from, to: comma.comma },
    };
    return { ...own, from: at, order, beside };
  }
  if (before > 0) return { ...own, from: lead.at, order };
  const about = aboutOf(span, { from, to: comma.comma });
  return { ...own, from: lead.at, order: lead.order === "none" ? about : order };
}

/** "Run the tests before deploying": where that begins, and what it is. Elsewhere "before saving" says what happens when. */
export function besideBehind(
  span: Span,
  { verb, rest }: Pick<Asked, "verb" | "rest">,
  { to }: Range,
): { readonly at: number; readonly beside: Beside } | undefined {
  const { tokens, lexicon } = span;
  if (verb === undefined || DESCRIBING.has(verb)) return undefined;
  for (let at = rest; at < to; at += 1) {
    const { lower, isInside } = tokens[at]!;
    if (isInside) continue;
    const before = phraseAt(lexicon.phrases.before, tokens, at, to);
    const from = at + before + (lower === "after" ? 1 : 0);
    const action = from === at ? undefined : actionAt(span, from, to);
    if (action && DELIVERING.has(action.verb))
      return {
        at,
        beside: { is: before > 0 ? "before" : "after", main: action, range: { from: action.from, to } },
      };
    if (lexicon.has.subordinators.has(lower)) return undefined;
  }
  return undefined;
}

/** What somebody does with the work, and no program with its data. */
const DELIVERING: ReadonlySet<string> = new Set(
  "deploy release publish ship merge commit push tag launch announce".split(" "),
);
/** What these make may itself come before a delivery: "show a warning before deploying". */
const DESCRIBING: ReadonlySet<string> = new Set(
  "add show display ask prompt warn require wait allow support implement create build make enable prevent block let ensure".split(
    " ",
  ),
);

type Comma = { readonly comma: number; readonly at: number; readonly found: { verb: string; rest: number } };

function commaBefore(span: Span, from: number, to: number): Comma | undefined {
  const { tokens } = span;
  for (let comma = from; comma < Math.min(to, from + MAX_CONDITION); comma += 1) {
    if (tokens[comma]!.lower !== "," || tokens[comma]!.isInside) continue;
    const lead = leadAt(span, comma, to);
    const found = lead.negativeFrom === undefined ? imperativeAt(span, lead.at, to) : undefined;
    if (found && found.is !== "maybe") return { comma, at: lead.at, found };
  }
  return undefined;
}

/** "fixing the bug", "you have fixed the bug", "we deploy" */
function actionAt({ tokens, lexicon }: Span, from: number, to: number) {
  const { verbs } = lexicon;
  let at = from;
  while (at < to && at < from + 3 && WHO.has(tokens[at]!.lower)) at += 1;
  const lower = tokens[at]?.lower ?? "";
  if (at >= to) return undefined;
  const verb =
    at > from && verbs.has(lower)
      ? lower
      : lower.endsWith("ing") || at > from
        ? verbOf(lower, lexicon)
        : undefined;
  return verb === undefined ? undefined : { verb, from: at, rest: at + 1 };
}

const WHO: ReadonlySet<string> = new Set([
  "you",
  "we",
  "i",
  "you've",
  "we've",
  "i've",
  "you're",
  "have",
  "had",
  "are",
]);

/** What a condition speaks of, and whether it is that something is done. */
export function aboutOf({ tokens, lexicon }: Span, { from, to }: Range): About {
  const inner = tokens.slice(from, to).filter(({ kind }) => kind !== "mark" && kind !== "break");
  const isDone = lexicon.has.done.has(inner.at(-1)?.lower ?? "");
  return { is: "about", words: contentWords(inner, lexicon), isDone };
}

type About = Extract<Order, { readonly is: "about" }>;

type Worded = { readonly lower: string; readonly file?: string };

/** Words that mean something, each as its verb or without its plural. */
export function contentWords(tokens: readonly Worded[], lexicon: Lexicon): readonly string[] {
  const { has } = lexicon;
  const found = new Set<string>();
  for (const { lower, file } of tokens) {
    if (file !== undefined) found.add(file);
    if (lower.length < 3 || has.determiners.has(lower) || has.pronouns.has(lower) || has.finite.has(lower))
      continue;
    if (has.prepositions.has(lower) || has.subordinators.has(lower) || has.done.has(lower)) continue;
    found.add(verbOf(lower, lexicon) ?? (/[^s]s$/.test(lower) ? lower.slice(0, -1) : lower));
  }
  return [...found];
}
