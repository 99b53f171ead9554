/** Where may git-lfs reach, asked by us? To the user's own server, whatever a worker writes into `.lfsconfig`. */
import { filtersIn, LFS } from "./filters.ts";
import { git } from "./git.ts";
import { type Setting, settingOf } from "./settings.ts";

/** For `readSettings`: what the user says about it, and what it needs to be let in there. */
export const LFS_SETTINGS =
  "lfs\\.(url|pushurl)|remote\\..*\\.lfsurl|core\\.sshcommand|(credential|http)\\..*";

export type LfsSettings = {
  /** How it is let in there. Keys may be among it. */
  readonly access: readonly Setting[];
  readonly address: readonly Setting[];
  /** The same for agents, who must not read a key in it. */
  readonly shown: readonly Setting[];
};

/**
 * Git's settings count for more than `.lfsconfig`. So there is always an address in them, if need be one that cannot exist.
 * Nothing, where it is not installed.
 */
export async function lfsSettings(
  repository: string,
  settings: readonly Setting[],
  signal?: AbortSignal,
): Promise<LfsSettings> {
  if (!filtersIn(settings).includes(LFS)) return { access: [], address: [], shown: [] };
  const url = await addressOf(repository, settings, signal);
  const address: readonly Setting[] = [
    ["lfs.url", url],
    ["lfs.pushurl", settingOf(settings, "lfs.pushurl") ?? url],
  ];
  return {
    access: settings.filter(([key]) => /^(?:credential|http)\.|^core\.sshcommand$/.test(key)),
    address,
    shown: address.map(([key, value]) => [key, value.replace(/^(https?:\/\/)[^/@]*@/, "$1")]),
  };
}

async function addressOf(
  repository: string,
  settings: readonly Setting[],
  signal?: AbortSignal,
): Promise<string> {
  const ask = async (...args: readonly string[]) => {
    const answer = await git({ folder: repository, args }, signal);
    return (answer.ok && answer.out.trim()) || undefined;
  };
  const lfsUrls = settings.filter(([key]) => /^remote\..*\.lfsurl$/s.test(key));
  const [, ofRemote] = lfsUrls.find(([key]) => key === "remote.origin.lfsurl") ?? lfsUrls.at(-1) ?? [];
  return (
    settingOf(settings, "lfs.url") ??
    (await ask("config", "--blob", "HEAD:.lfsconfig", "--get", "lfs.url")) ??
    ofRemote ??
    serverOf((await ask("ls-remote", "--get-url")) ?? "") ??
    NOBODY
  );
}

/** As git-lfs makes it from a remote. A mere name, as of a remote that is not there, is none. */
function serverOf(remote: string): string | undefined {
  if (!/[/:]/.test(remote)) return undefined;
  if (!/^https?:/.test(remote)) return remote;
  const plain = remote.replace(/\/+$/, "");
  return `${plain.endsWith(".git") ? plain : `${plain}.git`}/info/lfs`;
}

/** A name that never leads anywhere (RFC 2606). */
const NOBODY = "https://no-remote.invalid";
