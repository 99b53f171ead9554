/** Returns expected failures as values; the caller decides what follows. */
import { type Failure, failure } from "./failure.ts";

export type Failed = { readonly failure: Failure };

export const hasFailed = (result: object): result is Failed => "failure" in result;

export const failedWith = (...why: Parameters<typeof failure>): Failed => ({ failure: failure(...why) });
