/** What is listed? Parts with commas, "and", "or", "&", "plus" and "as well as" between them. */
import { textOf } from "./draft.ts";
import type { Range, Span } from "./span.ts";

/** The ranges of the parts; one alone if there is no list. What follows a list's last part is left out. */
export function listed(span: Span, range: Range): readonly Range[] {
  const found: Range[] = [];
  let from = range.from;
  for (let at = range.from; at <= range.to; at += 1) {
    const length = at === range.to ? 1 : separatorAt(span, at, range);
    if (length === 0) continue;
    const part = { from, to: at };
    const isTail = found.length > 0 && at > from && isNoItem(span, part);
    if (isTail) break;
    if (textOf(span, part) !== "") found.push(part);
    from = at + length;
    at = from - 1;
  }
  return found;
}

/** How many tokens part one from the next here. */
function separatorAt({ tokens }: Span, at: number, range: Range): number {
  const { lower, isInside } = tokens[at]!;
  if (isInside) return 0;
  if (lower === "," || lower === ";" || lower === "&" || lower === "、" || lower === "，") return 1;
  const isPair = tokens.slice(Math.max(range.from, at - 4), at).some((one) => one.lower === "between");
  if (lower === "and" || lower === "or" || lower === "plus") return isPair ? 0 : 1;
  const next = tokens[at + 1]?.lower;
  if (lower === "as" && next === "well" && tokens[at + 2]?.lower === "as") return 3;
  return (lower === "along" || lower === "together") && next === "with" ? 2 : 0;
}

/** ", using Redis", ", so that …", ", which is slow": more about the whole. */
function isNoItem({ tokens, lexicon }: Span, { from, to }: Range): boolean {
  const { has } = lexicon;
  const first = tokens[from]!.lower;
  if (ASIDES.has(first)) return true;
  if (to - from === 1) return false;
  // ", each with CRUD endpoints" is said of all of them.
  if (first === "each" || first === "all") return has.prepositions.has(tokens[from + 1]!.lower);
  if (has.subordinators.has(first) && first !== "that") return true;
  if (has.prepositions.has(first)) return true;
  return first.endsWith("ing") && from + 1 < to && has.determiners.has(tokens[from + 1]!.lower);
}

const ASIDES: ReadonlySet<string> = new Set([
  "etc.",
  "etc",
  "e.g.",
  "i.e.",
  "namely",
  "please",
  "thanks",
  "respectively",
]);

/** As they are written, each without "both", and the last one without what is said of all of them. */
export function itemsOf(span: Span, parts: readonly Range[]): readonly string[] {
  const { tokens } = span;
  const isPlain = parts.length > 1 && parts.slice(0, -1).every(({ from, to }) => to - from === 1);
  return parts.flatMap((part, index) => {
    const from = SKIPPED.has(tokens[part.from]!.lower) ? part.from + 1 : part.from;
    const to = isPlain && index === parts.length - 1 ? beforeTail(span, { from, to: part.to }) : part.to;
    const text = textOf(span, { from, to });
    return text === "" ? [] : [text];
  });
}

const SKIPPED: ReadonlySet<string> = new Set(["both", "either", "e.g.", "also"]);

/** "subtract in src/calc.ts", after "add, ", is "subtract". */
function beforeTail({ tokens, lexicon }: Span, { from, to }: Range): number {
  for (let at = from + 1; at < to; at += 1) if (lexicon.has.prepositions.has(tokens[at]!.lower)) return at;
  return to;
}
