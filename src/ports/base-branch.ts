/** Where is the branch that a run started from, and who moves it? It belongs to the user and is only looked at. */

export type BaseBranch = {
  /**
   * Each commit that it is found at and was not before, beginning with `known`, until `signal`. Of moves that come
   * faster than they are asked for, only the last is told; a branch that is gone is no move. It does not throw.
   */
  moves(known: string, signal: AbortSignal): AsyncIterable<string>;
};
