/** Talks to the remote of a fleet by git: fetches and pushes only named refs, and waits for an outage to end. */
import { setTimeout as wait } from "node:timers/promises";
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import { type GitAnswer, git, inGitDir } from "../git/git.ts";
import { isCommit } from "../repositories/names.ts";
import { isFullRef, wrongRemote } from "./names.ts";

type RemoteOptions = {
  readonly gitDir: string;
  /** An address, or the name of one of the repository's remotes. */
  readonly remote: string;
  /** How long to wait for the end of an outage. */
  readonly patienceMs?: number;
};

/**
 * `to`: a commit, or "" to delete. `expected`: where the ref must be, "" if it must not exist; without it the move
 * is forced.
 */
type RemoteMove = { readonly ref: string; readonly to: string; readonly expected?: string };

type Fetched = { readonly from: string; readonly to: string };

/** None of these methods throws. Refs are full names, and are checked. */
export class GitRemote {
  readonly #remote: string;
  readonly #gitDir: string;
  readonly #patienceMs: number;
  /** One call at a time: two fetches of one ref would disturb each other. */
  #last: Promise<unknown> = Promise.resolve();
  #url: Promise<string | Failed> | undefined;

  constructor({ gitDir, remote, patienceMs = PATIENCE_MS }: RemoteOptions) {
    this.#remote = remote;
    this.#gitDir = gitDir;
    this.#patienceMs = patienceMs;
  }

  /** The refs of these names, and those below a prefix that ends in "/". */
  async list(names: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, string> | Failed> {
    const wrong = names.find((name) => !isFullRef(name.replace(/\/$/, "")));
    if (wrong !== undefined) return wrongRef(wrong);
    const patterns = names.map((name) => (name.endsWith("/") ? `${name}*` : name));
    const listed = await this.#call(
      (url) => ["ls-remote", "--refs", "--quiet", "--", url, ...patterns],
      signal,
    );
    if (!listed.ok) return { failure: listed.failure };
    return new Map(
      listed.out
        .split("\n")
        .map((line) => line.split("\t"))
        .flatMap(([id = "", ref = ""]) => (isCommit(id) && isFullRef(ref) ? [[ref, id] as const] : [])),
    );
  }

  /** Fetches refs, and overwrites the local ones. `isStrict`: objects are checked, because other machines made them. */
  async fetch(
    refs: readonly Fetched[],
    { isStrict = false }: { readonly isStrict?: boolean } = {},
    signal?: AbortSignal,
  ): Promise<Failed | undefined> {
    const wrong = refs.flatMap(({ from, to }) => [from, to]).find((ref) => !isFullRef(ref));
    if (wrong !== undefined) return wrongRef(wrong);
    const specs = refs.map(({ from, to }) => `+${from}:${to}`);
    const answer = await this.#inTurn(() =>
      this.#call(
        (url) => ["-c", `fetch.fsckObjects=${isStrict}`, "fetch", ...QUIETLY, "--", url, ...specs],
        signal,
      ),
    );
    return answer.ok ? undefined : { failure: answer.failure };
  }

  /** Moves all refs or none. `moved`: a ref is not where it was expected to be. */
  async push(moves: readonly RemoteMove[], signal?: AbortSignal): Promise<"pushed" | "moved" | Failed> {
    const wrong = moves.find(({ ref, to }) => !isFullRef(ref) || !(to === "" || isCommit(to)));
    if (wrong) return wrongRef(wrong.ref);
    const leases = moves.map(
      ({ ref, expected }) => `--force-with-lease=${ref}${expected === undefined ? "" : `:${expected}`}`,
    );
    const isSure = moves.every(({ expected }) => expected !== undefined);
    const answer = await this.#call(
      (url) => [
        ...["push", "--quiet", "--porcelain", "--no-verify", "--no-signed", "--recurse-submodules=no"],
        ...(moves.length > 1 ? ["--atomic"] : []),
        ...(isSure ? leases : ["--force"]),
        ...["--", url, ...moves.map(({ ref, to }) => `${to}:${ref}`)],
      ],
      signal,
    );
    if (answer.ok) return "pushed";
    if (!isRejected(answer)) return { failure: answer.failure };
    if (FORBIDDEN.test(answer.out + answer.failure.message))
      return failedWith("repository", `the remote refuses a push: ${answer.failure.message}`, MAY_PUSH);
    // The answer to a successful push may have been lost, and the push been repeated.
    return (await this.#areThere(moves, signal)) ? "pushed" : "moved";
  }

  async #areThere(moves: readonly RemoteMove[], signal?: AbortSignal): Promise<boolean> {
    const found = await this.list(
      moves.map(({ ref }) => ref),
      signal,
    );
    return !hasFailed(found) && moves.every(({ ref, to }) => (found.get(ref) ?? "") === to);
  }

  /** The address where other machines find the remote. */
  url(): Promise<string | Failed> {
    this.#url ??= this.#findUrl();
    return this.#url;
  }

  async #findUrl(): Promise<string | Failed> {
    const isName = /^[\w.-]+$/.test(this.#remote);
    const args = ["remote", "get-url", "--", this.#remote];
    const named = isName ? await git({ ...inGitDir(this.#gitDir), args }) : undefined;
    const url = named ? (named.ok ? named.out.trim() : "") : this.#remote;
    if (url === "")
      return failedWith(
        "policy",
        `there is no git remote ${this.#remote}, through which machines of a fleet share commits`,
        "git remote add origin <address>, or set fleet.remote",
      );
    return wrongRemote(url) ?? url;
  }

  async #call(args: (url: string) => readonly string[], signal?: AbortSignal): Promise<GitAnswer> {
    const url = await this.url();
    if (typeof url !== "string") return { ok: false, code: undefined, out: "", ...url };
    const until = performance.now() + this.#patienceMs;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      const { folder, environment } = inGitDir(this.#gitDir);
      const call = { folder, args: args(url), maxMs: MAX_CALL_MS };
      const answer = await git({ ...call, environment: { ...environment, ...reachVariables() } }, signal);
      // Git also says "hung up" about a push that was rejected.
      const isOutage = !answer.ok && !isRejected(answer) && OUTAGE.test(answer.failure.message);
      if (!isOutage || signal?.aborted || performance.now() + waitMs > until) return answer;
      await wait(waitMs, undefined, { signal }).catch(() => {}); // The next call reports that it was stopped.
    }
  }

  #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(call, call);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

const wrongRef = (ref: string): Failed =>
  failedWith("repository", `not a ref of a fleet: ${JSON.stringify(ref.slice(0, 200))}`);

const QUIETLY = [
  ...["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"],
  ...["--no-auto-maintenance", "--no-show-forced-updates"],
];

/**
 * The variables by which this machine reaches remotes; other variables that begin with GIT_ would point git
 * elsewhere.
 */
function reachVariables(): Readonly<Record<string, string>> {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => REACH.test(entry[0]) && entry[1] !== undefined,
  );
  return { GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=10", ...Object.fromEntries(own) };
}

const REACH = /^GIT_(?:SSH(?:_COMMAND|_VARIANT)?|ASKPASS|SSL_\w+|CONFIG_(?:GLOBAL|COUNT|KEY_\d+|VALUE_\d+))$/;

const isRejected = ({ out, failure }: GitAnswer & { readonly ok: false }): boolean =>
  REJECTED.test(out + failure.message);

const REJECTED =
  /\[(?:remote )?rejected\]|stale info|non-fast-forward|fetch first|cannot lock ref|already exists/;
/** Refused by a rule of the server, whatever the ref leads to. */
const FORBIDDEN = /hook declined|deny|denied|protected|read-only/i;
const MAY_PUSH = "let this machine push there, or hand work back through Postgres (fleet.push: false)";
const OUTAGE =
  /unable to (?:access|connect)|Could not (?:resolve|read from remote)|Connection (?:refused|reset|closed|timed out)|does not appear to be a git repository|hung up|early EOF|RPC failed|Network is unreachable|HTTP (?:429|5\d\d)|error: 5\d\d|did not end within/i;

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 10_000;
const PATIENCE_MS = 5 * 60_000;
const MAX_CALL_MS = 10 * 60_000;
