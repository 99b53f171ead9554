/** Limits git-lfs to the user's own server, whatever a worker writes into `.lfsconfig`. */
import type { TrustAsk } from "../../ports/trust.ts";
import { wordsToAgree } from "../../text/asked-words.ts";
import { askGit } from "./ask-git.ts";
import { filtersIn, LFS } from "./filters.ts";
import { git } from "./git.ts";
import { type GitSetting, settingOf } from "./settings.ts";

/** Settings to read: the address of git-lfs, and how to log in there. */
export const LFS_SETTINGS =
  "lfs\\.(url|pushurl)|remote\\..*\\.lfsurl|core\\.sshcommand|(credential|http)\\..*";

type LfsSettings = {
  /** How to log in; may contain keys. */
  readonly access: readonly GitSetting[];
  readonly address: readonly GitSetting[];
  /** The address for agents, without keys in it. */
  readonly shown: readonly GitSetting[];
};

/**
 * Git's settings win over `.lfsconfig`, so they always contain an address, if need be one that cannot exist. Empty
 * if git-lfs is not installed.
 */
export async function lfsSettings(
  repository: string,
  settings: readonly GitSetting[],
  signal?: AbortSignal,
): Promise<LfsSettings> {
  if (!filtersIn(settings).includes(LFS)) return { access: [], address: [], shown: [] };
  const url = await addressOf(repository, settings, signal);
  const address: readonly GitSetting[] = [
    ["lfs.url", url],
    ["lfs.pushurl", settingOf(settings, "lfs.pushurl") ?? url],
  ];
  return {
    access: settings.filter(([key]) => /^(?:credential|http)\.|^core\.sshcommand$/.test(key)),
    address,
    shown: address.map(([key, value]) => [key, value.replace(/^(https?:\/\/)[^/@]*@/, "$1")]),
  };
}

/** Asks for trust in a committed `.lfsconfig`: it names an address, and the user's login for it goes there. */
export async function lfsAsks(repository: string): Promise<readonly TrustAsk[]> {
  const url = await askGit(repository, COMMITTED, true);
  if (!url) return [];
  const words = `lfs.url: git-lfs, if you have it, gets and sends files at ${wordsToAgree(url)}`;
  return [{ is: "git", from: ".lfsconfig", name: "lfs.url", value: url, words }];
}

const COMMITTED = ["config", "--blob", "HEAD:.lfsconfig", "--get", "lfs.url"];

async function addressOf(
  repository: string,
  settings: readonly GitSetting[],
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
    (await ask(...COMMITTED)) ??
    ofRemote ??
    serverOf((await ask("ls-remote", "--get-url")) ?? "") ??
    NO_SERVER
  );
}

/** The address as git-lfs derives it from a remote. A bare name is not an address: there is no such remote. */
function serverOf(remote: string): string | undefined {
  if (!/[/:]/.test(remote)) return undefined;
  if (!/^https?:/.test(remote)) return remote;
  const plain = remote.replace(/\/+$/, "");
  return `${plain.endsWith(".git") ? plain : `${plain}.git`}/info/lfs`;
}

/** A name that never resolves (RFC 2606). */
const NO_SERVER = "https://no-remote.invalid";
