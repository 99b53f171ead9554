/** What does git answer to a short question? */
import { git } from "./git.ts";

/** Nothing is fetched, not even what a partial clone lacks. */
export const OFFLINE = { GIT_ALLOW_PROTOCOL: "none" };

/** What it says, without the last line end; undefined if it refuses. */
export async function askGit(
  folder: string,
  args: readonly string[],
  isOffline = false,
): Promise<string | undefined> {
  const answer = await git({ folder, args, ...(isOffline && { environment: OFFLINE }) });
  return answer.ok ? answer.out.replace(/\n$/, "") : undefined;
}
