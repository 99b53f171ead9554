/** What does a branch show? */
import type { Evidence } from "../../core/evidence.ts";
import type { Failed } from "../../ports/repository.ts";
import { broken, type Store } from "./store.ts";

export async function evidence(
  _store: Store,
  _base: string,
  _commit: string,
  _signal: AbortSignal,
): Promise<Evidence | Failed> {
  return broken("evidence is not read yet");
}
