/** Removes what the jobs of a run left on the remote of its fleet, and lists what stays there. */
import { type Failed, hasFailed } from "../../core/result.ts";
import type { RemoteRefs } from "../../ports/project.ts";
import { proofsOf } from "../repositories/names.ts";
import { fleetRefs } from "./names.ts";
import type { GitRemote } from "./remote.ts";

/** `names`: the names of this fleet's runs. Runs of another fleet on the same remote are not among them. */
export const remoteRefsOf = (remote: GitRemote, names: () => Promise<readonly string[]>): RemoteRefs => ({
  tidy: async ({ run, branches }, signal) => {
    const failed = await removeRefsOf(remote, run, signal);
    const runs = await names();
    const there = await remote.list([ALL, `refs/heads/${branches}`, proofsOf(run)], signal);
    if (hasFailed(there)) return there;
    const refs = [...there.keys()];
    return {
      ofRun: refs.filter((ref) => !ref.startsWith(ALL) || `${ref}/`.startsWith(fleetRefs(run))),
      ofNone: refs.filter((ref) => ref.startsWith(ALL) && ![run, ...runs].includes(ref.split("/")[3]!)),
      ...(failed && { untidied: failed.failure }),
    };
  },
});

const ALL = "refs/skein/fleet/";

/** Removes a run's refs. If a worker pushes meanwhile, the refs are listed again, a few times. */
export async function removeRefsOf(
  remote: GitRemote,
  run: string,
  signal: AbortSignal,
): Promise<Failed | undefined> {
  for (let round = 0; ; round += 1) {
    const there = await remote.list(namesOf(run), signal);
    if (hasFailed(there)) return there;
    const failed = await removeAll(remote, there, signal);
    if (failed !== "moved") return failed;
    if (round === MAX_ROUNDS) return undefined; // The rest is listed when the run is removed.
  }
}

/** Removes refs if they are where they were seen; `moved`: one of them is somewhere else by now. */
export async function removeAll(
  remote: GitRemote,
  there: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<Failed | "moved" | undefined> {
  const refs = [...there].map(([ref, expected]) => ({ ref, to: "", expected }));
  let isMoved = false;
  for (let i = 0; i < refs.length; i += MAX_REFS_A_PUSH) {
    const pushed = await remote.push(refs.slice(i, i + MAX_REFS_A_PUSH), signal);
    if (typeof pushed === "object") return pushed;
    if (pushed === "moved") isMoved = true;
  }
  return isMoved ? "moved" : undefined;
}

/** The run's refs, and a ref with the name of their folder, which would keep git from making any of them. */
const namesOf = (run: string) => [fleetRefs(run), fleetRefs(run).slice(0, -1)];

const MAX_ROUNDS = 3;
/** A command line holds only a few thousand. */
const MAX_REFS_A_PUSH = 500;
