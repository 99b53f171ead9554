/** What does a request say? Its clauses in order, with verbs, lists, files and what waits for what. */

export type Reading = {
  /** Well-formed, without control characters, blanks joined. */
  readonly text: string;
  /** Characters of a long request that were not read. */
  readonly leftOut: number;
  /** Clauses and items that were read, and are more than there is room for. */
  readonly partsLeftOut: number;
  readonly clauses: readonly Clause[];
  /** What must hold for all of it and is no work of its own: "don't touch the API", "without new dependencies". */
  readonly constraints: readonly string[];
  /** Code blocks, stack traces, logs and quoted mails, as they were: they inform the work and ask for none. */
  readonly pasted: readonly string[];
};

/** One thing that is asked for: "create a calculator with add, subtract, multiply and divide". */
export type Clause = {
  /** As it was written, without the words of order around it and without the full stop. */
  readonly text: string;
  /** The imperative, as it is in the dictionary: "create". Undefined: there is none ("dark mode"). */
  readonly verb?: string;
  /** What follows the verb, up to the items: "a calculator". */
  readonly object: string;
  /** What is listed: after "with", after a colon, as bullets, or as several objects of one verb. */
  readonly items: readonly string[];
  /** `with`: parts or features of the object. `each`: several objects of the same kind, or bullets below it. */
  readonly itemsAre?: "with" | "each";
  /** What it must be or do, each in a sentence of its own below it: "it can hold 10 items". */
  readonly musts?: readonly string[];
  /** How many there are said to be, where they are not named: "16 agent files" is 16. */
  readonly count?: number;
  /** "all files", "every module", "the entire repo", "summarize each". */
  readonly isUnbounded: boolean;
  /** Sentences around it that ask for nothing themselves: "Users cannot log in on Safari." */
  readonly context: readonly string[];
  /** Paths and file names in it, in its context and in what was pasted below it, in order, each once. */
  readonly files: readonly string[];
  /** What stood in code spans and quotes: names and words that are not to be read as English. */
  readonly names: readonly string[];
  /** Earlier clauses, by index, that must be done first, by words of order (then, after that, once) or as "it". */
  readonly after: readonly number[];
};
