/** What does git answer to a short question? */
import { git } from "./git.ts";

/** What it says, without the last line end; undefined if it refuses. */
export async function askGit(folder: string, args: readonly string[]): Promise<string | undefined> {
  const answer = await git({ folder, args });
  return answer.ok ? answer.out.replace(/\n$/, "") : undefined;
}
