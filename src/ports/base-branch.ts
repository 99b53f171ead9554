/** The port that follows the branch that a run started from. The branch belongs to the user and is only read. */

export type BaseBranch = {
  /**
   * Each commit that the branch is newly found at, beginning from `known`, until `signal`. Of moves that are faster
   * than the caller asks, only the last is returned; a deleted branch is not a move. Does not throw.
   */
  moves(known: string, signal: AbortSignal): AsyncIterable<string>;
};
