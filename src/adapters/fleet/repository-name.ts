/** Names a repository the same in all clones: the address of their shared remote without protocol, user and port. */
import { type Failed, failedWith } from "../../core/result.ts";
import { git } from "../git/git.ts";

/** `remote`: the name of a remote, or its address. */
export async function repositoryName(
  folder: string,
  remote: string,
  signal: AbortSignal,
): Promise<{ readonly name: string } | Failed> {
  if (/[:/]/.test(remote)) return { name: nameOf(remote) };
  const answer = await git({ folder, args: ["remote", "get-url", "--", remote] }, signal);
  if (answer.ok) return { name: nameOf(answer.out.trim()) };
  return failedWith(
    "repository",
    `there is no git remote ${remote}, which the machines of a fleet exchange commits through`,
    "git remote add it, or set fleet.remote to another one",
  );
}

/**
 * ```ts
 * nameOf("https://me@host/a/b.git"); // "host/a/b"
 * nameOf("git@host:a/b"); // "host/a/b"
 * ```
 */
function nameOf(address: string): string {
  const [, host = "", path = ""] = /^[a-z+]+:\/\/(?:[^@/]*@)?([^/:]*)(?::\d+)?(\/.*)?$/i.exec(address) ??
    /^(?:[^@/:]*@)?([^/:]{2,}):(.*)$/.exec(address) ?? ["", "", address]; // The scp form.
  const place = path.replace(/\/+$/, "").replace(/\.git$/, "");
  return host === "" ? place : `${host.toLowerCase()}/${place.replace(/^\/+/, "")}`;
}
