/** What did a job's programs write? Kept for people, within limits, without secrets. */

export type Transcripts = {
  /** A new one replaces what an earlier try of the same job had written. Must not throw, nor fail the job. */
  open(name: string): Transcript;
  /** The file where a job's transcript is kept, if it is kept in one. */
  pathOf?(name: string): string;
  /** Keeps what was written as `name` before: the new one has a number behind it, if that is taken. */
  openNext(name: string): Transcript & { readonly name: string };
};

export type Transcript = {
  readonly write: (text: string) => void;
  /** Resolves once everything is in the file. */
  readonly close: () => Promise<void>;
};
