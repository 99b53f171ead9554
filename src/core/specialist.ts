/** Which roles can an agent play? A prompt, and what it narrows: tools, a model. */

export type Specialist = {
  readonly name: string;
  /** When to choose it. */
  readonly description: string;
  /** What is added to the worker's instructions; empty for a role that is only a name. */
  readonly prompt: string;
  /** Names of tools that it may use; undefined: all of them. */
  readonly tools?: readonly string[];
  /** A model of its own, as in the configuration. */
  readonly model?: string;
  /** It changes nothing: fit only for tasks that deliver a report. */
  readonly isReadOnly: boolean;
  /** Its role is to decide or to judge: it gets no building. Undefined: its name says so, or does not. */
  readonly decides?: boolean;
  /** Words that speak for it, besides its name. */
  readonly keywords: readonly string[];
  /** Where it comes from: a file's path, or "built in". */
  readonly source: string;
};
