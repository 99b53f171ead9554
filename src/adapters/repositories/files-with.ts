/** Lists the files of a commit that contain a text, or match a pattern. */
import type { Failed } from "../../core/result.ts";
import { fieldsIn } from "../git/git.ts";
import { inStore, type Store } from "./store.ts";

type Sought = { readonly pattern: string } | { readonly texts: readonly string[] };

export async function filesWith(
  store: Store,
  commit: string,
  sought: Sought,
  signal: AbortSignal,
): Promise<readonly string[] | Failed> {
  const [kind, texts] = "pattern" in sought ? ["-E", [sought.pattern]] : ["-F", sought.texts];
  const asked = texts.flatMap((text) => ["-e", text]);
  const args = ["grep", "--no-color", "-l", "-z", "-I", kind, ...asked, commit];
  const answer = await inStore(store, { args }, signal);
  // No match is an answer, not a failure.
  if (!answer.ok) return answer.code === 1 && answer.out === "" ? [] : { failure: answer.failure };
  const paths = fieldsIn(answer.out).map((field) => field.slice(commit.length + 1));
  return paths.filter((path) => !path.includes("\n"));
}
