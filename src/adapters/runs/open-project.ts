/** Opens the repository around a folder, with its runs on this machine and what the user agreed to there. */
import { type Failed, failedWith, hasFailed } from "../../core/result.ts";
import type { Environment, Project } from "../../ports/project.ts";
import { type Agrees, agreesTo, askId, type TrustAsk, type TrustStore } from "../../ports/trust.ts";
import { locate } from "../repositories/locate.ts";
import { trustStore } from "../trust-store.ts";
import { FolderRuns } from "./folder-runs.ts";
import { movedRuns } from "./moved.ts";
import { stateFolderFor } from "./state-folder.ts";

/**
 * `untrusted`: settings in its own `.git/config` that the user has not agreed to, so nothing more was asked of git
 * there.
 */
type Unopened = Failed & { readonly untrusted?: readonly TrustAsk[] };

/** `also`: asks that are agreed to for this call alone. */
export async function openProject(
  folder: string,
  env: Environment,
  signal: AbortSignal,
  also?: Agrees,
): Promise<Project | Unopened> {
  const opened = await openUntrusted(folder, env, signal);
  if (hasFailed(opened)) return opened;
  const { project, store, gitAsks } = opened;
  const untrusted = gitAsks.length === 0 ? [] : await unagreed(gitAsks, store, also);
  if (hasFailed(untrusted)) return untrusted;
  if (untrusted.length === 0) return { ...project, agreed: gitAsks.map(askId) };
  const words = untrusted.map((ask) => ask.words).join("; ");
  const why = `the repository's own git settings ask for more than Skein does unasked: ${words}`;
  return { ...failedWith("repository", why, "see it and agree to it once: skein trust"), untrusted };
}

/**
 * For callers that show what a repository asks for. If `gitAsks` is not empty, git may be asked there only what
 * `locate` asks.
 */
export async function openUntrusted(
  folder: string,
  env: Environment,
  signal: AbortSignal,
): Promise<
  Failed | { readonly project: Project; readonly store: TrustStore; readonly gitAsks: readonly TrustAsk[] }
> {
  const found = await locate(folder, signal);
  if (hasFailed(found)) return found;
  const { gitAsks, ...located } = found;
  const state = stateFolderFor(located.gitDir, env, located.top);
  if (hasFailed(state)) return state;
  const { folder: stateFolder } = state;
  const runs = new FolderRuns({ folder: stateFolder });
  const moved = () => movedRuns(stateFolder, located.gitDir);
  return {
    project: { located, stateFolder, runs, movedRuns: moved },
    store: trustStore(stateFolder),
    gitAsks,
  };
}

async function unagreed(
  asks: readonly TrustAsk[],
  store: TrustStore,
  also: Agrees = () => false,
): Promise<readonly TrustAsk[] | Failed> {
  const left = asks.filter((ask) => !also(ask));
  if (left.length === 0) return left;
  const ids = await store.agreed();
  return hasFailed(ids) ? ids : left.filter((ask) => !agreesTo(ids)(ask));
}
