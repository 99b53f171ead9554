/** What was found to be a sentence's request? Where its verb, its object and its text are. */
import type { Order } from "./draft.ts";
import type { Range } from "./span.ts";

export type Main =
  | { readonly is: "constraint"; readonly from: number }
  | {
      readonly is: "request";
      /** Undefined: a thing is asked for, "I want dark mode". */
      readonly verb?: string;
      /** Where the clause's text begins. */
      readonly from: number;
      /** The first token behind the verb. */
      readonly rest: number;
      /** Where its object is, if not behind the verb: "the parser should be rewritten". */
      readonly object?: Range;
      /** "It should", where that stands before the verb, and before those that follow. */
      readonly subject?: Range;
      readonly order: Order;
      /** Another thing to do that "before" or "after" names. */
      readonly beside?: Beside;
    };

/** A request, not what must not be. */
export type Asked = Exclude<Main, { readonly is: "constraint" }>;

/** Of "before X" and "after X", X, where it is something to do. */
export type Beside = {
  readonly is: "before" | "after";
  readonly main: { readonly verb: string; readonly rest: number };
  readonly range: Range;
};
