/** Type of a refusal: a failure with the kind of its cause, so that every surface reacts alike. */
import { type Failure, failure } from "../core/failure.ts";
import type { Failed } from "../core/result.ts";

export type Refused = Failed & {
  readonly because: /** The request makes no sense here. */
    | "usage"
    | "configuration"
    /** No run has that name. */
    | "unknown-run"
    /** The repository, or what Skein keeps of it, does not allow it. */
    | "repository"
    | "agent"
    /** A key is missing or wrong. */
    | "key"
    /** The run's state does not allow it; another process may have it. */
    | "run"
    /** The caller's signal aborted first. */
    | "stopped";
  readonly lines?: readonly string[];
};

export const refused = (
  because: Refused["because"],
  why: Failure,
  lines: readonly string[] = [],
): Refused => ({ because, failure: why, ...(lines.length > 0 && { lines }) });

export const misused = (message: string, next?: string): Refused =>
  refused("usage", failure("policy", message, next));

export const misconfigured = (message: string, next?: string, lines: readonly string[] = []): Refused =>
  refused("configuration", failure("policy", message, next), lines);
