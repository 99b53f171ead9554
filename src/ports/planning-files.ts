/** Types of what plans are made from: a sample of a repository's files, and the lists of words and limits. */

export type RepositorySample = {
  /** The plain files of HEAD, without links and submodules; with their size on the disk if they are there. */
  readonly entries: readonly { readonly path: string; readonly bytes?: number }[];
  /** There are more files than were listed. */
  readonly isCut: boolean;
  /** The command that runs the tests, if one was found. */
  readonly testCommand?: string;
};

/** A file's text, and its name for people. `isShipped`: it comes with Skein. */
export type PlanningFile = { readonly file: string; readonly text: string; readonly isShipped?: true };

export type PlanningFiles = { readonly words: PlanningFile; readonly limits: PlanningFile };
