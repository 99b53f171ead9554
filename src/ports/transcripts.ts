/** The port of transcripts: what a job's programs wrote, kept for people, within limits, without secrets. */

export type Transcripts = {
  /** Replaces what an earlier try of the same job wrote. Must not throw, nor fail the job. */
  open(name: string): Transcript;
  /** The file of a job's transcript, if it is kept in a file. */
  pathOf?(name: string): string;
  /** Keeps an earlier transcript named `name`: the new one gets a number if the name is taken. */
  openNext(name: string): Transcript & { readonly name: string };
};

export type Transcript = {
  readonly write: (text: string) => void;
  /** Resolves once everything is in the file. */
  readonly close: () => Promise<void>;
};
