/** What is read at a time? A text with its tokens, and the part of them that is meant. */
import type { Lexicon } from "./lexicon.ts";
import type { Token } from "./tokens.ts";

/** A text with its tokens; a sentence or clause is a range of them. */
export type Span = { readonly text: string; readonly tokens: readonly Token[]; readonly lexicon: Lexicon };

export type Range = { readonly from: number; readonly to: number };
