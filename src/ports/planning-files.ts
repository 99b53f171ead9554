/** What are plans made from? The files of a repository as far as they are looked at, and lists of words and limits. */

export type RepositorySample = {
  /** The plain files of HEAD, without links and submodules; with their size on the disk where they are there. */
  readonly entries: readonly { readonly path: string; readonly bytes?: number }[];
  /** There are more files than were listed. */
  readonly isCut: boolean;
  /** What runs the tests, if that was found. */
  readonly testCommand?: string;
};

/** A file's text, and its name for people. `isShipped`: Skein's own. */
export type PlanningFile = { readonly file: string; readonly text: string; readonly isShipped?: true };

export type PlanningFiles = { readonly words: PlanningFile; readonly limits: PlanningFile };
