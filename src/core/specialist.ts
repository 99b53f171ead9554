/** Type of a role that an agent plays: a prompt, and what it narrows (tools, a model). */

export type Specialist = {
  readonly name: string;
  /** When to choose this specialist. */
  readonly description: string;
  /** Added to the worker's instructions; empty for a role that is only a name. */
  readonly prompt: string;
  /** Names of the tools that it may use; undefined: all of them. */
  readonly tools?: readonly string[];
  /** A model of its own, written as in the configuration. */
  readonly model?: string;
  /** It changes no file, so it fits only tasks that deliver a report. */
  readonly isReadOnly: boolean;
  /** Its role is to decide or to judge, so it gets no building tasks. Undefined: its name tells. */
  readonly decides?: boolean;
  /** Words in a task that speak for this specialist, besides its name. */
  readonly keywords: readonly string[];
  /** Where it is defined: a file's path, or "built in". */
  readonly source: string;
};
