/** Finds settings of a repository's own `.git/config` that Skein's git would obey and that start or reach something. */
import { realpath } from "node:fs/promises";
import path from "node:path";
import type { Failed } from "../../core/result.ts";
import type { TrustAsk } from "../../ports/trust.ts";
import { wordsToAgree } from "../../text/asked-words.ts";
import { fieldsIn, git } from "./git.ts";

/**
 * Called before anything else is asked of the repository; reading settings starts no program. Files that
 * `.git/config` includes count as the repository's own; the settings of the user and of the machine need no
 * agreement.
 */
export async function ownGitAsks(folder: string, signal: AbortSignal): Promise<readonly TrustAsk[] | Failed> {
  const args = ["config", "--show-scope", "--includes", "-z", "--list"];
  const listed = await git({ folder, args, maxBytes: MAX_BYTES }, signal);
  if (!listed.ok) return { failure: listed.failure };
  const fields = fieldsIn(listed.out);
  const own = fields.flatMap((scope, at) => {
    if (at % 2 !== 0 || !OWN.has(scope)) return [];
    const entry = fields[at + 1] ?? "";
    const end = entry.indexOf("\n");
    return [end === -1 ? ([entry, "true"] as const) : ([entry.slice(0, end), entry.slice(end + 1)] as const)];
  });
  const asks = await Promise.all(own.map(([key, value]) => askOf(key, value, folder)));
  return asks.filter((ask) => ask !== undefined);
}

const OWN: ReadonlySet<string> = new Set(["local", "worktree"]);
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Settings that Skein's git calls would obey. Those that these calls switch off are not among them: hooks, the
 * file system monitor, pagers, editors, signatures, merge drivers, text converters and external diffs.
 */
const OBEYED: readonly (readonly [key: RegExp, words: (value: string) => string])[] = [
  [/^filter\..+\.(?:clean|smudge|process)$/s, (value) => `runs ${value} on the content of files, as you`],
  [/^core\.(?:sshcommand|askpass|gitproxy|alternaterefscommand)$/, (value) => `runs ${value}, as you`],
  [/^credential\.(?:.+\.)?helper$/s, (value) => `asks the program ${value} for passwords`],
  [/^hook\..+\.command$/s, (value) => `runs ${value}, as you`],
  [/^remote\..+\.(?:vcs|uploadpack|receivepack)$/s, (value) => `runs ${value} to reach a remote`],
  [/^url\..+\.(?:pushinsteadof|insteadof)$/s, (value) => `git goes to another address in place of ${value}`],
  [
    /^http\.(?:.+\.)?(?:proxy|sslverify|sslcainfo|sslcapath|sslcert|sslkey|cookiefile|savecookies|curloptresolve|delegation)$/s,
    (value) => `git's connections use ${value}`,
  ],
  [
    /^(?:remote\..+\.(?:proxy|lfsurl)|lfs\.(?:push)?url|fetch\.bundleuri)$/s,
    (value) => `git's connections go to ${value}`,
  ],
  [
    /^lfs\.(?:customtransfer\..+|standalonetransferagent|extension\..+)$/s,
    (value) => `git-lfs runs or obeys ${value} when it transfers files`,
  ],
  [/^protocol\.(?:.+\.)?allow$/s, (value) => `git may use this way to reach a remote: ${value}`],
  [/^core\.worktree$/, (value) => `the files of the checkout are in ${value}`],
];

/** As `git lfs install --local` writes them: git-lfs is always allowed. */
const LFS: ReadonlySet<string> = new Set(
  ["", " --skip"].flatMap((skip) => [
    "filter.lfs.clean\ngit-lfs clean -- %f",
    `filter.lfs.smudge\ngit-lfs smudge${skip} -- %f`,
    `filter.lfs.process\ngit-lfs filter-process${skip}`,
  ]),
);

async function askOf(key: string, value: string, folder: string): Promise<TrustAsk | undefined> {
  const words = OBEYED.find(([pattern]) => pattern.test(key))?.[1];
  if (words === undefined || value.trim() === "" || LFS.has(`${key}\n${value}`)) return undefined;
  if (key === "core.worktree" && (await isPairedWith(folder))) return undefined;
  return {
    ...{ is: "git", from: ".git/config", name: key, value },
    words: `${wordsToAgree(key)}: ${words(`"${wordsToAgree(value)}"`)}`,
  };
}

/**
 * Whether the work tree has a `.git` that leads back to this repository, as that of a submodule: both sides must
 * name each other.
 */
async function isPairedWith(folder: string): Promise<boolean> {
  const own = await git({ folder, args: ["rev-parse", "--path-format=absolute", "--git-common-dir"] });
  const top = await git({ folder, args: ["rev-parse", "--path-format=absolute", "--show-toplevel"] });
  if (!own.ok || !top.ok) return false;
  const folderOfTop = top.out.replace(/\n$/, "");
  const args = ["rev-parse", "--path-format=absolute", "--git-common-dir"];
  const around = await git({ folder: folderOfTop, args });
  if (!around.ok) return false;
  const [one, other] = [own.out, around.out].map((out) => path.resolve(out.replace(/\n$/, "")));
  const real = await Promise.all([one, other].map((place) => realpath(place!).catch(() => undefined)));
  return real[0] !== undefined && real[0] === real[1];
}
