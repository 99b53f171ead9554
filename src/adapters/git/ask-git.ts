/** Asks git a short question, and returns its output without the last line end. */
import { git } from "./git.ts";

/** Fetches nothing, not even objects that a partial clone lacks. */
export const OFFLINE = { GIT_ALLOW_PROTOCOL: "none" };

/** Undefined if git refuses. */
export async function askGit(
  folder: string,
  args: readonly string[],
  isOffline = false,
): Promise<string | undefined> {
  const answer = await git({ folder, args, ...(isOffline && { environment: OFFLINE }) });
  return answer.ok ? answer.out.replace(/\n$/, "") : undefined;
}
