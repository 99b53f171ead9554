/** Names the refs of a fleet's jobs on the remote, and checks a remote's address. */
import { type Failed, failedWith } from "../../core/result.ts";
import { isRefSafe } from "../../text/slug.ts";

/** The prefix of all refs that a run keeps on the remote only while it goes on. */
export const fleetRefs = (run: string): string => `refs/skein/fleet/${run}/`;

/** The ref of a commit that a job needs and that no other ref of the remote has. */
export const inputRef = (run: string, job: string, index: number): string =>
  `${fleetRefs(run)}in/${plainJob(job)}/${index}`;

/** The ref of what one try of a job made. A machine that was thought dead pushes under the name of its own try. */
export const outputRef = (run: string, job: string, tries: number): string =>
  `${fleetRefs(run)}${plainJob(job)}.${tries}`;

/** "work:t.2#1" becomes "work-t.2-1". */
const plainJob = (job: string): string => job.replaceAll(/[^A-Za-z0-9.]/g, "-");

export const isFullRef = (ref: string): boolean => ref.startsWith("refs/") && isRefSafe(ref);

/**
 * Accepts a path, `https`, `http`, `ssh`, `git` or `file`; refuses options, programs and passwords, because an
 * address is shown to people and kept in the database.
 */
export function wrongRemote(url: string): Failed | undefined {
  const said = JSON.stringify(url.replace(/\/\/[^/]*@/, "//…@").slice(0, MAX_SHOWN_CHARS));
  if (url === "" || url.startsWith("-") || /\p{Cc}/u.test(url) || url.length > MAX_URL_CHARS)
    return refused(`this is no address of a git remote: ${said}`);
  if (!/^(?:\/|(?:https?|ssh|git|file):\/\/|[\w.-]+@[\w.-]+:(?!:))/.test(url))
    return refused(`the remote ${said} is not one that machines can share`);
  // With http, a user name alone may be a token; with ssh it is the account.
  if (!/^(?:https?:\/\/[^/]*@|[a-z]+:\/\/[^/@]*:[^/]*@)/.test(url)) return undefined;
  return failedWith(
    "policy",
    `the address of the remote has a password in it: ${said}`,
    "take it out, and give each machine its own: a key for ssh, or a credential helper of git",
  );
}

const refused = (why: string): Failed =>
  failedWith("policy", why, "name one like https://host/path.git, ssh://host/path.git or user@host:path.git");

const MAX_URL_CHARS = 2_000;
const MAX_SHOWN_CHARS = 200;
